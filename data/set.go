// Package data loads examples into memory: the in-memory set, the schema that makes it of tables and arrays, orders, splits,
// standardisation, and the settings that name examples.
//
// Readers turn bytes into an Array (NPY, IDX) or a Table (text, Parquet); NewSet, NewValues and a Schema turn these into Sets, the input
// of a network. Load returns a whole Problem by name: training, validation and test examples, and groups of out-of-distribution inputs.
// What reads files is in rooms of its own (docs/adr/0025-data-in-rooms.md), and files.go has what programs use of them.
package data

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/starling-smc/starling/internal/arrays"
)

// Set is a set of examples, example-major: example i's inputs are U8[i·P:(i+1)·P], F32[i·P:(i+1)·P] or F16[i·P:(i+1)·P] with P the product of
// Shape, or row At[i] of Stored. Exactly one of U8, F32, F16 and Stored is in use. A Set is never changed once it is made, so that several may
// share memory.
//
// Stored inputs stay in their file, which is mapped and may be larger than the memory. No method copies all of them. A subset of the rows, such
// as a held-out part, is an index: At. Float16 inputs stay float16, in memory and in a file. A network widens both, and standardises them
// (Inputs), when it loads 16 examples into a tile: v as float32(To·((v − Mean)/SD)), computed in float64 by Load.Standardise of internal/lanes.
// Standard.row computes the same for arrays in memory before it rounds, so the bits are the same. Therefore Checksum and Among give the same
// for both. Statistics and checksums read a file in blocks, in the order of the rows, and release each block (arrays.Pass).
//
// A file may change while it is mapped. If it has become shorter, a read panics with a value that regular.Caught turns into an error. Model of
// package nn, Settings.Load and the functions of package starling do that. If the file was written to, Problem.Unchanged returns an error.
type Set struct {
	Name   string
	Shape  []int     // of one example: channels, height, width; or the number of features
	U8     []uint8   // pixels; a network sees v/255
	F32    []float32 // values as a network sees them
	F16    []Float16 // likewise, of 16 bits
	Stored *Stored   // likewise, of 16 or 32 bits, in a file
	At     []int32   // the rows of Stored; nil: 0, 1, 2, …

	// Inputs standardises numbers of F16 or Stored when a network loads them: v as float32(To·((v − Mean)/SD)), computed in float64, for each
	// feature. One with SD 0 becomes 0. nil: a network sees v.
	Inputs *Standard

	// Channels standardises images when a network loads them, (v − Mean)/SD of the values v above, for each of len(Mean) channels of equal
	// size. A channel with SD 0 becomes 0. nil: a network sees v.
	Channels *Standard

	// Source names the file that the examples come from, empty where that is not known, and Rows their numbers there, counted from 0; nil:
	// 0, 1, 2, …
	Source string
	Rows   []int32

	// Targets: Labels for classes (0 ≤ label < Classes), else Values, N×Outputs.
	Labels  []int32
	Classes int
	Names   []string // of classes; nil if they have none
	Values  []float32
	Outputs int
}

// Features is the number of input values of one example.
func (s *Set) Features() int { return size(s.Shape) }

// Len is the number of examples.
func (s *Set) Len() int {
	p := s.Features()
	if p == 0 {
		return 0
	}
	if s.At != nil {
		return len(s.At)
	}
	return s.values() / p
}

// values is the number of values that U8, F32, F16 or Stored holds.
func (s *Set) values() int {
	n := len(s.U8) + len(s.F32) + len(s.F16)
	if s.Stored != nil {
		n += s.Stored.Len()
	}
	return n
}

