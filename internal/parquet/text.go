package parquet

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go/format"

	"github.com/starling-smc/starling/internal/numeral"
)

// append appends the text of value i.
func (v *values) append(b []byte, c *Column, i int) []byte {
	switch c.kind {
	case format.Boolean:
		return strconv.AppendBool(b, v.bits[i/8]>>(i%8)&1 != 0)
	case format.Int32:
		if c.scale > 0 {
			return appendPlaces(b, big.NewInt(int64(int32(little.Uint32(v.fixed[4*i:])))), c.scale)
		}
		if x := little.Uint32(v.fixed[4*i:]); c.unsigned {
			return strconv.AppendUint(b, uint64(x), 10)
		} else {
			return strconv.AppendInt(b, int64(int32(x)), 10)
		}
	case format.Int64:
		if c.scale > 0 {
			return appendPlaces(b, big.NewInt(int64(little.Uint64(v.fixed[8*i:]))), c.scale)
		}
		if x := little.Uint64(v.fixed[8*i:]); c.unsigned {
			return strconv.AppendUint(b, x, 10)
		} else {
			return strconv.AppendInt(b, int64(x), 10)
		}
	case format.Float:
		return strconv.AppendFloat(b, float64(math.Float32frombits(little.Uint32(v.fixed[4*i:]))), 'g', -1, 64)
	case format.Double:
		return strconv.AppendFloat(b, math.Float64frombits(little.Uint64(v.fixed[8*i:])), 'g', -1, 64)
	}
	text := v.text[v.offsets[i]:v.offsets[i+1]]
	switch {
	case c.half:
		return strconv.AppendFloat(b, half(little.Uint16(text)), 'g', -1, 64)
	case c.number && len(text) <= mostDecimal:
		return appendPlaces(b, signed(text), c.scale)
	}
	return appendQuoted(b, text)
}

// appendTo is append, which refuses a string that is no text.
func (v *values) appendTo(b []byte, c *Column, i int) ([]byte, error) {
	if c.kind == format.ByteArray && !c.number {
		if !utf8.Valid(v.text[v.offsets[i]:v.offsets[i+1]]) {
			return nil, errNotText
		}
	}
	return v.append(b, c, i), nil
}

