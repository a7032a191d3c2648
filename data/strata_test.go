package data

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/formats"
	"github.com/starling-smc/starling/internal/testkit"
)

// drawStrata draws rows of some classes, among them classes of a single row.
func drawStrata(r *rand.Rand) (t *Table, s strata) {
	t = &Table{Cols: 1}
	for c := range 1 + r.IntN(8) {
		n := 1
		if r.IntN(3) > 0 {
			n += r.IntN(40)
		}
		for range n {
			t.Values = append(t.Values, float64(c))
		}
	}
	r.Shuffle(len(t.Values), func(i, j int) { t.Values[i], t.Values[j] = t.Values[j], t.Values[i] })
	return t, byClass(t, 0)
}

// TestStratifiedSplit: by its definition, for random numbers of rows of random classes and any settings of the parts. Parts have the
// sizes as without classes, are disjoint and use the same number of rows. A part's number of rows of a class is less than one away
// from its share, so the rows of a class are shared out, too.
func TestStratifiedSplit(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	tried := 0
	for trial := range 3000 {
		table, s := drawStrata(r)
		n := table.Rows()
		var p *Parts
		switch trial % 4 {
		case 1:
			p = &Parts{Test: 0.05 + 0.4*r.Float64(), Validate: 0.05 + 0.4*r.Float64()}
		case 2:
			p = &Parts{Train: 0.2 + 0.3*r.Float64(), Test: 0.1 + 0.2*r.Float64(), Validate: 0.1 + 0.2*r.Float64()}
		case 3:
			p = &Parts{Train: 0.5}
		}
		seed, lackTest, lackValidate := uint64(trial), r.IntN(4) > 0, r.IntN(4) > 0
		plain, plainHeld, plainErr := p.divide(n, seed, anyRows, lackTest, lackValidate)
		kept, held, err := p.divide(n, seed, s, lackTest, lackValidate)
		if fmt.Sprint(err) != fmt.Sprint(plainErr) {
			t.Fatalf("%v, without classes %v", err, plainErr)
		}
		if err != nil {
			continue
		}
		tried++
		if again, heldAgain, _ := p.divide(n, seed, s, lackTest, lackValidate); !reflect.DeepEqual(kept, again) || !reflect.DeepEqual(held, heldAgain) {
			t.Fatal("the same seed gives another division")
		}
		parts, sizes := append([][]int32{kept}, held...), append([][]int32{plain}, plainHeld...)
		seen := make([]bool, n)
		for k, part := range parts {
			if len(part) != len(sizes[k]) || !slices.IsSorted(part) {
				t.Fatalf("part %d has %d rows, without classes %d", k, len(part), len(sizes[k]))
			}
			of := map[float64]int{}
			for _, i := range part {
				if seen[i] {
					t.Fatalf("row %d is in two parts", i)
				}
				seen[i] = true
				of[table.Values[i]]++
			}
			for c, rows := range s {
				share := float64(len(part)*len(rows)) / float64(n)
				if have := float64(of[float64(c)]); !(have > share-1 && have < share+1) {
					t.Fatalf("part %d of %d rows has %v of the %d rows of class %d among %d: the share is %.3f", k, len(part), have, len(rows), c, n, share)
				}
			}
		}
	}
	if tried < 2000 {
		t.Errorf("%d divisions tried", tried)
	}
}

// TestStratifiedDraw: another seed draws other rows of a class for a part, each about as often.
func TestStratifiedDraw(t *testing.T) {
	table := &Table{Cols: 1}
	for i := range 60 {
		table.Values = append(table.Values, float64(min(1, i%3))) // 20 of class 0, 40 of class 1
	}
	const runs = 3000
	var count [60]int
	for seed := range uint64(runs) {
		_, held, err := splitByTenths(table, seed)
		if err != nil || len(held[0]) != 6 {
			t.Fatal(held, err)
		}
		for _, i := range held[0] {
			count[i]++
		}
	}
	// Each row is in the test in a tenth of the runs: 300, with an sd of 16.4. 60 rows are all within 5.6 sd but for a chance of 1e-6;
	// a row that is drawn in 13 % of the runs would show.
	for i, n := range count {
		if !(n > 300-92 && n < 300+92) {
			t.Errorf("row %d is in the test part of %d of %d runs", i, n, runs)
		}
	}
}

