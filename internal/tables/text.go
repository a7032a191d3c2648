package tables

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/packed"
	"github.com/starling-smc/starling/internal/parquet"
	"github.com/starling-smc/starling/internal/regular"
	"github.com/starling-smc/starling/internal/stated"
)

// tableText is the text of a table, which can be read again from its beginning: the bytes of a file, what gzip packed in them, or a
// Parquet file as the CSV that it would be. Whoever reads it need not know which.
type tableText struct {
	name   string
	raw    io.ReaderAt
	size   int           // of the file
	packed bool          // with gzip
	p      *parquet.File // of a Parquet file; nil: it is another
	read   int           // bytes of the file so far, of the present pass over it
}

// parquetRatio is packed.Ratio of Parquet, which packs a column that hardly changes to almost nothing.
const parquetRatio = 1024

// open begins to read the text.
func (t *tableText) open() (io.Reader, error) {
	if t.p != nil {
		return regular.Heard(context.Background(), t.p.Text()), nil
	}
	t.read = 0
	file := &counted{*io.NewSectionReader(t.raw, 0, int64(t.size)), &t.read}
	if t.packed {
		return packed.New(t.name, file, t.size)
	}
	return file, nil
}

// counted counts the bytes that are read.
type counted struct {
	io.SectionReader
	n *int
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.SectionReader.Read(b)
	*c.n += n
	return n, err
}

// head returns the beginning of the text, at most n bytes, and whether more follows.
func (t *tableText) head(n int) (head []byte, more bool, err error) {
	r, err := t.open()
	if err != nil {
		return nil, false, err
	}
	head = make([]byte, min(n, t.most()))
	k, err := io.ReadFull(r, head)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return head[:k], false, nil
	}
	if err != nil {
		return nil, false, t.named(err)
	}
	_, err = io.ReadFull(r, make([]byte, 1))
	return head, err == nil, nil
}

// most is the largest size of a text that becomes a table in memory.
func (t *tableText) most() int {
	switch {
	case t.packed:
		return max(packed.Ratio*t.size, packed.Floor)
	case t.p != nil:
		return max(parquetRatio*t.size, packed.Floor)
	}
	return t.size
}

// estimate is about the size of the text: what gzip says of its last member.
func (t *tableText) estimate() int {
	if !t.packed {
		return t.size
	}
	var last [4]byte
	if _, err := t.raw.ReadAt(last[:], int64(t.size-len(last))); err != nil {
		return t.size
	}
	n, _ := stated.Int(binary.LittleEndian.Uint32(last[:]), t.most())
	return max(t.size, n)
}

// lines returns a number that is at least the number of lines, and the bytes of the text. A packed text that becomes a table in
// memory may not be out of proportion to its file.
func (t *tableText) lines(window int) (lines, size int, err error) {
	r, err := t.open()
	if err != nil {
		return 0, 0, err
	}
	lines = 1
	for buf := make([]byte, window); ; {
		k, err := r.Read(buf)
		lines += bytes.Count(buf[:k], []byte("\n")) + bytes.Count(buf[:k], []byte("\r")) - bytes.Count(buf[:k], []byte("\r\n"))
		size += k
		switch {
		case err == io.EOF:
			return lines, size, nil
		case err != nil:
			return 0, 0, t.named(err)
		case size > t.most():
			return 0, 0, fmt.Errorf("%s: more than %s bytes of text in a packed file of %s bytes (if that is right, save the table as a plain CSV)",
				t.name, numeral.Count(t.most()), numeral.Count(t.size))
		}
	}
}

// named puts the file's name before an error.
func (t *tableText) named(err error) error {
	var cell *CellError
	if errors.As(err, &cell) {
		cell.Row = t.p != nil
	}
	var ambiguous *AmbiguousError
	if err == nil || errors.As(err, &ambiguous) { // which names the file itself
		return err
	}
	return fmt.Errorf("%s: %w", t.name, err)
}
