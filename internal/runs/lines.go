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

// Lines reads the trace of an open phase that has ended. A run without a folder has no lines: its Watch has seen them.
func (r *Run) Lines() Lines {
	return func(yield func(TraceLine, error) bool) {
		if r.keep == nil {
			return
		}
		r.keep.lines(yield)
	}
}

// lines reads the trace so far, which must be as this process wrote it.
func (k *keeper) lines(yield func(TraceLine, error) bool) {
	path := k.folder.path(traceFile)
	file, err := regular.Open(path)
	if err != nil {
		yield(TraceLine{}, err)
		return
	}
	defer file.Close()
	read := newSumming()
	for l, err := range linesOf(io.TeeReader(file, read)) {
		if err != nil {
			yield(TraceLine{}, fmt.Errorf("%s: %w", path, err))
			return
		}
		if !yield(l, nil) {
			return
		}
	}
	if read.sum() != k.traced.sum() {
		yield(TraceLine{}, &DamagedError{fmt.Errorf("%s: another process has written to it; begin anew in another folder", path)})
	}
}

// Lines reads the trace of a run that Streams. That it is as the run wrote it is known when the last line was read: then the error is a
// *DamagedError, as of File.
func (r *Record) Lines() Lines {
	return func(yield func(TraceLine, error) bool) {
		ended := false
		err := r.Open([]string{traceFile}, func(files []*Large) error {
			for l, err := range linesOf(io.NewSectionReader(files[0], 0, files[0].Size())) {
				if err != nil {
					return r.damaged(fmt.Errorf("%s: %w", r.path(traceFile), err))
				}
				if ended = !yield(l, nil); ended {
					return nil
				}
			}
			return nil
		})
		if err != nil && !ended {
			yield(TraceLine{}, err)
		}
	}
}

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