func splitByTenths(t *Table, seed uint64) (kept []int32, held [][]int32, err error) {
	return (*Parts)(nil).divide(t.Rows(), seed, byClass(t, 0), true, true)
}

// flowers is a table of three classes, of which one is rare.
func flowers(n int) string {
	var b strings.Builder
	b.WriteString("length,width,kind\n")
	for i := range n {
		kind := []string{"iris", "rose"}[i%2]
		if i%15 == 7 {
			kind = "tulip"
		}
		fmt.Fprintf(&b, "%d,%d,%s\n", i*i%97, i*7%31, kind)
	}
	return b.String()
}

func classCounts(s *Set) []int {
	of := make([]int, s.Classes)
	for _, y := range s.Labels {
		of[y]++
	}
	return of
}

// TestLoadStratified: a CSV with classes is divided by class, also beside test rows that a file lists; data.seed draws the division,
// whatever the run's seed is.
func TestLoadStratified(t *testing.T) {
	dir := t.TempDir()
	file := put(t, dir, "flowers.csv", flowers(150))
	s := Settings{CSV: &CSV{File: file, Target: "kind"}}
	for seed := range uint64(20) {
		p := loaded(t, s, Need{Seed: seed})
		if got := fmt.Sprint(classCounts(p.Test), classCounts(p.Validate)); got != "[7 7 1] [7 7 1]" {
			t.Errorf("seed %d: %s of each class", seed, got)
		}
	}
	s.Split = &Parts{TestRows: put(t, dir, "rows.txt", "7\n22\n37\n52\n67\n")} // five of the ten tulips
	for seed := range uint64(20) {
		p := loaded(t, s, Need{Seed: seed})
		if got := fmt.Sprint(classCounts(p.Test), classCounts(p.Validate)); got != "[0 0 5] [7 7 0]" && got != "[0 0 5] [7 6 1]" && got != "[0 0 5] [6 7 1]" {
			t.Errorf("seed %d, beside test rows: %s of each class", seed, got)
		}
	}
	s.Split = nil
	first, other := loaded(t, s, Need{Seed: 1}), loaded(t, s, Need{Seed: 2})
	if first.Checksums()["test"] == other.Checksums()["test"] {
		t.Error("the seed plays no part")
	}
	one := uint64(1)
	s.Seed = &one
	if same := loaded(t, s, Need{Seed: 2}); !reflect.DeepEqual(same.Checksums(), first.Checksums()) {
		t.Error("data.seed: 1 does not divide as seed: 1 does")
	}
}

