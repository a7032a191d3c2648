package filter

import (
	"math/bits"

	"github.com/starling-smc/starling/ssm"
)

// shuffle draws numbers from 0 to n − 1 without replacement, each as likely as any other, in time and memory of those that are drawn: the first
// steps of a shuffle (Fisher and Yates) of 0 … n − 1, of which only the places that were changed are kept.
type shuffle struct {
	n, drawn int
	places   []place // a hash table; its length is a power of 2
	used     int
	now      uint32 // the generation of the entries that count
}

// place is a place of the sequence whose number has changed.
type place struct {
	at, number int32
	generation uint32 // 0: none
}

// begin begins a new sequence of n numbers.
func (s *shuffle) begin(n int) {
	s.n, s.drawn, s.used = n, 0, 0
	if s.now++; s.now == 0 || s.places == nil {
		s.places, s.now = make([]place, max(leastPlaces, len(s.places))), 1
	}
}

const leastPlaces = 64

// next draws the next number.
func (s *shuffle) next(stream *ssm.Stream) int32 {
	if 2*s.used >= len(s.places) {
		s.grow()
	}
	i := int32(s.drawn)
	j := i + int32(stream.IntN(s.n-s.drawn))
	s.drawn++
	here := i
	if p := s.find(i); p.generation == s.now {
		here = p.number
	}
	if j == i {
		return here
	}
	p := s.find(j)
	number := j
	if p.generation == s.now {
		number = p.number
	} else {
		s.used++
	}
	*p = place{j, here, s.now}
	return number
}

// find returns the entry of a place, or the empty one where it belongs.
func (s *shuffle) find(at int32) *place {
	mask := uint32(len(s.places) - 1)
	for h := uint32(at) * 0x9e3779b1 >> (32 - bits.Len32(mask)); ; h = (h + 1) & mask {
		if p := &s.places[h]; p.generation != s.now || p.at == at {
			return p
		}
	}
}

// grow doubles the table.
func (s *shuffle) grow() {
	old := s.places
	s.places = make([]place, 2*len(old))
	for _, p := range old {
		if p.generation == s.now {
			*s.find(p.at) = p
		}
	}
}
