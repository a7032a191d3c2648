package scans

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/starling-smc/starling/internal/cells"
	"github.com/starling-smc/starling/internal/formats"
)

// plain returns a text as it is, or unpacked if it begins as gzip does. A mark of byte order at its beginning is left out. A text that
// begins as another format does, or as UTF-16, is refused by its name.
func plain(r io.Reader) (*bufio.Reader, error) {
	text, where := bufio.NewReaderSize(r, 64<<10), ""
	if magic, _ := text.Peek(2); string(magic) == gzipMagic {
		z, err := gzip.NewReader(text)
		if err != nil {
			return nil, damaged(err)
		}
		z.Multistream(false)
		text, where = bufio.NewReaderSize(&unpacker{packed: text, z: z}, 64<<10), "gzip of "
		if magic, _ := text.Peek(2); string(magic) == gzipMagic {
			return nil, errors.New("the text is packed with gzip twice: unpack it once first (gzip -d FILE)")
		}
	}
	if mark, _ := text.Peek(3); string(mark) == "\ufeff" {
		_, err := text.Discard(3)
		return text, err
	}
	if what, remedy := foreign(text); what != "" {
		return nil, fmt.Errorf("the text is %s%s: %s", where, what, remedy)
	}
	return text, nil
}

const gzipMagic = "\x1f\x8b"

// foreign says what a text is, and what to do, if it begins as no JSON and no CSV does. It waits for no more of a text than its first
// byte, unless that is none of a text.
func foreign(text *bufio.Reader) (what, remedy string) {
	text.Peek(1)
	head, _ := text.Peek(min(text.Buffered(), 512)) // what has arrived
	if n := len(head); n > 0 && n < 8 && (head[0] >= 0x80 || head[0] < '\t') {
		head, _ = text.Peek(8)
	}
	if start := bytes.TrimLeft(head, " \t\r\n"); len(start) == 0 || start[0] == '[' || start[0] == '{' && (len(head) < 2 || head[1] != 0) { // the readers of both say more
		return "", ""
	}
	what, remedy, _ = formats.Foreign(head)
	return what, remedy
}

// unpacker reads the members of a gzip text one after another. It waits for the next member only when all of the one before was
// read: a sender may pack each scan by itself. Zeros may follow the last member, as gzip allows.
type unpacker struct {
	packed *bufio.Reader
	z      *gzip.Reader
	ended  bool // the member
}

func (u *unpacker) Read(p []byte) (int, error) {
	for { // a member may be empty
		if u.ended {
			if err := u.next(); err != nil {
				return 0, err
			}
		}
		n, err := u.z.Read(p)
		if err == io.EOF {
			u.ended, err = true, nil
		}
		if n > 0 || err != nil || len(p) == 0 {
			return n, damaged(err)
		}
	}
}

// next goes to the next member; io.EOF after the last.
func (u *unpacker) next() error {
	for {
		head, err := u.packed.Peek(1)
		if err != nil {
			return err
		}
		if head[0] != 0 {
			break
		}
		u.packed.Discard(1)
	}
	if head, err := u.packed.Peek(2); string(head) != gzipMagic {
		if err != nil && err != io.EOF {
			return err
		}
		return u.follows()
	}
	if err := u.z.Reset(u.packed); err != nil {
		return damaged(err)
	}
	u.z.Multistream(false)
	u.ended = false
	return nil
}

// follows is the error of what follows the members and is none.
func (u *unpacker) follows() error {
	head, _ := u.packed.Peek(min(max(u.packed.Buffered(), 8), 512))
	line, _, _ := bytes.Cut(head, []byte("\n"))
	what := "bytes that are no gzip, which begin with " + cells.Quote(line)
	if kind, _, ok := formats.Foreign(head); ok && kind != "JSON" {
		what = kind
	} else if !bytes.ContainsFunc(head, func(r rune) bool { return r < ' ' && r != '\t' && r != '\r' && r != '\n' || r == '\ufffd' }) {
		what = "plain text, " + cells.Quote(line)
	}
	return fmt.Errorf("after the end of the compressed text comes %s: remove it, or compress it, too", what)
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
