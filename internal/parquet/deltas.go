package parquet

import (
	"encoding/binary"
	"fmt"

	"github.com/starling-smc/starling/internal/stated"
)

// Deltas are whole numbers as differences (DELTA_BINARY_PACKED, https://parquet.apache.org/docs/file-format/data-pages/encodings/):
//
//	varints   numbers of a block, a multiple of 128; parts of a block; numbers in all; the first one, in zigzag
//	a block   the least difference, in zigzag; a byte for each part, the bits of its numbers; the parts, each packed
//
// A number is the one before it, and the least difference, and what is packed. Bits beyond 64 wrap, as those who write them want.
type deltas struct {
	b        []byte
	block    int // numbers of a block
	parts    int // of a block
	left     int // numbers that are not yet read
	last     uint64
	least    uint64
	widths   []byte // bits of the numbers of the parts that are left of the block
	packed   []byte // the present part
	bits, at int    // bits of a number of it, and where the next begins
	inPart   int    // numbers that are left of it
	begun    bool
}

// mostBlock is the largest block: the usual ones have 128 numbers.
const mostBlock = 1 << 16

// newDeltas begins to read n numbers.
func newDeltas(b []byte, n int) (*deltas, error) {
	var head [4]uint64
	for i := range head {
		v, k := binary.Uvarint(b)
		if k <= 0 {
			return nil, fmt.Errorf("%w: its differences have no head", errDamaged)
		}
		head[i], b = v, b[k:]
	}
	block, ok := stated.Int(head[0], mostBlock)
	parts, fits := stated.Int(head[1], block)
	switch {
	case !ok || !fits || parts == 0 || block%parts != 0 || block/parts%8 != 0:
		return nil, fmt.Errorf("%w: differences in blocks of %d, of %d parts each", errDamaged, head[0], head[1])
	case head[2] != uint64(n):
		return nil, fmt.Errorf("%w: %d differences for %d values", errDamaged, head[2], n)
	}
	return &deltas{b: b, block: block, parts: parts, left: n, last: uint64(unzigzag(head[3]))}, nil
}

// next returns the next number.
func (d *deltas) next() (int64, error) {
	if d.left == 0 {
		return 0, fmt.Errorf("%w: more numbers are asked for than it has differences", errDamaged)
	}
	d.left--
	if !d.begun { // the first has no difference
		d.begun = true
		return int64(d.last), nil
	}
	if d.inPart == 0 {
		if err := d.part(); err != nil {
			return 0, err
		}
	}
	d.inPart--
	d.last += d.least + unpackWide(d.packed, d.at, d.bits)
	d.at += d.bits
	return int64(d.last), nil
}

// part begins the next part, and its block if it is the first.
func (d *deltas) part() error {
	if len(d.widths) == 0 {
		v, k := binary.Uvarint(d.b)
		if k <= 0 || len(d.b)-k < d.parts {
			return fmt.Errorf("%w: a block of differences ends early", errDamaged)
		}
		d.least, d.widths, d.b = uint64(unzigzag(v)), d.b[k:k+d.parts], d.b[k+d.parts:]
	}
	d.bits, d.widths = int(d.widths[0]), d.widths[1:]
	n := d.block / d.parts
	size := n / 8 * d.bits // at most 2¹³ · 255
	if d.bits > 64 || size > len(d.b) {
		return fmt.Errorf("%w: %d differences of %d bits each in %d bytes", errDamaged, n, d.bits, len(d.b))
	}
	d.packed, d.b, d.at, d.inPart = d.b[:size], d.b[size:], 0, n
	return nil
}

// appendTo appends all numbers, each in a width of 4 or 8 bytes.
func (d *deltas) appendTo(b []byte, width int) ([]byte, error) {
	for d.left > 0 {
		v, err := d.next()
		if err != nil {
			return nil, err
		}
		if width == 4 {
			b = little.AppendUint32(b, uint32(v))
		} else {
			b = little.AppendUint64(b, uint64(v))
		}
	}
	return b, nil
}
