package data

import (
	"bytes"
	"fmt"
	"io"

	"github.com/starling-smc/starling/internal/parquet"
)

// tableText is the text of a table, which can be read again from its beginning: the bytes of a file, what gzip packed in them, or a
// Parquet file as the CSV that it would be. Whoever reads it need not know which.
type tableText struct {
	name string
	raw  io.ReaderAt
	size int // of the file
	kind textKind
	p    *parquet.File // of a Parquet file
}

type textKind int

// parquetRatio is gzipRatio of Parquet, which packs a column that hardly changes to almost nothing.
const parquetRatio = 1024

const (
	plainText textKind = iota
	gzipText
	parquetText
)

// newText looks at the first bytes of a file. o says which columns of a Parquet file are left out: their types do not matter.
func newText(name string, raw io.ReaderAt, size int, o CSV) (*tableText, error) {
	t := &tableText{name: name, raw: raw, size: size}
	var head [4]byte
	n, _ := raw.ReadAt(head[:], 0) // a short file is a text
	switch {
	case bytes.HasPrefix(head[:n], []byte("\x1f\x8b")):
		t.kind = gzipText
	case parquet.Is(head[:n]):
		t.kind = parquetText
		var err error
		t.p, err = openParquet(name, raw, size, o)
		return t, err
	}
	return t, nil
}

// open begins to read the text.
func (t *tableText) open() (io.Reader, error) {
	file := io.NewSectionReader(t.raw, 0, int64(t.size))
	switch t.kind {
	case parquetText:
		return t.p.Text(), nil
	case gzipText:
		s, err := newSource(t.name, file, t.size)
		return &unpacked{s}, err
	}
	return file, nil
}

// unpacked reads what gzip packed. A damaged file, or one that ends early, does not end like a text that is whole.
type unpacked struct{ s *source }

func (u *unpacked) Read(b []byte) (int, error) {
	n, err := u.s.r.Read(b)
	u.s.at += n
	if err != nil && err != io.EOF {
		where := fmt.Errorf("byte %d after unpacking: %w", u.s.at, ended(err)) // the file's name comes before it
		return n, where
	}
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
		return nil, false, fmt.Errorf("%s: %w", t.name, err)
	}
	_, err = io.ReadFull(r, make([]byte, 1))
	return head, err == nil, nil
}

// most is the largest size of a text that becomes a table in memory.
func (t *tableText) most() int {
	switch t.kind {
	case gzipText:
		return max(gzipRatio*t.size, gzipFloor)
	case parquetText:
		return max(parquetRatio*t.size, gzipFloor)
	}
	return t.size
}

// estimate is about the size of the text: what gzip says of its last member.
func (t *tableText) estimate() int {
	if t.kind != gzipText {
		return t.size
	}
	var last [4]byte
	if _, err := t.raw.ReadAt(last[:], int64(t.size-len(last))); err != nil {
		return t.size
	}
	return max(t.size, min(int(little.Uint32(last[:])), t.most()))
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
			return 0, 0, fmt.Errorf("%s: %w", t.name, err)
		case size > t.most():
			return 0, 0, fmt.Errorf("%s: more than %s bytes of text in a packed file of %s bytes (if that is right, save the table as a plain CSV)",
				t.name, thousands(uint64(t.most())), thousands(uint64(t.size)))
		}
	}
}
