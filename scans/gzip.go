package scans

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// plain returns a text as it is, or unpacked if it begins as gzip does. A mark of byte order at its beginning is left out.
func plain(r io.Reader) (*bufio.Reader, error) {
	text := bufio.NewReaderSize(r, 64<<10)
	if magic, _ := text.Peek(2); string(magic) == "\x1f\x8b" {
		z, err := gzip.NewReader(text)
		if err != nil {
			return nil, damaged(err)
		}
		z.Multistream(false)
		text = bufio.NewReaderSize(&unpacker{packed: text, z: z}, 64<<10)
	}
	if mark, _ := text.Peek(3); string(mark) == "\ufeff" {
		_, err := text.Discard(3)
		return text, err
	}
	return text, nil
}

// unpacker reads the members of a gzip text one after another. It waits for the next member only when all of the one before was
// read: a sender may pack each scan by itself.
type unpacker struct {
	packed *bufio.Reader
	z      *gzip.Reader
	ended  bool // the member
}

func (u *unpacker) Read(p []byte) (int, error) {
	if u.ended {
		if _, err := u.packed.Peek(1); err != nil {
			return 0, err
		}
		if err := u.z.Reset(u.packed); err != nil {
			return 0, damaged(err)
		}
		u.z.Multistream(false)
		u.ended = false
	}
	n, err := u.z.Read(p)
	if err == io.EOF {
		u.ended, err = true, nil
	}
	return n, damaged(err)
}

// damaged says what is wrong with a gzip text. Errors of reading it stay as they are.
func damaged(err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("gzip: the compressed text ends early: it was cut off")
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.As(err, &corrupt):
		return fmt.Errorf("the compressed text is damaged: %w", err)
	}
	return err
}
