package data

import "github.com/starling-smc/starling/internal/arrays"

// Numbers that are widened and standardised when somebody looks at them: those of F16 and of Stored.

// rowOf is the row of Stored that example i is.
func (s *Set) rowOf(i int) int {
	if s.At == nil {
		return i
	}
	return int(s.At[i])
}

// Soon says that some examples will be looked at next, which may have to be read from a file.
func (s *Set) Soon(examples []int) {
	if s.Stored != nil {
		s.Stored.Soon(s.Features(), len(examples), func(i int) int { return s.rowOf(examples[i]) })
	}
}

// light sets dst to example i's inputs of F16 or Stored, standardised and not yet rounded to float32. read reads a row of Stored.
func (s *Set) light(i int, dst []float64, read func(of *Stored, i int, dst []float64)) {
	if s.Stored != nil {
		read(s.Stored, s.rowOf(i), dst)
	} else {
		for j, h := range s.F16[i*len(dst) : (i+1)*len(dst)] {
			dst[j] = float64(h.Float32())
		}
	}
	if s.Inputs != nil {
		s.Inputs.row(dst)
	}
}

// lightly returns light for whoever goes through the examples in order.
func (s *Set) lightly() func(i int, dst []float64) {
	if s.Stored == nil {
		return func(i int, dst []float64) { s.light(i, dst, nil) }
	}
	next := arrays.Pass[float64](s.Stored, s.Features())
	return func(i int, dst []float64) {
		s.light(i, dst, func(_ *Stored, row int, dst []float64) { next(row, dst) })
	}
}

// pass returns, for whoever goes through the examples in order, example i's inputs as a network sees them, before Channels are standardised:
// bytes as shares of 255. The next call may overwrite them.
func (s *Set) pass() func(i int) []float32 {
	p := s.Features()
	if s.F32 != nil {
		return func(i int) []float32 { return s.F32[i*p : (i+1)*p] }
	}
	row := make([]float32, p)
	if s.U8 != nil {
		return func(i int) []float32 {
			for j, v := range s.U8[i*p : (i+1)*p] {
				row[j] = float32(v) / 255
			}
			return row
		}
	}
	x, next := make([]float64, p), s.lightly()
	return func(i int) []float32 {
		next(i, x)
		for j, v := range x {
			row[j] = float32(v)
		}
		return row
	}
}

// Unchanged returns an error that names a file in which inputs are stored, if it was written to since it was opened: what was computed of it
// is worth nothing.
func (p *Problem) Unchanged() error {
	for _, part := range p.Parts() {
		if of := part.Set.Stored; of != nil {
			if err := of.Unchanged(); err != nil {
				return err
			}
		}
	}
	return nil
}

// reader returns input for whoever goes through the rows of an array, of width values each, in order.
func reader(a *Array, width int) func(i int, dst []float64) {
	if a.Stored != nil {
		return arrays.Pass[float64](a.Stored, width)
	}
	return func(i int, dst []float64) { input(a, i, dst) }
}