// signed is a whole number in two's complement, big-endian.
func signed(b []byte) *big.Int {
	x := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0] >= 0x80 {
		x.Sub(x, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return x
}

// appendPlaces appends x·10^−places, all of its digits.
func appendPlaces(b []byte, x *big.Int, places int) []byte {
	digits := new(big.Int).Abs(x).String()
	if x.Sign() < 0 {
		b = append(b, '-')
	}
	if len(digits) <= places {
		digits = strings.Repeat("0", places-len(digits)+1) + digits
	}
	b = append(b, digits[:len(digits)-places]...)
	if places > 0 {
		b = append(append(b, '.'), digits[len(digits)-places:]...)
	}
	return b
}

// half is a half-precision number (IEEE 754 binary16) of its bits.
func half(bits uint16) float64 {
	sign, exponent, fraction := 1.0, int(bits>>10&0x1f), float64(bits&0x3ff)
	if bits>>15 == 1 {
		sign = -1
	}
	switch exponent {
	case 0:
		return math.Copysign(math.Ldexp(fraction, -24), sign)
	case 0x1f:
		if fraction != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

// appendQuoted appends a cell in double quotes, a quote within it doubled.
func appendQuoted(b, cell []byte) []byte {
	b = append(b, '"')
	for {
		k := bytes.IndexByte(cell, '"')
		if k < 0 {
			return append(append(b, cell...), '"')
		}
		b = append(append(b, cell[:k+1]...), '"')
		cell = cell[k+1:]
	}
}

// missing is the text of a missing value. A row of nothing else would be a blank line.
const missing = `""`

// reader writes the rows of a file as the lines of a CSV.
type reader struct {
	f      *File
	line   []byte // text that is not yet read
	group  int    // the next row group
	left   int64  // rows of the present one
	row    int    // rows of the file so far
	chunks []*chunk
	err    error
}

// Text begins to read the file as a CSV, whose first line has the names of the columns.
func (f *File) Text() io.Reader {
	r := &reader{f: f}
	for j := range f.Columns {
		if j > 0 {
			r.line = append(r.line, ',')
		}
		r.line = appendQuoted(r.line, []byte(f.Columns[j].Name))
	}
	r.line = append(r.line, '\n')
	return r
}

// Read implements io.Reader.
func (r *reader) Read(b []byte) (n int, err error) {
	for n < len(b) {
		if len(r.line) == 0 && r.err == nil {
			r.line, r.err = r.next(r.line[:0])
		}
		if len(r.line) == 0 {
			break
		}
		k := copy(b[n:], r.line)
		n, r.line = n+k, r.line[k:]
	}
	if n > 0 || len(b) == 0 {
		return n, nil
	}
	return 0, r.err
}

// next writes the next rows. At the end of the file the error is io.EOF.
func (r *reader) next(text []byte) (_ []byte, err error) {
	defer recovered(&err)
	for r.left == 0 {
		if r.group == len(r.f.meta.RowGroups) {
			return nil, io.EOF
		}
		r.begin()
	}
	const enough = 16 << 10
	for ; r.left > 0 && len(text) < enough; r.left-- {
		begin := len(text)
		r.row++
		for j, k := range r.chunks {
			if j > 0 {
				text = append(text, ',')
			}
			text, err = k.append(text)
			if size := len(text) - begin; err == nil && size > mostRow {
				err = fmt.Errorf("a row of more than %s bytes as text: leave out the column of long strings", numeral.Count(mostRow))
			}
			if err != nil {
				return nil, r.fault(j, err)
			}
		}
		text = append(text, '\n')
	}
	return text, nil
}

// fault says where an error is.
func (r *reader) fault(j int, err error) error {
	group := ""
	if len(r.f.meta.RowGroups) > 1 {
		group = fmt.Sprintf("row group %d, ", r.group-1)
	}
	if err == errNotText {
		group = fmt.Sprintf("row %d, ", r.row)
	}
	return &Error{fmt.Errorf("%scolumn %d (%s): %w", group, j+1, short(r.f.Columns[j].Name), err)}
}

// begin opens the columns of the next row group.
func (r *reader) begin() {
	g := &r.f.meta.RowGroups[r.group]
	r.group++
	r.left, r.chunks = g.NumRows, nil
	memory := newRoom(r.f.size)
	for j := range r.f.Columns {
		c := &r.f.Columns[j]
		if c.Unused {
			r.chunks = append(r.chunks, nil)
			continue
		}
		m := &g.Columns[c.leaf].MetaData
		from, n := place(m)
		r.chunks = append(r.chunks, &chunk{
			c: c, r: bufio.NewReaderSize(io.NewSectionReader(r.f.raw, from, n), int(min(buffer, n+1))), codec: codecs[m.Codec],
			left: g.NumRows, most: r.f.mostOf(), bytes: n, memory: memory,
		})
	}
}

// append appends the text of the next value of a column, which is missing where the column is not used.
func (k *chunk) append(text []byte) ([]byte, error) {
	if k == nil {
		return append(text, missing...), nil
	}
	for k.rows == 0 {
		if err := k.turn(); err != nil {
			return nil, err
		}
	}
	k.rows--
	if k.levels != nil {
		switch level, err := k.levels.next(); {
		case err != nil:
			return nil, err
		case level == 0:
			return append(text, missing...), nil
		}
	}
	i := k.next
	k.next++
	if i >= k.page.n {
		return nil, fmt.Errorf("%w: a page has fewer values than rows", errDamaged)
	}
	if k.places == nil {
		return k.page.appendTo(text, k.c, i)
	}
	place, err := k.places.next()
	if err != nil {
		return nil, err
	}
	if uint64(place) >= uint64(k.dictionary.n) {
		return nil, fmt.Errorf("%w: place %d in a dictionary of %d values", errDamaged, place, k.dictionary.n)
	}
	return k.dictionary.appendTo(text, k.c, int(place))
}

// fixedLength reads n values of so many bytes each that stand one after another.
func (v *values) fixedLength(body []byte, n, length int) error {
	if length < 1 || len(body)/length < n {
		return errDamaged
	}
	v.text, v.offsets = body[:n*length], make([]uint32, n+1)
	for i := range v.offsets {
		v.offsets[i] = uint32(i * length)
	}
	return nil
}
