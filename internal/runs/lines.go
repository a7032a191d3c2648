package runs

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"iter"

	"github.com/starling-smc/starling/internal/regular"
)

// A run of a kind that Streams may have any number of steps. The lines of its trace are on the disk alone, and are read one after another.

// Lines are the lines of a trace, one after another. The first error ends them.
type Lines = iter.Seq2[TraceLine, error]

// linesOf reads the lines of an open phase: the steps of one part in order. Steps before the first of them may be lacking.
func linesOf(text io.Reader) Lines {
	return func(yield func(TraceLine, error) bool) {
		in := bufio.NewReaderSize(text, 1<<16)
		var last TraceLine
		for n := 1; ; n++ {
			line, err := in.ReadBytes('\n')
			if err == io.EOF && len(line) == 0 {
				return
			}
			if err != nil && err != io.EOF {
				yield(TraceLine{}, err)
				return
			}
			var l TraceLine
			if err := l.UnmarshalJSON(bytes.TrimSuffix(line, []byte("\n"))); err != nil {
				yield(TraceLine{}, fmt.Errorf("line %d: %w", n, err))
				return
			}
			if l.Part != 0 || l.K < 1 || n > 1 && l.K != last.K+1 {
				yield(TraceLine{}, fmt.Errorf("line %d is k %d of island %d, after k %d: lines are missing, or too many", n, l.K, l.Part, last.K))
				return
			}
			if last = l; !yield(l, nil) {
				return
			}
		}
	}
}

// lineAt is the place of a step's line in a trace's file.
func lineAt(path string, step int) (int64, error) {
	file, err := regular.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	in, at := bufio.NewReaderSize(file, 1<<16), int64(0)
	for {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
		var l TraceLine
		if err := l.UnmarshalJSON(bytes.TrimSuffix(line, []byte("\n"))); err != nil {
			return 0, err
		}
		if l.K >= step {
			return at, nil
		}
		at += int64(len(line))
	}
}

// copyOf copies the bytes of a file between two places.
func copyOf(w io.Writer, path string, from, to int64) error {
	file, err := regular.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	n, err := io.Copy(w, io.NewSectionReader(file, from, to-from))
	if err == nil && n < to-from {
		err = io.ErrUnexpectedEOF
	}
	return err
}
