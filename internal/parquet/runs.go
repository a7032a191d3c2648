package parquet

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/starling-smc/starling/internal/stated"
)

// runs reads small numbers, such as places in a dictionary and definition levels, as Parquet writes them: runs of equal values, and
// values that are packed by eights, each of some bits (https://parquet.apache.org/docs/file-format/data-pages/encodings/). A run takes
// no memory, however long it is.
type runs struct {
	b      []byte // after the present run
	bits   int    // of a number, at most 32
	left   int    // numbers after the present run
	n      int    // numbers of the present run that are left
	value  uint32 // of all of them, if packed is nil
	packed []byte // the present run, if they are packed
	at     int    // bit of packed where the next number begins
}

// newRuns begins to read n numbers.
func newRuns(b []byte, bits, n int) runs { return runs{b: b, bits: bits, left: n} }

// next returns the next number.
func (r *runs) next() (uint32, error) {
	if r.n == 0 {
		if err := r.begin(); err != nil {
			return 0, err
		}
	}
	r.n--
	if r.packed == nil {
		return r.value, nil
	}
	v := unpackBits(r.packed, r.at, r.bits)
	r.at += r.bits
	return v, nil
}

// begin reads the head of the next run.
func (r *runs) begin() error {
	if r.left == 0 {
		return fmt.Errorf("%w: more numbers are asked for than its runs have", errDamaged)
	}
	head, k := binary.Uvarint(r.b)
	if k <= 0 {
		return fmt.Errorf("%w: a run has no length: %d numbers are missing", errDamaged, r.left)
	}
	r.b = r.b[k:]
	if head&1 == 0 {
		size := (r.bits + 7) / 8
		n, ok := stated.Int(head>>1, r.left)
		if n == 0 || !ok || len(r.b) < size {
			return fmt.Errorf("%w: a run of %d numbers in %d bytes, where %d are left", errDamaged, head>>1, len(r.b), r.left)
		}
		v := uint64(0)
		for i, c := range r.b[:size] {
			v |= uint64(c) << (8 * i)
		}
		if v>>r.bits != 0 {
			return fmt.Errorf("%w: a level, or a place in a dictionary, of %d, where %d is the largest", errDamaged, v, uint64(1)<<r.bits-1)
		}
		r.b, r.packed, r.value, r.n = r.b[size:], nil, uint32(v), n
	} else {
		eights, ok := stated.Int(head>>1, (r.left+7)/8)
		size, fits := stated.Product(eights, r.bits, len(r.b))
		if eights == 0 || !ok || !fits {
			return fmt.Errorf("%w: %d times eight packed numbers in %d bytes, where %d are left", errDamaged, head>>1, len(r.b), r.left)
		}
		r.packed, r.b, r.at, r.n = r.b[:size:size], r.b[size:], 0, min(r.left, 8*eights)
	}
	r.left -= r.n
	return nil
}

// ones counts the ones among numbers of one bit. It finds what is wrong with the runs.
func (r runs) ones() (n int, err error) {
	for r.left > 0 {
		if err := r.begin(); err != nil {
			return 0, err
		}
		if r.packed == nil {
			n += int(r.value) * r.n
			continue
		}
		whole := r.n / 8
		for _, c := range r.packed[:whole] {
			n += bits.OnesCount8(c)
		}
		if rest := r.n % 8; rest > 0 {
			n += bits.OnesCount8(r.packed[whole] << (8 - rest))
		}
	}
	return n, nil
}

// unpackBits is the number of some bits that begins at a bit of b, the lowest bit first.
func unpackBits(b []byte, at, bits int) uint32 { return uint32(unpackWide(b, at, bits)) }

// unpackWide is unpackBits of at most 64 bits.
func unpackWide(b []byte, at, bits int) (v uint64) {
	for have := 0; have < bits; {
		c, from := uint64(b[at/8]), at%8
		take := min(8-from, bits-have)
		v |= (c >> from & (1<<take - 1)) << have
		have, at = have+take, at+take
	}
	return v
}
