package data

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"

	"github.com/starling-smc/starling/internal/cells"
)

// The library allocates what pages claim: the size that they unpack to, the length of a run of equal values, the number of values. A
// few bytes could claim all memory, and running out of it is no panic. So a column of a row group is walked over first, a page at a
// time, and what its pages claim is compared with what they hold.

const (
	mostPage  = 256 << 20 // bytes of a page, unpacked
	fewValues = 4 << 20   // values of a page that any file may have: a column that hardly changes takes almost no bytes
)

// checkGroups checks what a file says of its row groups.
func checkGroups(p *parquetFile) error {
	rows := int64(0)
	for g, group := range p.file.Metadata().RowGroups {
		if group.NumRows < 0 || group.NumRows > 1<<40 {
			return fmt.Errorf("row group %d claims %d rows", g, group.NumRows)
		}
		rows += group.NumRows
		for _, c := range p.columns {
			if c.leaf == nil {
				continue
			}
			if c.leaf.Index() >= len(group.Columns) {
				return fmt.Errorf("row group %d lacks column %s", g, cells.Clip(c.name))
			}
			m := &group.Columns[c.leaf.Index()].MetaData
			if m.NumValues != group.NumRows {
				return fmt.Errorf("row group %d has %d rows, and %d values of column %s", g, group.NumRows, m.NumValues, cells.Clip(c.name))
			}
			if codecs[m.Codec] == nil {
				return fmt.Errorf("column %s is packed with %v: write the file with snappy, zstd or gzip", cells.Clip(c.name), m.Codec)
			}
			if from, _ := pagesOf(m); from < 0 || m.TotalCompressedSize < 0 || from > p.size || m.TotalCompressedSize > p.size-from {
				return fmt.Errorf("the file ends early: row group %d has column %s beyond its end", g, cells.Clip(c.name))
			}
		}
	}
	if said := p.file.Metadata().NumRows; said != rows {
		return fmt.Errorf("says that it has %d rows, and its row groups have %d", said, rows)
	}
	return nil
}

// pagesOf returns where the pages of a column of a row group begin, and their bytes.
func pagesOf(m *format.ColumnMetaData) (from, n int64) {
	if m.DictionaryPageOffset != 0 {
		return m.DictionaryPageOffset, m.TotalCompressedSize
	}
	return m.DataPageOffset, m.TotalCompressedSize
}

// checkPages walks over the pages of a column of a row group.
func (p *parquetFile) checkPages(group int, c *parquetColumn) error {
	g := &p.file.Metadata().RowGroups[group]
	m := &g.Columns[c.leaf.Index()].MetaData
	from, n := pagesOf(m)
	r := bufio.NewReaderSize(io.NewSectionReader(p.raw, from, n), parquetBuffer)
	most := max(fewValues, min(1<<26, parquetRatio*p.size))
	var page pageHeader
	for values := int64(0); values < g.NumRows; values += page.values() {
		if err := page.read(r); err != nil {
			return err
		}
		switch {
		case page.packed < 0 || page.packed > n:
			return errors.New("the file ends early: a page goes beyond its column")
		case page.size < 0 || page.size > mostPage:
			return fmt.Errorf("a page of %d bytes: at most %d are read: write the file with smaller pages", page.size, int64(mostPage))
		case page.values() < 0 || page.values() > min(most, g.NumRows-values):
			return fmt.Errorf("a page claims %d values", page.values())
		}
		body := make([]byte, page.packed)
		if _, err := io.ReadFull(r, body); err != nil {
			return ended(err)
		}
		if err := page.check(body, codecs[m.Codec], c.leaf.MaxDefinitionLevel() > 0); err != nil {
			return err
		}
	}
	return nil
}

// pageHeader holds the numbers of a page's header.
type pageHeader struct {
	kind         format.PageType
	size, packed int64            // bytes, unpacked and in the file
	of           map[[2]int]int64 // the fields of the header of its kind
}

// The fields of the headers of each kind, in parquet.thrift.
const (
	dataV1, dictionary, dataV2 = 5, 7, 8
	fieldValues                = 1
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
		default:
			h.of[path] = v
		}
	}}
	return t.structure(0)
}

// values is the number of rows of a page; 0 for a dictionary.
func (h *pageHeader) values() int64 {
	switch h.kind {
	case format.DataPage:
		return h.of[[2]int{dataV1, fieldValues}]
	case format.DataPageV2:
		return h.of[[2]int{dataV2, fieldValues}]
	}
	return 0
}

