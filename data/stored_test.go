package data

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/arrays"
	"github.com/starling-smc/starling/internal/regular"
	"github.com/starling-smc/starling/internal/testkit"
)

// features are n rows of p numbers as a file of 16 or of 32 bits: also zeros of both signs, and a feature that is constant.
func features(n, p, bits int) []byte {
	r := rand.New(rand.NewPCG(uint64(n), uint64(bits)))
	values := arrays.NPYBegin(fmt.Sprintf("<f%d", bits/8), []int{n, p})
	for i := range n * p {
		switch {
		case bits == 16 && i%p == 1:
			values = binary.LittleEndian.AppendUint16(values, 0x3c00)
		case bits == 16:
			h := uint16(r.Uint32())
			if h&0x4000 != 0 {
				h &= 0xc3ff // of a magnitude below 4
			}
			values = binary.LittleEndian.AppendUint16(values, h)
		case i%p == 1:
			values = binary.LittleEndian.AppendUint32(values, math.Float32bits(.1))
		case i%31 == 0:
			values = binary.LittleEndian.AppendUint32(values, 1<<31)
		default:
			values = binary.LittleEndian.AppendUint32(values, math.Float32bits(float32(r.NormFloat64())*float32(1+i%p)))
		}
	}
	return values
}

// classes are n labels of three classes.
func classes(n int) []byte {
	labels := append(arrays.NPYBegin("|u1", []int{n}), make([]byte, n)...)
	for i := range n {
		labels[len(labels)-n+i] = byte(i * i % 3)
	}
	return labels
}

// both loads a problem whose inputs stay in their file, and the same from a file that must be read, since it is compressed.
func both(t *testing.T, bits int, change func(s *Settings)) (stored, read *Problem) {
	t.Helper()
	problems := [2]*Problem{}
	for i, name := range []string{"x.npy", "x.npy.gz"} {
		x, other := features(301, 37, bits), features(40, 37, bits)
		if i == 1 {
			x, other = testkit.Gzipped(t, x), testkit.Gzipped(t, other)
		}
		s := Settings{
			Train:  &Arrays{testkit.WriteFile(t, name, x), testkit.WriteFile(t, "y.npy", classes(301))},
			Groups: []GroupFile{{"other", testkit.WriteFile(t, "other"+name, other)}},
		}
		if change != nil {
			change(&s)
		}
		var err error
		if problems[i], err = s.Load("", Need{Seed: 3}); err != nil {
			t.Fatal(err)
		}
	}
	if stays := problems[0].Train.Stored != nil; stays != regular.Maps || problems[1].Train.Stored != nil {
		t.Fatalf("inputs stay in their file: %v", stays)
	}
	return problems[0], problems[1]
}