// Check reports the first inconsistency between the parts of the set.
func (s *Set) Check() error {
	n, p := s.Len(), s.Features()
	kinds := 0
	for _, is := range []bool{s.U8 != nil, s.F32 != nil, s.F16 != nil, s.Stored != nil} {
		if is {
			kinds++
		}
	}
	switch {
	case p <= 0:
		return fmt.Errorf("data set %q: shape %v has no values", s.Name, s.Shape)
	case kinds != 1:
		return fmt.Errorf("data set %q: exactly one of U8, F32, F16 and Stored must hold the inputs", s.Name)
	case s.values()%p != 0:
		return fmt.Errorf("data set %q: %d input values are not a multiple of shape %v", s.Name, s.values(), s.Shape)
	case s.At != nil && (s.Stored == nil || len(s.At) > 0 && (slices.Min(s.At) < 0 || int(slices.Max(s.At)) >= s.values()/p)):
		return fmt.Errorf("data set %q: At must be rows of Stored, of which there are %d", s.Name, s.values()/p)
	case s.Inputs != nil && (s.U8 != nil || s.F32 != nil || s.Channels != nil || !s.Inputs.of(p)):
		return fmt.Errorf("data set %q: Inputs must be %d means and deviations of numbers of F16 or Stored, without Channels", s.Name, p)
	case s.Labels != nil && len(s.Labels) != n:
		return fmt.Errorf("data set %q: %d labels for %d examples", s.Name, len(s.Labels), n)
	case s.Channels != nil && (len(s.Channels.Mean) == 0 || len(s.Channels.SD) != len(s.Channels.Mean) || p%len(s.Channels.Mean) != 0):
		return fmt.Errorf("data set %q: %d input values of an example do not divide into channels of %d means and %d deviations", s.Name, p, len(s.Channels.Mean), len(s.Channels.SD))
	case s.Values != nil && len(s.Values) != n*s.Outputs:
		return fmt.Errorf("data set %q: %d target values for %d examples of %d outputs", s.Name, len(s.Values), n, s.Outputs)
	}
	for i, y := range s.Labels {
		if y < 0 || int(y) >= s.Classes {
			return &labelError{s.Name, i, y, s.Classes}
		}
	}
	return nil
}

// labelError says that a label of a set is none of its classes.
type labelError struct {
	set     string
	example int
	label   int32
	classes int
}

func (e *labelError) Error() string {
	return fmt.Sprintf("data set %q: example %d has label %d, want 0 to %d", e.set, e.example, e.label, e.classes-1)
}

// SameRows reports whether two sets hold the same rows of one file in the same order, with the same labels. Their inputs may differ, as
// where one lacks columns, and so may the scale of values.
func (s *Set) SameRows(other *Set) bool {
	return s.Source != "" && s.Source == other.Source && s.Len() == other.Len() && slices.Equal(s.Rows, other.Rows) && slices.Equal(s.Labels, other.Labels)
}

// SameTargets reports whether two lists of targets are the same, up to the rounding of numbers that were restored from float32 numbers on
// another scale.
func SameTargets(x, y []float64) bool {
	if len(x) != len(y) {
		return false
	}
	size := 0.0
	for _, v := range x {
		size = max(size, math.Abs(v))
	}
	for i := range x {
		if !(math.Abs(x[i]-y[i]) <= 1e-5*size) {
			return false
		}
	}
	return true
}

// Select returns a new set of the given rows, in their order, copied, but for inputs that are Stored.
func (s *Set) Select(name string, rows []int32) *Set {
	t := *s
	t.Name = name
	p := s.Features()
	if t.Rows = gather(s.Rows, rows, 1); t.Rows == nil {
		t.Rows = slices.Clone(rows)
	}
	t.U8, t.F32, t.F16 = gather(s.U8, rows, p), gather(s.F32, rows, p), gather(s.F16, rows, p)
	if s.Stored != nil {
		if t.At = gather(s.At, rows, 1); t.At == nil {
			t.At = slices.Clone(rows)
		}
	}
	t.Labels = gather(s.Labels, rows, 1)
	t.Values = gather(s.Values, rows, s.Outputs)
	return &t
}

