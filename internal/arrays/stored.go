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

// Stored is an array of float16 or float32 numbers that stays in its file, which is mapped: it may be larger than the memory. Exactly one of
// Half and Single has its numbers. Who looks at them does so in Reading, and catches what that panics with (regular.Caught).
type Stored struct {
	Half   []Float16
	Single []float32

	name    string
	shape   []int
	mapping *regular.Mapping
	first   int // byte of the first number
	finite  func() error
}

// block is how many bytes of a file one goes through before they are given back.
const block = 8 << 20

// stays says whether the numbers after a header are as the machine has them in memory, so that they can stay in the file, where the system
// maps files: others must be read. Those are packed, in Fortran order, of another type or byte order, or not at a multiple of their size.
func (l *Layout) stays(s *packed.Source, n int) bool {
	little := binary.NativeEndian.Uint16([]byte{1, 0}) == 1
	return regular.Maps && little && n > 0 && !s.Packed && !l.Fortran && !l.big &&
		(l.DType == "float16" || l.DType == "float32") && s.At%l.Size() == 0
}

// store maps the n numbers of a file after its header. It is nil where they must be read.
func (l *Layout) store(s *packed.Source, file *regular.File, n int) *Stored {
	if !l.Stays {
		return nil
	}
	m, err := file.Map()
	if err != nil {
		return nil // what is wrong with the file, if it is that, its reader says
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

// Store reads a file whose numbers stay there if they can. The array's Values are then those of its Stored, which keeps the file open.
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

// Reading calls look, which looks at the numbers.
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

// Soon says that rows of width values will be looked at next, of which row(i) is one for each i below n. Where the end of the last is not in
// memory, the file may be larger than that: the disk is told of all, and reads many at a time. Rows that follow each other are likely to go on.
func (s *Stored) Soon(width, n int, row func(i int) int) {
	size := s.size() * width
	if n == 0 || s.mapping.Resident(s.first+(row(n-1)+1)*size-1) {
		return
	}
	from := row(0)
	to := from + 1
	for i := 1; i < n; i++ {
		if next := row(i); next != to {
			s.mapping.Expect(s.first+from*size, s.first+to*size)
			from, to = next, next
		}
		to++
	}
	if to-from == n {
		to += n
	}
	s.mapping.Expect(s.first+from*size, s.first+to*size)
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

// Pass returns a RowOf for whoever goes through rows of width values in ascending order: the system is told to read the file in blocks, each
// of which is given back once it is read, so that a pass takes little of the memory.
func Pass[F float32 | float64](s *Stored, width int) func(i int, dst []F) {
	from, to, expected := 0, 0, 0 // bytes: of the rows since the last block, and those that the system was told of
	return func(i int, dst []F) {
		at, row := s.at(i*width), s.size()*width
		if at < to || at >= expected || to-from >= block {
			s.mapping.Release(from, to)
			from, expected = at, at+max(block, row)
			if at < to { // another order: what comes next is not known
				expected = at + row
			}
			s.mapping.Expect(from, expected)
		}
		RowOf(s, i, dst)
		to = at + row
	}
}

// CheckFinite returns an error that names the first number that is not finite, once and for all.
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