// TestCSVParts: files of their own are the test and validation parts, and the other parts are held out as ever. Their columns are
// found by name. A class that only they have is known, and said to have no training examples.
func TestCSVParts(t *testing.T) {
	dir := t.TempDir()
	file := put(t, dir, "train.csv", flowers(150))
	test := put(t, dir, "test.csv", "kind,width,length\nrose,1,5\ndahlia,2,3\n")
	validate := put(t, dir, "validate.csv.gz", string(testkit.Gzipped(t, []byte("length,width,kind\n4,4,iris\n1,3,rose\n2,2,rose\n"))))
	of := func(o CSV) *Problem {
		o.File, o.Target = file, "kind"
		return loaded(t, Settings{CSV: &o}, Need{Seed: 1})
	}
	p := of(CSV{Test: test, Validate: validate})
	if p.Train.Len() != 150 || p.Test.Len() != 2 || p.Validate.Len() != 3 || !slices.Equal(p.Schema.Names, []string{"dahlia", "iris", "rose", "tulip"}) {
		t.Errorf("%d, %d, %d rows; classes %q", p.Train.Len(), p.Validate.Len(), p.Test.Len(), p.Schema.Names)
	}
	if !slices.Equal(p.Test.Labels, []int32{2, 0}) || !slices.Equal(p.Validate.Labels, []int32{1, 2, 2}) || p.Train.Labels[0] != 1 {
		t.Errorf("labels %v, %v", p.Test.Labels, p.Validate.Labels)
	}
	x := []float64{5, 1}
	p.Schema.Inputs.row(x)
	if p.Test.F32[0] != float32(x[0]) || p.Test.F32[1] != float32(x[1]) {
		t.Errorf("inputs %v, want %v: standardised as the training rows", p.Test.F32[:2], x)
	}
	if found := p.Findings(); len(found) != 1 || !strings.HasPrefix(found[0].Words(), "no training example has class dahlia, which 1 ") {
		t.Errorf("%+v", found)
	}
	if p := of(CSV{Test: test}); p.Train.Len() != 135 || p.Validate.Len() != 15 || p.Test.Len() != 2 {
		t.Errorf("%d, %d, %d rows", p.Train.Len(), p.Validate.Len(), p.Test.Len())
	}
	numbers := Settings{CSV: &CSV{File: put(t, dir, "a.csv", "x,y\n1,0\n2,1\n3,0\n4,1\n7,1\n"), Target: "y", Test: put(t, dir, "b.csv", "x,y\n1,1\n2,10\n")}}
	if p := loaded(t, numbers, Need{}); !slices.Equal(p.Schema.Names, []string{"0", "1", "10"}) || !slices.Equal(p.Test.Labels, []int32{1, 2}) {
		t.Errorf("classes %q, labels %v", p.Schema.Names, p.Test.Labels)
	}
	numbers.CSV.Test = put(t, dir, "c.csv", "x,y\n1,1\n2,2\n")
	if p := loaded(t, numbers, Need{}); p.Schema.Names != nil || p.Schema.Classes != 3 || p.Test.Classes != 3 {
		t.Errorf("classes %q, %d", p.Schema.Names, p.Schema.Classes)
	}
	for text, want := range map[string]string{
		"x,y\n1,1\n2,1.5\n": "d.csv: line 3, column 2 (y): 1.5 is not a class",
		"x,y\n1,1\n2,\n":    "d.csv: line 3, column 2 (y): the value is missing",
		"x,z\n1,1\n":        `d.csv: lacks the target, column "y" of the run`,
		"x\n1\n":            `d.csv: lacks the target, column "y" of the run`,
		"x,y\n1,a\n2,1\n":   "",
		"x,y\n":             "d.csv: the table has no rows: add rows, or name another file",
	} {
		numbers.CSV.Test, numbers.CSV.Validate = put(t, dir, "d.csv", text), ""
		if _, err := numbers.Load("", Need{}); want != "" && (err == nil || !strings.Contains(err.Error(), want)) || want == "" && err != nil {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
		numbers.CSV.Test, numbers.CSV.Validate = "", numbers.CSV.Test
		if _, err := numbers.Load("", Need{}); want != "" && (err == nil || !strings.Contains(err.Error(), want)) || want == "" && err != nil {
			t.Errorf("%q to validate: %v, want %q", text, err, want)
		}
	}
}

// TestPackedTables: a table that gzip packed, or a Parquet file, makes sets of the same bytes as the CSV.
func TestPackedTables(t *testing.T) {
	const folder = "../internal/tables/testdata/parquet/"
	plain, err := os.ReadFile(folder + "table.csv")
	if err != nil {
		t.Fatal(err)
	}
	drop := []string{"i32", "f32", "f64", "none"} // with missing values
	want := map[string]string{}
	for k, file := range []string{folder + "table.csv", put(t, t.TempDir(), "table.csv.gz", string(testkit.Gzipped(t, plain))), folder + "snappy_v2.parquet"} {
		p := loaded(t, Settings{CSV: &CSV{File: file, Target: "u8", Drop: append(drop, "word")}}, Need{Regression: true, Seed: 1})
		if sums := p.Checksums(); k == 0 {
			want = sums
		} else if len(sums) != 3 || !reflect.DeepEqual(sums, want) {
			t.Errorf("%s: %v, want %v", file, sums, want)
		}
	}
}

// TestGzipDamaged: a packed table that was cut off, is followed by something else, or would unpack to far more than a table takes,
// is refused, whole and in blocks.
func TestGzipDamaged(t *testing.T) {
	whole := testkit.Gzipped(t, []byte(flowers(2000)))
	two := slices.Concat(whole, testkit.Gzipped(t, []byte("1,2,iris\n")))
	bomb := testkit.Gzipped(t, bytes.Repeat([]byte("1,2\n"), 3<<20))
	for name, c := range map[string]struct {
		raw  []byte
		want string
	}{
		"cut":                  {whole[:len(whole)-3], "after unpacking: the file ends early"},
		"cut in the middle":    {whole[:len(whole)/2], "after unpacking: the file ends early"},
		"cut in the header":    {whole[:5], "byte 0: damaged gzip header: the file ends early"},
		"followed by garbage":  {append(slices.Clone(whole), "garbage that follows"...), "what follows the packed data is not gzip"},
		"followed by 4 bytes":  {append(slices.Clone(whole), "\x00\x00\x00\x00"...), "what follows the packed data is not gzip"},
		"a wrong sum":          {append(slices.Clone(whole[:len(whole)-8]), make([]byte, 8)...), "after unpacking: gzip: invalid checksum"},
		"two parts":            {two, ""},
		"far more than a file": {bomb, "more than 8,388,608 bytes of text in a packed file of"},
	} {
		path := filepath.Join(t.TempDir(), "flowers.csv.gz")
		if err := os.WriteFile(path, c.raw, 0o666); err != nil {
			t.Fatal(err)
		}
		o := CSV{Target: "kind"}
		if name == "far more than a file" {
			o = CSV{}
		}
		_, read := ReadCSV(path, o)
		scanned := formats.ScanCSV(path, o, 100, func(*Table) error { return nil })
		for way, err := range map[string]error{"whole": read, "in blocks": scanned} {
			switch {
			case c.want == "" || name == "far more than a file" && way == "in blocks": // blocks take no more memory for more text
				if err != nil {
					t.Errorf("%s, %s: %v", name, way, err)
				}
			case err == nil || !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), c.want):
				t.Errorf("%s, %s: %v, want %q", name, way, err, c.want)
			}
		}
	}
	table, err := DecodeCSV("f", two, CSV{Target: "kind"})
	if err != nil || table.Rows() != 2001 {
		t.Errorf("members of gzip follow one another: %v", err)
	}
}

