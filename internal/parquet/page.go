package parquet

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/format"
)

const (
	mostPage  = 256 << 20 // bytes of a page, unpacked
	fewValues = 4 << 20   // values of a page that any file may have: a column that hardly changes takes almost no bytes
	ratio     = 1024      // values of a page for each byte of the file that it may have beyond these
	buffer    = 32 << 10  // bytes that are read at a time
)

// values are the values of a page, or of a dictionary.
type values struct {
	there   []uint32 // for each row 0 where the value is missing; nil: none is
	fixed   []byte   // values of a width in bytes, one after another
	bits    []uint32 // of booleans
	text    []byte   // of strings, whose ends are in offsets
	offsets []uint32
	index   []uint32 // places of the values in the dictionary; nil: these are the values themselves
}

// chunk reads the values of a column in a row group, a page at a time.
type chunk struct {
	c          *Column
	r          *bufio.Reader
	unpack     codec
	left       int64 // rows that are not yet in a page
	most       int64 // values of a page
	room       int64 // bytes of the chunk
	dictionary *values
	page       values
	rows       int // of the page
	row, value int // the next row of the page, and its value among those that are there
}

// pageHeader holds the numbers of a page's header.
type pageHeader struct {
	kind         format.PageType
	size, packed int64 // bytes, unpacked and in the file
	sum          int64
	summed       bool
	of           map[[2]int]int64 // the fields of the header of its kind
}

// The fields of the headers of each kind, in parquet.thrift.
const (
	dataV1, dictionaryPage, dataV2 = 5, 7, 8

	fieldValues, fieldEncoding = 1, 2
)

// read reads the header of the next page.
func (h *pageHeader) read(r *bufio.Reader) error {
	*h = pageHeader{of: map[[2]int]int64{{dataV2, 7}: 1}} // is_compressed, if left out
	t := thrift{r: r, take: func(path [2]int, v int64) {
		switch path {
		case [2]int{1, 0}:
			h.kind = format.PageType(v)
		case [2]int{2, 0}:
			h.size = v
		case [2]int{3, 0}:
			h.packed = v
		case [2]int{4, 0}:
			h.sum, h.summed = v, true
		default:
			h.of[path] = v
		}
	}}
	return t.structure(0)
}

// next reads the next page of values, and the dictionary before it.
func (k *chunk) next() error {
	for {
		var h pageHeader
		if err := h.read(k.r); err != nil {
			return err
		}
		switch {
		case h.packed < 0 || h.packed > k.room:
			return errEarly
		case h.size < 0 || h.size > mostPage:
			return fmt.Errorf("a page of %d bytes: at most %d are read: write the file with smaller pages", h.size, int64(mostPage))
		}
		body := make([]byte, h.packed)
		if _, err := io.ReadFull(k.r, body); err != nil {
			return ended(err)
		}
		if h.summed && crc32.ChecksumIEEE(body) != uint32(h.sum) {
			return errors.New("the checksum of a page is wrong")
		}
		switch h.kind {
		case format.DictionaryPage:
			body, err := k.unpack(body, int(h.size))
			if err != nil {
				return err
			}
			n := h.of[[2]int{dictionaryPage, fieldValues}]
			if n < 0 || n > int64(len(body)) {
				return errDamaged
			}
			k.dictionary = &values{}
			if err := k.dictionary.plain(k.c, body, int(n)); err != nil {
				return err
			}
		case format.DataPage, format.DataPageV2:
			return k.data(&h, body)
		default: // an index
		}
	}
}

// data reads a page of values.
func (k *chunk) data(h *pageHeader, body []byte) (err error) {
	fields, encodingField := dataV1, fieldEncoding
	if h.kind == format.DataPageV2 {
		fields, encodingField = dataV2, 4
	}
	rows := h.of[[2]int{fields, fieldValues}]
	if rows < 0 || rows > min(k.left, k.most) {
		return fmt.Errorf("a page claims %d values", rows)
	}
	var levels []byte
	if h.kind == format.DataPage {
		if body, err = k.unpack(body, int(h.size)); err != nil {
			return err
		}
		if k.c.optional {
			if h.of[[2]int{dataV1, 3}] != int64(format.RLE) {
				return errEncoding
			}
			if levels, body, err = lengthFirst(body); err != nil {
				return err
			}
		}
	} else {
		definition := h.of[[2]int{dataV2, 5}]
		if definition < 0 || h.of[[2]int{dataV2, 6}] != 0 || definition > min(int64(len(body)), h.size) {
			return errDamaged
		}
		levels, body = body[:definition], body[definition:]
		if h.of[[2]int{dataV2, 7}] != 0 {
			if body, err = k.unpack(body, int(h.size-definition)); err != nil {
				return err
			}
		}
	}
	k.page, k.rows, k.row, k.value = values{}, int(rows), 0, 0
	k.left -= rows
	n := k.rows
	if k.c.optional {
		if k.page.there, err = decodeRuns(levels, 1, n); err != nil {
			return err
		}
		for _, level := range k.page.there {
			n -= int(1 - level)
		}
	}
	return k.decode(format.Encoding(h.of[[2]int{fields, encodingField}]), body, n)
}