// TestStoredIsAsRead: parts, schema, statistics, checksums, repeated examples, what lies outside and each number as a network sees it are the
// same bits, whether inputs stay in their file or are read into memory, as numbers of 16 bits or of 32; and no part is a copy.
func TestStoredIsAsRead(t *testing.T) {
	for _, bits := range []int{16, 32} {
		for _, standardise := range []string{"none", "inputs"} {
			stored, read := both(t, bits, func(s *Settings) { s.Standardise = standardise })
			name := fmt.Sprintf("float%d, standardise: %s", bits, standardise)
			if a, b := stored.Checksums(), read.Checksums(); !reflect.DeepEqual(a, b) {
				t.Errorf("%s: checksums %v, read %v", name, a, b)
			}
			a, err := json.Marshal(stored.Schema)
			b, failed := json.Marshal(read.Schema)
			if err != nil || failed != nil || string(a) != string(b) {
				t.Errorf("%s: schema %s (%v), read %s (%v)", name, a, err, b, failed)
			}
			if a, b := fmt.Sprint(stored.Findings()), fmt.Sprint(read.Findings()); strings.ReplaceAll(a, ".gz", "") != strings.ReplaceAll(b, ".gz", "") {
				t.Errorf("%s: findings %s, read %s", name, a, b)
			}
			if a, b := stored.LargeScale(), read.LargeScale(); a != b {
				t.Errorf("%s: scale %q, read %q", name, a, b)
			}
			if n, again := stored.Train.Among(read.Train); n != stored.Train.Len() || again > 0 {
				t.Errorf("%s: %d of %d examples are those that were read, %d of which repeat", name, n, stored.Train.Len(), again)
			}
			for k, part := range stored.Parts() {
				s, of := part.Set, read.Parts()[k].Set
				if err := s.Check(); err != nil {
					t.Fatal(err)
				}
				if s.U8 != nil || s.F32 != nil || s.F16 != nil || s.At == nil && part.Name != "other" {
					t.Errorf("%s: the %s examples are copied", name, part.Name)
				}
				if !slices.Equal(s.Labels, of.Labels) || !slices.Equal(s.Rows, of.Rows) {
					t.Errorf("%s: other labels or rows of the %s examples", name, part.Name)
				}
				x, y := make([]float64, 37), make([]float64, 37)
				for i := range s.Len() {
					s.Row(i, x)
					of.Row(i, y)
					for j := range x {
						if math.Float64bits(x[j]) != math.Float64bits(y[j]) {
							t.Fatalf("%s: %s: example %d, feature %d is %v, read %v", name, part.Name, i, j, x[j], y[j])
						}
					}
				}
				some := []int32{5, 3, 3, 0}
				if a, b := s.Slice("", 2, 20).Select("", some), of.Slice("", 2, 20).Select("", some); a.Checksum() != b.Checksum() || !slices.Equal(a.Rows, b.Rows) {
					t.Errorf("%s: %s: other rows of a part", name, part.Name)
				}
			}
		}
	}
}

// TestLazyAsBefore: inputs that are standardised when they are loaded have the bits of a float32 copy that was standardised before.
func TestLazyAsBefore(t *testing.T) {
	for _, bits := range []int{16, 32} {
		stored, _ := both(t, bits, func(s *Settings) { s.Standardise = "inputs" })
		plain, _ := both(t, bits, nil)
		copied := *plain.Train
		copied.Stored, copied.At = nil, nil
		next := plain.Train.pass()
		for i := range plain.Train.Len() {
			copied.F32 = append(copied.F32, next(i)...)
		}
		want, err := stored.Schema.Inputs.Apply(&copied)
		if err != nil {
			t.Fatal(err)
		}
		if want.Inputs != nil || want.Checksum() != stored.Train.Checksum() {
			t.Errorf("float%d: other numbers than those of a copy", bits)
		}
	}
}

// TestStoredImages: images of floats that stay in their file have channels, and are padded, as those in memory.
func TestStoredImages(t *testing.T) {
	raw := arrays.NPYBegin("<f4", []int{50, 2, 3, 4})
	r := rand.New(rand.NewPCG(8, 8))
	for range 50 * 24 {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(r.NormFloat64())))
	}
	labels := testkit.WriteFile(t, "y.npy", classes(50))
	var sums, padded []string
	for name, raw := range map[string][]byte{"x.npy": raw, "x.npy.gz": testkit.Gzipped(t, raw)} {
		p, err := Settings{Train: &Arrays{testkit.WriteFile(t, name, raw), labels}, Standardise: "channels"}.Load("", Need{})
		if err != nil {
			t.Fatal(err)
		}
		wide, err := Padding{5, 6, 2}.Pad(p.Validate)
		if err != nil {
			t.Fatal(err)
		}
		sums, padded = append(sums, p.Train.Checksum()), append(padded, wide.Checksum())
	}
	if sums[0] != sums[1] || padded[0] != padded[1] {
		t.Errorf("checksums %v, padded %v", sums, padded)
	}
}

