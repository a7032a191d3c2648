package parquet

import (
	"bufio"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/parquet-go/parquet-go/format"

	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/stated"
)

const buffer = 32 << 10 // bytes that are read at a time

// values are the values of a page, or of a dictionary.
type values struct {
	n       int    // of them
	fixed   []byte // values of a width in bytes, one after another
	bits    []byte // of booleans, eight in a byte, the lowest first
	text    []byte // of strings, whose ends are in offsets
	offsets []uint32
}

// chunk reads the values of a column in a row group, a page at a time.
type chunk struct {
	c          *Column
	r          *bufio.Reader
	codec      codec
	left       int64 // rows that are not yet in a page
	most       int64 // values of a page
	bytes      int64 // of the chunk that are left, at most
	memory     *room // of all columns
	held       int64 // taken from it by the page
	dictionary *values
	page       values
	levels     *runs // for each row of the page 0 where the value is missing; nil: none is
	places     *runs // of the values in the dictionary; nil: the page has the values themselves
	rows, next int   // of the page, and the next of its values that are there
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

// turn reads the next page of values, and the dictionary before it.
func (k *chunk) turn() error {
	k.page, k.levels, k.places = values{}, nil, nil
	k.memory.give(k.held)
	k.held = 0
	for {
		var h pageHeader
		if err := h.read(k.r); err != nil {
			return fmt.Errorf("%w: %d rows of its row group are in none of its pages", err, k.left)
		}
		switch {
		case h.packed < 0 || h.packed > k.bytes:
			return fmt.Errorf("%w: a page claims %d bytes of the %d that are left of its column", errEarly, h.packed, k.bytes)
		case h.size < 0 || h.size > mostPage:
			return fmt.Errorf("a page of %d bytes: at most %s are read: write the file with smaller pages", h.size, numeral.Count(mostPage))
		}
		k.bytes -= h.packed
		if h.kind != format.DictionaryPage && h.kind != format.DataPage && h.kind != format.DataPageV2 { // an index
			if _, err := k.r.Discard(int(h.packed)); err != nil {
				return ended(err)
			}
			continue
		}
		dictionary := h.kind == format.DictionaryPage
		if err := k.fits(&h); err != nil {
			return err
		}
		body := make([]byte, h.packed)
		if _, err := io.ReadFull(k.r, body); err != nil {
			return ended(err)
		}
		if h.summed && crc32.ChecksumIEEE(body) != uint32(int32(h.sum)) {
			return errors.New("the checksum of a page is wrong")
		}
		if !dictionary {
			return k.data(&h, body)
		}
		body, err := k.codec.unpack(body, int(h.size))
		if err != nil {
			return err
		}
		k.dictionary = new(values)
		if err := k.plain(k.dictionary, body, int(h.of[[2]int{dictionaryPage, fieldValues}])); err != nil {
			return fmt.Errorf("its dictionary: %w", err)
		}
		k.held = 0 // the dictionary stays in memory until the end of the row group
	}
}

// fits checks what a page claims, and takes its memory.
func (k *chunk) fits(h *pageHeader) error {
	fields, most := dataV1, min(k.left, k.most)
	switch h.kind {
	case format.DictionaryPage:
		fields, most = dictionaryPage, h.size // a value takes a byte, or more
		if k.c.kind == format.Boolean {
			return fmt.Errorf("%w: a dictionary of booleans", errDamaged)
		}
	case format.DataPageV2:
		fields = dataV2
	}
	n := h.of[[2]int{fields, fieldValues}]
	if n < 0 || n > most {
		return fmt.Errorf("a page claims %d values, where at most %d are left", n, most)
	}
	width := widths[k.c.kind]
	if k.c.kind == format.Boolean {
		width = 1
	}
	if err := inProportion(h.size, n, width); err != nil {
		return err
	}
	return k.take(h.packed + h.size)
}

// take takes memory for the page.
func (k *chunk) take(n int64) error {
	err := k.memory.take(n)
	if err == nil {
		k.held += n
	}
	return err
}

// data reads a page of values.
func (k *chunk) data(h *pageHeader, body []byte) (err error) {
	fields, encodingField := dataV1, fieldEncoding
	if h.kind == format.DataPageV2 {
		fields, encodingField = dataV2, 4
	}
	rows := h.of[[2]int{fields, fieldValues}]
	var levels []byte
	if h.kind == format.DataPage {
		if body, err = k.codec.unpack(body, int(h.size)); err != nil {
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
			return fmt.Errorf("%w: a page of %d bytes claims %d bytes of levels", errDamaged, len(body), definition)
		}
		levels, body = body[:definition], body[definition:]
		if h.of[[2]int{dataV2, 7}] != 0 {
			if body, err = k.codec.unpack(body, int(h.size-definition)); err != nil {
				return err
			}
		}
	}
	k.rows, k.next = int(rows), 0
	k.left -= rows
	there := k.rows
	if k.c.optional {
		all := newRuns(levels, 1, k.rows)
		if there, err = all.ones(); err != nil {
			return fmt.Errorf("its levels: %w", err)
		}
		k.levels = &all
	}
	return k.decode(format.Encoding(h.of[[2]int{fields, encodingField}]), body, there)
}

// decode reads the n values of a page that are there.
func (k *chunk) decode(encoding format.Encoding, body []byte, n int) error {
	v, kind := &k.page, k.c.kind
	width := widths[kind]
	if n == 0 {
		return nil
	}
	v.n = n
	switch {
	case encoding == format.Plain:
		return k.plain(v, body, n)
	case encoding == format.RLEDictionary || encoding == plainDictionary:
		if k.dictionary == nil || len(body) == 0 || body[0] > 32 {
			return fmt.Errorf("%w: places in a dictionary, without a dictionary or without their width", errDamaged)
		}
		all := newRuns(body[1:], int(body[0]), n)
		k.places = &all
		return nil
	case encoding == format.RLE && kind == format.Boolean:
		body, _, err := lengthFirst(body)
		if err != nil {
			return err
		}
		if err := k.take(int64(n+7) / 8); err != nil {
			return err
		}
		v.bits = make([]byte, (n+7)/8)
		all := newRuns(body, 1, n)
		for i := range n {
			bit, err := all.next()
			if err != nil {
				return err
			}
			v.bits[i/8] |= byte(bit << (i % 8))
		}
		return nil
	case encoding == format.ByteStreamSplit && width > 0:
		if len(body)%width != 0 || len(body)/width != n {
			return fmt.Errorf("%w: %d bytes for %d values of %d bytes", errDamaged, len(body), n, width)
		}
		if err := k.take(int64(len(body))); err != nil {
			return err
		}
		v.fixed = make([]byte, len(body))
		for i := range body {
			v.fixed[i%n*width+i/n] = body[i]
		}
		return nil
	case encoding == format.DeltaBinaryPacked && (kind == format.Int32 || kind == format.Int64):
		d, err := newDeltas(body, n)
		if err == nil {
			err = k.take(int64(n) * int64(width))
		}
		if err != nil {
			return err
		}
		v.fixed, err = d.appendTo(make([]byte, 0, n*width), width)
		return err
	case encoding == format.DeltaLengthByteArray && kind == format.ByteArray:
		d, err := newDeltas(body, n)
		if err == nil {
			err = k.take(4 * int64(n+1))
		}
		if err != nil {
			return err
		}
		v.offsets = append(make([]uint32, 0, n+1), 0)
		end := int64(0)
		for range n {
			length, err := d.next()
			if err != nil {
				return err
			}
			if end += length; length < 0 || length > mostPage || end > int64(len(body)) {
				return fmt.Errorf("%w: a string of %d bytes in a page of %d", errDamaged, length, len(body))
			}
			v.offsets = append(v.offsets, uint32(end))
		}
		if end > int64(len(d.b)) {
			return fmt.Errorf("%w: strings of %d bytes, of which %d follow", errDamaged, end, len(d.b))
		}
		v.text = d.b[:end]
		return nil
	}
	return errEncoding
}

// widths are the bytes of a value of the types that have a width.
var widths = map[format.Type]int{format.Int32: 4, format.Int64: 8, format.Float: 4, format.Double: 8}

// plain reads n values that stand one after another.
func (k *chunk) plain(v *values, body []byte, n int) error {
	v.n = n
	if k.c.kind == format.FixedLenByteArray {
		return v.fixedLength(body, n, k.c.length)
	}
	if width := widths[k.c.kind]; width > 0 {
		if n > len(body)/width {
			return fmt.Errorf("%w: %d bytes for %d values of %d bytes", errDamaged, len(body), n, width)
		}
		v.fixed = body[:n*width]
		return nil
	}
	if k.c.kind == format.Boolean {
		if n > 8*len(body) {
			return fmt.Errorf("%w: %d bytes for %d booleans", errDamaged, len(body), n)
		}
		v.bits = body
		return nil
	}
	if n > len(body)/4 { // of the lengths alone
		return fmt.Errorf("%w: %d bytes for %d strings", errDamaged, len(body), n)
	}
	if err := k.take(int64(len(body)) + 4); err != nil {
		return err
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

// lengthFirst cuts bytes whose length comes first, in four bytes.
func lengthFirst(b []byte) (part, rest []byte, err error) {
	if len(b) < 4 {
		return nil, nil, fmt.Errorf("%w: %d bytes where a length of four should be", errDamaged, len(b))
	}
	n, b := little.Uint32(b), b[4:]
	part, rest, ok := stated.Cut(b, n)
	if !ok {
		return nil, nil, fmt.Errorf("%w: a length of %d bytes, where %d are left of the page", errDamaged, n, len(b))
	}
	return part, rest, nil
}

// plainDictionary is the name that older writers give to RLEDictionary.
const plainDictionary format.Encoding = 2
