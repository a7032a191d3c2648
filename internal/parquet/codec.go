package parquet

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

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