// check compares what a page claims with its bytes. With nulls there are definition levels, which say where they are.
func (h *pageHeader) check(body []byte, unpack codec, nulls bool) (err error) {
	n := uint64(h.values())
	var levels []byte
	switch h.kind {
	case format.DataPage:
		if body, err = unpack(body, int(h.size)); err != nil {
			return err
		}
		if nulls {
			if h.of[[2]int{dataV1, 3}] != int64(format.RLE) {
				return errEncoding
			}
			if levels, body, err = lengthFirst(body); err != nil {
				return err
			}
		}
	case format.DataPageV2:
		definition, repetition := h.of[[2]int{dataV2, 5}], h.of[[2]int{dataV2, 6}]
		if definition < 0 || repetition != 0 || definition > int64(len(body)) || definition > h.size {
			return errDamaged
		}
		levels, body = body[:definition], body[definition:]
		if h.of[[2]int{dataV2, 7}] != 0 {
			if body, err = unpack(body, int(h.size-definition)); err != nil {
				return err
			}
		}
	case format.DictionaryPage:
		body, err = unpack(body, int(h.size))
		if claimed := h.of[[2]int{dictionary, fieldValues}]; err == nil && (claimed < 0 || claimed > 8*int64(len(body))) {
			err = errDamaged
		}
		return err
	default:
		return fmt.Errorf("a page of the kind %v", h.kind)
	}
	if err := checkRuns(levels, 1, n); err != nil {
		return err
	}
	encoding := h.of[[2]int{dataV1, 2}]
	if h.kind == format.DataPageV2 {
		encoding = h.of[[2]int{dataV2, 4}]
	}
	check := encodings[format.Encoding(encoding)]
	if check == nil {
		return errEncoding
	}
	return check(body, n)
}

var (
	errDamaged  = errors.New("the Parquet file is damaged")
	errEncoding = errors.New("its values are encoded in a way that is not read: write the file with the encodings PLAIN or RLE_DICTIONARY, the usual ones")
)

// encodings check that bytes hold at most n values, of each encoding that is read.
var encodings = map[format.Encoding]func(b []byte, n uint64) error{
	format.Plain:           func([]byte, uint64) error { return nil },
	format.ByteStreamSplit: func([]byte, uint64) error { return nil },
	format.PlainDictionary: checkIndices,
	format.RLEDictionary:   checkIndices,
	format.RLE: func(b []byte, n uint64) error {
		b, _, err := lengthFirst(b)
		if err != nil {
			return err
		}
		return checkRuns(b, 1, n)
	},
	format.DeltaBinaryPacked:    checkDeltas,
	format.DeltaLengthByteArray: checkDeltas,
}

// checkIndices checks places in a dictionary, whose number of bits comes first.
func checkIndices(b []byte, n uint64) error {
	if len(b) == 0 {
		return nil
	}
	if b[0] > 32 {
		return errDamaged
	}
	return checkRuns(b[1:], int(b[0]), n)
}

// checkRuns checks that runs of equal values and packed values, each of some bits, are at most n, which packing rounds up to eights.
func checkRuns(b []byte, bits int, n uint64) error {
	for left := n + 7; len(b) > 0; {
		head, k := binary.Uvarint(b)
		if k <= 0 {
			return errDamaged
		}
		count, bytes := head>>1, uint64(bits+7)/8
		if head&1 != 0 {
			if count > n { // eights of values
				return errDamaged
			}
			count, bytes = 8*count, count*uint64(bits)
		}
		if b = b[k:]; count > left || bytes > uint64(len(b)) {
			return errDamaged
		}
		b, left = b[bytes:], left-count
	}
	return nil
}

// checkDeltas checks the header of numbers in the form of differences: the values of a block, the parts of a block, all values.
func checkDeltas(b []byte, n uint64) error {
	if len(b) == 0 {
		return nil
	}
	for _, most := range []uint64{1 << 16, 1 << 10, n} {
		v, k := binary.Uvarint(b)
		if k <= 0 || v > most {
			return errDamaged
		}
		b = b[k:]
	}
	return nil
}

// lengthFirst cuts bytes whose length comes first, in four bytes.
func lengthFirst(b []byte) (part, rest []byte, err error) {
	if len(b) < 4 || uint64(little.Uint32(b)) > uint64(len(b)-4) {
		return nil, nil, errDamaged
	}
	end := 4 + int(little.Uint32(b))
	return b[4:end], b[end:], nil
}

// codec unpacks bytes that take size bytes unpacked.
type codec func(packed []byte, size int) ([]byte, error)

var codecs = map[format.CompressionCodec]codec{
	format.Uncompressed: func(packed []byte, size int) ([]byte, error) {
		if len(packed) != size {
			return nil, errDamaged
		}
		return packed, nil
	},
	format.Snappy: func(packed []byte, size int) ([]byte, error) {
		if n, err := snappy.DecodedLen(packed); err != nil || n != size {
			return nil, errDamaged
		}
		return snappy.Decode(nil, packed)
	},
	format.Gzip: streamed(func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }),
	format.Zstd: streamed(func(r io.Reader) (io.Reader, error) {
		d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(mostPage), zstd.WithDecoderMaxWindow(mostPage))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	}),
	format.Brotli: streamed(func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil }),
	format.Lz4Raw: func(packed []byte, size int) ([]byte, error) {
		b := make([]byte, size)
		if n, err := lz4.UncompressBlock(packed, b); err != nil || n != size {
			return nil, errDamaged
		}
		return b, nil
	},
}

// streamed is the codec of a format that is read as a stream, of which no more than the size is unpacked.
func streamed(open func(io.Reader) (io.Reader, error)) codec {
	return func(packed []byte, size int) ([]byte, error) {
		if size == 0 {
			return nil, nil
		}
		r, err := open(bytes.NewReader(packed))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errDamaged, err)
		}
		if c, ok := r.(io.Closer); ok {
			defer c.Close()
		}
		b, err := io.ReadAll(io.LimitReader(r, int64(size)+1))
		if err != nil || len(b) != size {
			return nil, errDamaged
		}
		return b, nil
	}
}
