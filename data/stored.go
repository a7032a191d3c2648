package data

import "github.com/starling-smc/starling/internal/arrays"

// Inputs of F16 and Stored are widened and standardised when they are read.

// rowOf returns the row of Stored that holds example i.
func (s *Set) rowOf(i int) int {
	if s.At == nil {
		return i
	}
	return int(s.At[i])
}

// Prefetch asks for the inputs of some examples, which a file may hold, before a caller reads them.
func (s *Set) Prefetch(examples []int) {
	if s.Stored != nil {
		s.Stored.Prefetch(s.Features(), len(examples), func(i int) int { return s.rowOf(examples[i]) })
	}
}

// lazyRow sets dst to example i's inputs of F16 or Stored, standardised and not yet rounded to float32. read reads a row of Stored.
func (s *Set) lazyRow(i int, dst []float64, read func(of *Stored, i int, dst []float64)) {
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

// lazyPass returns lazyRow for a caller that reads the examples in order.
func (s *Set) lazyPass() func(i int, dst []float64) {
	if s.Stored == nil {
		return func(i int, dst []float64) { s.lazyRow(i, dst, nil) }
	}
	next := arrays.Pass[float64](s.Stored, s.Features())
	return func(i int, dst []float64) {
		s.lazyRow(i, dst, func(_ *Stored, row int, dst []float64) { next(row, dst) })
	}
}

// pass returns a function for a caller that reads the examples in order. The function returns example i's inputs as a network sees them, before
// Channels are standardised: bytes as shares of 255. The next call may overwrite them.
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
	x, next := make([]float64, p), s.lazyPass()
	return func(i int) []float32 {
		next(i, x)
		for j, v := range x {
			row[j] = float32(v)
		}
		return row
	}
}
