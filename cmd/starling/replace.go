package main

import (
	"errors"
	"io/fs"

	"github.com/starling-smc/starling/internal/regular"
)

// written is a kind of file that starling writes where it is told to. ours tells such a file by its beginning.
type written struct {
	what string // in words
	ours func(beginning []byte) bool
}

// checkNew refuses the value of a flag as checkFile does, and a file that is there already unless it is empty or starling wrote
// it for the same purpose: everything else could be lost by a slip of the hand. force replaces any file.
func checkNew(flag, out string, kind written, force bool) error {
	if err := checkFile(flag, out); err != nil || force {
		return err
	}
	f, err := regular.Open(out)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return wrongUse("%s %s: %w", flag, out, err)
	}
	defer f.Close()
	beginning := make([]byte, min(f.Size(), 1<<20))
	if _, err := f.ReadAt(beginning, 0); err != nil {
		return wrongUse("%s %s: %w", flag, out, err)
	}
	if len(beginning) == 0 || kind.ours(beginning) {
		return nil
	}
	return wrongUse("%s %s exists, and is not %s: name another file, or replace it with --force", flag, out, kind.what)
}
