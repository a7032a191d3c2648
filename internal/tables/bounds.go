package tables

// bounds bound what is looked at of a table, and tell how far it is.
type bounds struct {
	wanted int // rows; 0: all
	watch  func(rows int, share float64)

	rows         int  // of the present pass
	pass, passes int  // passes over the text so far, and in all
	partly       bool // there are more rows than the most
}

// First makes Scan look at the first rows alone, at least as many as asked for where blank lines are rows. 0: at all.
func (f *File) First(rows int) { f.wanted = rows }

// Partly reports whether there are rows that Scan has not looked at.
func (f *File) Partly() bool { return f.partly }

// Watch makes Scan tell now and then how many rows it has looked at, and about which share of the work is done.
func (f *File) Watch(watch func(rows int, share float64)) { f.watch = watch }

// AllRows is the number of rows that a Parquet file says it has; of another file it is not known, 0.
func (f *File) AllRows() int {
	if f.p == nil {
		return 0
	}
	return int(f.p.Rows)
}

// begin begins a pass.
func (f *File) begin() { f.rows, f.partly = 0, false }

// enough reports whether no more rows are wanted.
func (f *File) enough() bool { return f.wanted > 0 && f.rows >= f.wanted }

// looked counts a row.
func (f *File) looked() {
	const often = 4096 // rows
	if f.rows++; f.watch == nil || f.rows%often != 0 {
		return
	}
	done, all := float64(f.read), float64(f.size)
	switch {
	case f.wanted > 0:
		done, all = float64(f.rows), float64(f.wanted)
	case f.p != nil:
		done, all = float64(f.rows), float64(f.p.Rows)
	}
	f.watch(f.rows, (float64(f.pass)+min(1, done/max(1, all)))/float64(max(1, f.passes)))
}
