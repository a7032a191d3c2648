package arrays

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"
	"unsafe"

	"github.com/starling-smc/starling/internal/packed"
	"github.com/starling-smc/starling/internal/regular"
)

// Stored is an array of float16 or float32 numbers in a mapped file, which may be larger than the memory. Exactly one of Half and Single has
// the numbers. A caller reads them inside Reading, and defers regular.Caught for the case that the file becomes shorter.
type Stored struct {
	Half   []Float16
	Single []float32

	name    string
	shape   []int
	mapping *regular.Mapping
	first   int // byte of the first number
	finite  func() error
}

// block is the number of bytes that a pass reads before it releases them.
const block = 8 << 20

// stays reports whether the numbers after a header can stay in the file. They can if the system maps files, and if they have the layout that
// they have in memory: not packed, in C order, float16 or float32 in the byte order of the machine, at a multiple of their size.
func (l *Layout) stays(s *packed.Source, n int) bool {
	little := binary.NativeEndian.Uint16([]byte{1, 0}) == 1
	return regular.Maps && little && n > 0 && !s.Packed && !l.Fortran && !l.big &&
		(l.DType == "float16" || l.DType == "float32") && s.At%l.Size() == 0
}

// store maps the n numbers of a file after its header. It returns nil if they must be read.
func (l *Layout) store(s *packed.Source, file *regular.File, n int) *Stored {
	if !l.Stays {
		return nil
	}
	m, err := file.Map()
	if err != nil {
		return nil // the reader reports what is wrong with the file
	}
	v := &Stored{name: s.Name, shape: l.Shape, mapping: m, first: s.At}
	start := unsafe.Pointer(&m.Bytes[s.At])
	if l.DType == "float16" {
		v.Half = unsafe.Slice((*Float16)(start), n)
	} else {
		v.Single = unsafe.Slice((*float32)(start), n)
	}
	v.finite = sync.OnceValue(v.checkFinite)
	return v
}

// Store maps a file if its numbers can stay there, and reads it otherwise. The Values of a mapped array are those of its Stored, which keeps the
// file open.
func Store(name string, file *regular.File, header Header) (*Array, error) {
	s, err := packed.New(name, file, int(file.Size()))
	if err != nil {
		return nil, err
	}
	l, n, err := Begin(s, header)
	if err != nil {
		return nil, err
	}
	v := l.store(s, file, n)
	if v == nil {
		return l.whole(s, n)
	}
	a := &Array{Name: name, Shape: slices.Clone(l.Shape), Stored: v, Values: v.Single}
	if v.Half != nil {
		a.Values = v.Half
	}
	return a, nil
}

// Len is the number of values.
func (s *Stored) Len() int { return len(s.Half) + len(s.Single) }

// Reading calls look, which reads the numbers.
func (s *Stored) Reading(look func()) { s.mapping.Reading(look) }

// Unchanged returns a *regular.ChangedError if the file was written to since it was opened.
func (s *Stored) Unchanged() error { return s.mapping.Unchanged() }

// size is the number of bytes of a value.
func (s *Stored) size() int {
	if s.Half != nil {
		return 2
	}
	return 4
}

// at is the byte of a value.
func (s *Stored) at(value int) int { return s.first + value*s.size() }

// Prefetch asks the disk for n rows of width values, row(0) to row(n−1), before a caller reads them: it reads them together, not page by page.
// Nothing is asked if the end of the last row is in memory already. If the rows are consecutive, as many after them are asked for as well.
func (s *Stored) Prefetch(width, n int, row func(i int) int) {
	size := s.size() * width
	if n == 0 || s.mapping.Resident(s.first+(row(n-1)+1)*size-1) {
		return
	}
	from := row(0)
	to := from + 1
	for i := 1; i < n; i++ {
		if next := row(i); next != to {
			s.mapping.Prefetch(s.first+from*size, s.first+to*size)
			from, to = next, next
		}
		to++
	}
	if to-from == n {
		to += n
	}
	s.mapping.Prefetch(s.first+from*size, s.first+to*size)
}

// RowOf sets dst to row i of len(dst) values.
func RowOf[F float32 | float64](s *Stored, i int, dst []F) {
	at := i * len(dst)
	s.Reading(func() {
		if s.Single != nil {
			for j, v := range s.Single[at : at+len(dst)] {
				dst[j] = F(v)
			}
			return
		}
		for j, h := range s.Half[at : at+len(dst)] {
			dst[j] = F(h.Float32())
		}
	})
}

// Pass returns a function that is RowOf for a caller that reads rows of width values in ascending order. It prefetches the file in blocks, and
// releases each block that was read, so that a pass over a large file takes little memory.
func Pass[F float32 | float64](s *Stored, width int) func(i int, dst []F) {
	from, to, expected := 0, 0, 0 // bytes: the rows of the block so far, and the end of what was prefetched
	return func(i int, dst []F) {
		at, row := s.at(i*width), s.size()*width
		if at < to || at >= expected || to-from >= block {
			s.mapping.Release(from, to)
			from, expected = at, at+max(block, row)
			if at < to { // not ascending: the next row is unknown
				expected = at + row
			}
			s.mapping.Prefetch(from, expected)
		}
		RowOf(s, i, dst)
		to = at + row
	}
}

// CheckFinite returns an error that names the first number that is not finite. It reads the file at the first call only.
func (s *Stored) CheckFinite() error { return s.finite() }

func (s *Stored) checkFinite() (err error) {
	defer regular.Caught(&err)
	rows := s.shape[0]
	row := make([]float32, s.Len()/rows)
	next := Pass[float32](s, len(row))
	for i := range rows {
		next(i, row)
		for j, v := range row {
			if !(math.Abs(float64(v)) <= math.MaxFloat32) {
				return fmt.Errorf("%s: example %d, feature %d is %v as a float32: a network needs finite numbers", s.name, i, j, v)
			}
		}
	}
	return nil
}