// Slice returns rows lo to hi−1 as a set that shares memory with s.
func (s *Set) Slice(name string, lo, hi int) *Set {
	t := *s
	t.Name = name
	p := s.Features()
	if t.Rows = part(s.Rows, lo, hi, 1); t.Rows == nil && lo > 0 {
		t.Rows = between(lo, hi)
	}
	t.U8, t.F32, t.F16 = part(s.U8, lo, hi, p), part(s.F32, lo, hi, p), part(s.F16, lo, hi, p)
	if s.Stored != nil {
		if t.At = part(s.At, lo, hi, 1); t.At == nil {
			t.At = between(lo, hi)
		}
	}
	t.Labels = part(s.Labels, lo, hi, 1)
	t.Values = part(s.Values, lo, hi, s.Outputs)
	return &t
}

// Row writes example i's inputs to dst of length Features(): uint8 pixels as v/255, before Channels are standardised.
func (s *Set) Row(i int, dst []float64) {
	p := s.Features()
	if s.U8 != nil {
		for j, v := range s.U8[i*p : (i+1)*p] {
			dst[j] = float64(v) / 255
		}
		return
	}
	if s.F32 != nil {
		for j, v := range s.F32[i*p : (i+1)*p] {
			dst[j] = float64(v)
		}
		return
	}
	s.lazyRow(i, dst[:p], arrays.RowOf[float64])
	for j, v := range dst[:p] {
		dst[j] = float64(float32(v))
	}
}

// Checksum is the SHA-256, in hexadecimal, of shape, inputs, targets and the standardisation of channels in little-endian order; names do not
// count.
func (s *Set) Checksum() string {
	h := sha256.New()
	buf := make([]byte, 0, 1<<16)
	word := func(v uint32) {
		if buf = binary.LittleEndian.AppendUint32(buf, v); len(buf) == cap(buf) {
			h.Write(buf)
			buf = buf[:0]
		}
	}
	n := s.Len()
	floats := n * s.Features()
	if s.U8 != nil {
		floats = 0
	}
	for _, v := range [...]int{len(s.Shape), len(s.U8), floats, len(s.Labels), s.Classes, len(s.Values), s.Outputs} {
		word(uint32(v))
	}
	for _, v := range s.Shape {
		word(uint32(v))
	}
	if s.U8 == nil {
		next := s.pass()
		for i := range n {
			for _, v := range next(i) {
				word(math.Float32bits(v))
			}
		}
	}
	for _, v := range s.Labels {
		word(uint32(v))
	}
	for _, v := range s.Values {
		word(math.Float32bits(v))
	}
	if c := s.Channels; c != nil {
		for _, v := range slices.Concat(c.Mean, c.SD) {
			word(uint32(math.Float64bits(v)))
			word(uint32(math.Float64bits(v) >> 32))
		}
	}
	h.Write(buf)
	h.Write(s.U8)
	return hex.EncodeToString(h.Sum(nil))
}

// Class is the name of a class, or its number if it has none: a network may have more classes than a set has names.
func (s *Set) Class(c int32) string {
	if int(c) >= len(s.Names) {
		return strconv.Itoa(int(c))
	}
	return s.Names[c]
}

// gather copies rows of width p; nil stays nil.
func gather[T any](x []T, rows []int32, p int) []T {
	if x == nil {
		return nil
	}
	y := make([]T, 0, len(rows)*p)
	for _, i := range rows {
		y = append(y, x[int(i)*p:(int(i)+1)*p]...)
	}
	return y
}

// part returns rows lo to hi−1 of width p; nil stays nil.
func part[T any](x []T, lo, hi, p int) []T {
	if x == nil {
		return nil
	}
	return x[lo*p : hi*p : hi*p]
}

// between lists the rows lo to hi−1.
func between(lo, hi int) []int32 {
	rows := make([]int32, 0, hi-lo)
	for i := lo; i < hi; i++ {
		rows = append(rows, int32(i))
	}
	return rows
}

func size(shape []int) int {
	p := 1
	for _, d := range shape {
		p *= d
	}
	return p
}
