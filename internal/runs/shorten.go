package runs

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"

	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/regular"
)

// openTrace opens the trace's file: an empty one, or the one that the run goes on with, cut back to the checkpoint. A file that has another
// name as well, such as a copy by links, is left to that name.
func (k *keeper) openTrace() (err error) {
	path := k.folder.path(traceFile)
	if k.begun == nil {
		k.traced = newSumming()
		if err := ckpt.WriteFile(path, nil); err != nil {
			return err
		}
		return k.reopen()
	}
	k.traced = k.begun.summing
	k.begun = nil
	if err := k.reopen(); err == nil {
		return os.Truncate(path, k.traced.bytes)
	} else if !errors.Is(err, regular.ErrIrregular) {
		return err
	}
	if err := ckpt.Replace(path, "", func(w io.Writer) error { return copyOf(w, path, 0, k.traced.bytes) }); err != nil {
		return err
	}
	return k.reopen()
}

// reopen opens the trace's file to write on.
func (k *keeper) reopen() (err error) {
	if err := k.close(); err != nil {
		return err
	}
	k.trace, err = regular.Create(k.folder.path(traceFile), os.O_APPEND|os.O_WRONLY)
	return err
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

// leastShortened is the size below which a trace is not made shorter.
const leastShortened = 1 << 20

// shorten removes the lines that are not needed, when the trace has become twice as long as it was after the last time, so that the work
// is in proportion to the lines. The trace is replaced by a shorter one whole. Two checkpoints are written before that, which go on from the
// longer one as well as from the shorter: whatever moment the process is killed at, the run goes on from both.
func (k *keeper) shorten(now bool) error {
	if k.first == nil || !now && k.traced.bytes < k.longest {
		return nil
	}
	from, err := k.first(k.lines)
	if err == nil {
		err = k.cutBefore(from)
	}
	if err != nil {
		k.failed = saving(err)
		return k.failed
	}
	k.longest = max(2*k.traced.bytes, k.least)
	return nil
}

// cutBefore removes the lines of the steps before one.
func (k *keeper) cutBefore(step int) error {
	at, err := k.lineAt(step)
	if err != nil || at == 0 {
		return err
	}
	path, rest := k.folder.path(traceFile), newSumming()
	err = ckpt.Replace(path, "", func(w io.Writer) error {
		if err := copyOf(io.MultiWriter(w, rest), path, at, k.traced.bytes); err != nil {
			return err
		}
		return errors.Join(k.write(rest.sum()), k.write(rest.sum()), k.close()) // closed: a system may not replace a file that is open
	})
	if err != nil {
		return err
	}
	k.traced = rest
	return k.reopen()
}

// lineAt is the place of a step's line in the trace's file.
func (k *keeper) lineAt(step int) (int64, error) {
	file, err := regular.Open(k.folder.path(traceFile))
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
