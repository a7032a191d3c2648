package parquet

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"

	"github.com/starling-smc/starling/internal/numeral"
)

// codec is a way to pack pages.
type codec struct {
	most  int64                                // bytes that one byte can become: what claims more is damaged
	fills func(b, packed []byte) (bool, error) // unpacks packed, and reports whether it is just b; nil: nothing is packed
}

var codecs = map[format.CompressionCodec]codec{
	format.Uncompressed: {1, nil},
	format.Snappy: {32, func(b, packed []byte) (bool, error) {
		if n, err := snappy.DecodedLen(packed); err != nil || n != len(b) {
			return false, err
		}
		got, err := snappy.Decode(b, packed)
		return len(got) == len(b), err
	}},
	format.Gzip: {1040, func(b, packed []byte) (bool, error) {
		z, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			return false, err
		}
		if _, err := io.ReadFull(z, b); err != nil {
			return false, err
		}
		var more [1]byte
		n, err := io.ReadFull(z, more[:])
		if err == io.EOF {
			err = nil
		}
		return n == 0, err
	}},
	format.Zstd: {1 << 17, func(b, packed []byte) (bool, error) {
		got, err := unpackZstd().DecodeAll(packed, b[:0:len(b)])
		return len(got) == len(b), err
	}},
	format.Lz4Raw: {256, func(b, packed []byte) (bool, error) {
		n, err := lz4.UncompressBlock(packed, b)
		return n == len(b), err
	}},
}

// unpackZstd unpacks into the memory that it is given, and no more: a frame may claim a window of any size.
var unpackZstd = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxMemory(mostPage))
	if err != nil {
		panic(err) // of options, which are right
	}
	return d
})

// unpack unpacks bytes that take size bytes unpacked, at most mostPage.
func (c codec) unpack(packed []byte, size int) ([]byte, error) {
	switch {
	case size < 0 || int64(size) > mostPage:
		return nil, fmt.Errorf("a page of %d bytes: at most %s are read: write the file with smaller pages", size, numeral.Count(mostPage))
	case c.fills == nil && len(packed) != size, int64(size) > c.most*int64(len(packed)):
		return nil, fmt.Errorf("%w: a page claims %s bytes, and has %s", errDamaged, numeral.Count(size), numeral.Count(len(packed)))
	case c.fills == nil:
		return packed, nil
	case size == 0:
		return nil, nil
	}
	b := make([]byte, size)
	just, err := c.fills(b, packed)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: a page cannot be unpacked: %w", errDamaged, ended(err))
	case !just:
		return nil, fmt.Errorf("%w: a page claims %s bytes unpacked, and does not have so many", errDamaged, numeral.Count(size))
	}
	return b, nil
}
