// Package lock keeps other processes away from what one is at work on, by a file beside it that is there, and locked, as
// long as the work goes on. A process that is killed leaves a file that nobody has locked: the next one takes it.
package lock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"

	"github.com/gofrs/flock"
)

// Lock is a file that this process has locked. A nil Lock is not held.
type Lock struct{ file *flock.Flock }

// HeldError is that of a file which another has locked.
type HeldError struct {
	By string // process 12, or process unknown
}

func (e *HeldError) Error() string { return "locked by " + e.By }

// Take makes the file and locks it; where another has it, the error is a *HeldError. The file holds the number of this
// process, to say who has it.
func Take(path string) (*Lock, error) {
	l, err := try(flock.New(path))
	if errors.Is(err, errRemoved) { // by its last owner, after it was opened here: nobody may have it now
		l, err = try(flock.New(path))
	}
	if errors.Is(err, errRemoved) {
		return nil, &HeldError{"process unknown"}
	}
	return l, err
}

// errRemoved is try's error where the file was opened and is not there any more.
var errRemoved = errors.New("removed")

func try(file *flock.Flock) (*Lock, error) {
	path := file.Path()
	locked, err := file.TryLock()
	if err != nil {
		return nil, fmt.Errorf("%s cannot be locked: %w", path, err)
	}
	if !locked || !there(file) {
		file.Close()
		pid, err := os.ReadFile(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, errRemoved
		case err != nil || len(pid) == 0:
			return nil, &HeldError{"process unknown"}
		}
		return nil, &HeldError{"process " + string(pid)}
	}
	os.WriteFile(path, fmt.Append(nil, os.Getpid()), 0o666) // only to name the process: an error does not matter
	return &Lock{file}, nil
}

// there says that a file that is locked is the one at its path: its last owner may have removed it after it was opened here,
// and another made one since.
func there(file *flock.Flock) bool {
	mine, err := file.Stat()
	if err != nil {
		return false
	}
	other, err := os.Stat(file.Path())
	return err == nil && os.SameFile(mine, other)
}

// Held says that this process has the lock.
func (l *Lock) Held() bool { return l != nil && l.file.Locked() }

// Free removes the file and gives the lock free, in this order: a file that is removed after that could be another's.
// Freeing it again does nothing.
func (l *Lock) Free() error {
	if !l.Held() {
		return nil
	}
	if runtime.GOOS != "windows" { // where a file that is open, this one's or another's, cannot be removed
		os.Remove(l.file.Path())
		return l.file.Close()
	}
	err := l.file.Close()
	os.Remove(l.file.Path())
	return err
}
