package runs

import (
	"bytes"
	"io"

	"github.com/starling-smc/starling/internal/regular"
)

// beginning is what is known of the trace's file up to a checkpoint.
type beginning struct {
	*summing
	last lastLine
}

// begins reads as many bytes of a file as the sum has; nil if they are others.
func begins(path string, s sum) (*beginning, error) {
	file, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	b := &beginning{summing: newSumming()}
	if s.bytes < 0 || s.bytes > file.Size() {
		return nil, nil
	}
	if _, err := io.Copy(io.MultiWriter(b.summing, &b.last), io.NewSectionReader(file, 0, s.bytes)); err != nil {
		return nil, err
	}
	if b.sum() != s {
		return nil, nil
	}
	return b, nil
}

// lastLine keeps the last whole line of the text that is written to it.
type lastLine struct{ whole, rest []byte }

func (l *lastLine) Write(b []byte) (int, error) {
	n := len(b)
	if end := bytes.LastIndexByte(b, '\n'); end >= 0 {
		begin := bytes.LastIndexByte(b[:end], '\n') + 1
		if l.whole = l.whole[:0]; begin == 0 {
			l.whole = append(l.whole, l.rest...)
		}
		l.whole = append(l.whole, b[begin:end]...)
		l.rest, b = l.rest[:0], b[end+1:]
	}
	l.rest = append(l.rest, b...)
	return n, nil
}