// decode reads the n values of a page that are there.
func (k *chunk) decode(encoding format.Encoding, body []byte, n int) (err error) {
	v, kind := &k.page, k.c.kind
	if n == 0 {
		return nil
	}
	switch {
	case encoding == format.Plain:
		return v.plain(k.c, body, n)
	case encoding == format.RLEDictionary || encoding == plainDictionary:
		if k.dictionary == nil || len(body) == 0 || body[0] > 32 {
			return errDamaged
		}
		v.index, err = decodeRuns(body[1:], int(body[0]), n)
		return err
	case encoding == format.RLE && kind == format.Boolean:
		if body, _, err = lengthFirst(body); err == nil {
			v.bits, err = decodeRuns(body, 1, n)
		}
		return err
	case encoding == format.ByteStreamSplit && widths[kind] > 0:
		width := widths[kind]
		if len(body) != n*width {
			return errDamaged
		}
		v.fixed = make([]byte, len(body))
		for i := range body {
			v.fixed[i%n*width+i/n] = body[i]
		}
		return nil
	}
	if err := checkDeltas(body, n); err != nil {
		return err
	}
	switch {
	case encoding == format.DeltaBinaryPacked && kind == format.Int32:
		numbers, err := new(delta.BinaryPackedEncoding).DecodeInt32(nil, body)
		for _, x := range numbers {
			v.fixed = binary.LittleEndian.AppendUint32(v.fixed, uint32(x))
		}
		return sized(v.fixed, 4*n, err)
	case encoding == format.DeltaBinaryPacked && kind == format.Int64:
		numbers, err := new(delta.BinaryPackedEncoding).DecodeInt64(nil, body)
		for _, x := range numbers {
			v.fixed = binary.LittleEndian.AppendUint64(v.fixed, uint64(x))
		}
		return sized(v.fixed, 8*n, err)
	case encoding == format.DeltaLengthByteArray && kind == format.ByteArray:
		var err error
		v.text, v.offsets, err = new(delta.LengthByteArrayEncoding).DecodeByteArray(nil, body, nil)
		return sized(v.offsets, n+1, err)
	}
	return errEncoding
}

// sized returns err, or an error unless values are as many as they should be.
func sized[T any](values []T, n int, err error) error {
	if err == nil && len(values) != n {
		err = errDamaged
	}
	return err
}

// widths are the bytes of a value of the types that have a width.
var widths = map[format.Type]int{format.Int32: 4, format.Int64: 8, format.Float: 4, format.Double: 8}

// plain reads n values that stand one after another.
func (v *values) plain(c *Column, body []byte, n int) error {
	kind := c.kind
	if kind == format.FixedLenByteArray {
		return v.fixedLength(body, n, c.length)
	}
	if width := widths[kind]; width > 0 {
		if len(body) < n*width {
			return errDamaged
		}
		v.fixed = body[:n*width]
		return nil
	}
	if kind == format.Boolean {
		if len(body) < (n+7)/8 {
			return errDamaged
		}
		for i := range n {
			v.bits = append(v.bits, uint32(body[i/8]>>(i%8)&1))
		}
		return nil
	}
	if len(body) < 4*n { // of the lengths alone
		return errDamaged
	}
	v.text, v.offsets = make([]byte, 0, len(body)-4*n), append(make([]uint32, 0, n+1), 0)
	for range n {
		text, rest, err := lengthFirst(body)
		if err != nil {
			return err
		}
		v.text, body = append(v.text, text...), rest
		v.offsets = append(v.offsets, uint32(len(v.text)))
	}
	return nil
}

// checkDeltas checks the header of numbers in the form of differences: the values of a block, the parts of a block, all values.
func checkDeltas(b []byte, n int) error {
	for _, most := range []int{1 << 16, 1 << 10, n} {
		v, k := binary.Uvarint(b)
		if k <= 0 || v > uint64(most) {
			return errDamaged
		}
		b = b[k:]
	}
	return nil
}

// lengthFirst cuts bytes whose length comes first, in four bytes.
func lengthFirst(b []byte) (part, rest []byte, err error) {
	if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
		return nil, nil, errDamaged
	}
	end := 4 + int(binary.LittleEndian.Uint32(b))
	return b[4:end], b[end:], nil
}

// plainDictionary is the name that older writers give to RLEDictionary.
const plainDictionary format.Encoding = 2