// TestStoredRefuses: what is wrong with a file is said before anything is computed: fewer labels than rows, a number that is not finite, a result
// that is beyond float32.
func TestStoredRefuses(t *testing.T) {
	good, nan := features(30, 37, 32), features(30, 37, 32)
	binary.LittleEndian.PutUint32(nan[len(nan)-4*37*10+4*5:], 0x7fc00000)
	y := testkit.WriteFile(t, "y.npy", classes(30))
	for want, c := range map[string]struct {
		x      []byte
		y      string
		change func(s *Settings)
	}{
		"few.npy: labels of shape [29] for 30 examples of ": {x: good, y: testkit.WriteFile(t, "few.npy", classes(29))},
		"x.npy: example 20, feature 5 is NaN":               {x: nan, y: y},
		"x.npy: example 20, feature 5 is NaN as":            {x: nan, y: y, change: func(s *Settings) { s.Standardise = "inputs" }},
		"x.npy: the array has no rows: its shape is [0 37]": {x: features(0, 37, 32), y: y},
	} {
		s := Settings{Train: &Arrays{testkit.WriteFile(t, "x.npy", c.x), c.y}}
		if c.change != nil {
			c.change(&s)
		}
		if _, err := s.Load("", Need{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	s := Schema{Shape: []int{37}, Classes: 3, Inputs: &Standard{Mean: make([]float64, 37), SD: slices.Repeat([]float64{1}, 37), To: 1}}
	s.Inputs.SD[4] = 1e-39
	x, err := StoreArray(testkit.WriteFile(t, "x.npy", good))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Examples("other", x); err == nil || !strings.Contains(err.Error(), "example 0, feature 4 is ") {
		t.Errorf("a result beyond float32: %v", err)
	}
}

// TestStoredSetCheck: a set whose parts do not fit each other is refused.
func TestStoredSetCheck(t *testing.T) {
	p, _ := both(t, 32, nil)
	if p.Train.Stored == nil {
		return
	}
	for want, change := range map[string]func(s *Set){
		"exactly one of U8, F32, F16 and Stored":  func(s *Set) { s.F16 = make([]Float16, 37) },
		"At must be rows of Stored, of which the": func(s *Set) { s.At = slices.Clone(s.At); s.At[7] = 301 },
		"Inputs must be 37 means and deviations":  func(s *Set) { s.Inputs = &Standard{Mean: make([]float64, 36), SD: make([]float64, 36), To: 1} },
	} {
		s := *p.Train
		change(&s)
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestStoredTakesNoMemory: inputs that stay in their file count nothing before they are loaded, nor after; those that must be read do.
func TestStoredTakesNoMemory(t *testing.T) {
	testkit.NoThreads(t)
	const n, p = 1 << 12, 1024 // whose numbers have one range: the sample of each is memory, too
	y := testkit.WriteFile(t, "y.npy", classes(n))
	raw := features(n, p, 32)
	packed := testkit.WriteFile(t, "x.npy.gz", testkit.Gzipped(t, raw))
	for _, standardise := range []string{"none", "inputs"} {
		s := Settings{Train: &Arrays{testkit.WriteFile(t, "x.npy", raw), y}, Standardise: standardise}
		read := s
		read.Train = &Arrays{packed, y}
		if !regular.Maps {
			continue
		}
		if a, b := s.LoadBytes(""), read.LoadBytes(""); a > 24*n || b < 8*n*p {
			t.Errorf("standardise: %s: an estimate of %d bytes, read %d", standardise, a, b)
		}
		fits := false
		for try := 0; try < 4 && !fits; try++ {
			var err error
			got := peak(func() { _, err = s.Load("", Need{}) })
			t.Logf("standardise: %s: %d bytes at most, of a file of %d; %v", standardise, got, len(raw), err)
			fits = err == nil && got < uint64(len(raw)/4)
		}
		if !fits {
			t.Errorf("standardise: %s: loading takes memory in proportion to the file", standardise)
		}
	}
}

// TestProblemUnchanged: a file that becomes shorter, or is written to, is named.
func TestProblemUnchanged(t *testing.T) {
	p, read := both(t, 32, nil)
	if p.Train.Stored == nil {
		return
	}
	if err := errors.Join(p.Unchanged(), read.Unchanged()); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(p.Groups[0].Set.Source, 100); err != nil {
		t.Fatal(err)
	}
	var changed *regular.ChangedError
	if err := p.Unchanged(); !errors.As(err, &changed) || changed.Name != p.Groups[0].Set.Source {
		t.Errorf("%v", err)
	}
	if err := read.Unchanged(); err != nil {
		t.Errorf("numbers in memory have changed: %v", err)
	}
}