// TestAllotLooksFromTheStart: the class to go on with is the first one that will do, by a search of all classes, also after many steps;
// and 60,000 classes take no longer than their rows (a search of all of them took 14 s).
func TestAllotLooksFromTheStart(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		shares := make([][]int, 2+r.IntN(20))
		for c := range shares {
			shares[c] = []int{1 + r.IntN(2)}
		}
		rounding := newRounding(shares, 3)
		for range 3 * len(shares) {
			from := r.IntN(len(shares))
			want := slices.IndexFunc(shares[from:], func(v []int) bool { return v[0]%3 != 0 })
			if want < 0 {
				continue
			}
			got := rounding.first(from, 0)
			if got != from+want {
				t.Fatalf("from %d of %v on: %d", from, shares, got)
			}
			shares[r.IntN(len(shares))][0] = 3
		}
	}
	const classes = 60_000
	table := &Table{Cols: 1}
	for i := range 2 * classes {
		table.Values = append(table.Values, float64(i/2))
	}
	counts := byClass(table, 0).allot(2*classes, []int{classes / 2, classes / 2, classes})
	parts := [3]int{}
	for _, count := range counts {
		for part, k := range count {
			parts[part] += k
		}
	}
	if parts != [3]int{classes / 2, classes / 2, classes} {
		t.Errorf("parts of %v", parts)
	}
}
