// Package lock lets one process at a time work on something, by a lock file. The file exists and is locked as long as the
// work goes on. A process that is killed leaves a file that nobody has locked, and the next process takes it.
package lock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"

	"github.com/gofrs/flock"
)

// Lock is a file that this process holds locked. A nil Lock is not held.
type Lock struct{ file *flock.Flock }

// HeldError is the error of Take where another process has locked the file.
type HeldError struct {
	By string // "process 12", or "process unknown"
}

func (e *HeldError) Error() string { return "locked by " + e.By }

// Take makes the file and locks it. If another process holds it, the error is a *HeldError. The file contains the ID of the
// process that holds it.
func Take(path string) (*Lock, error) {
	l, err := try(flock.New(path))
	if errors.Is(err, errRemoved) { // its last owner removed it after it was opened here: the lock may be free now
		l, err = try(flock.New(path))
	}
	if errors.Is(err, errRemoved) {
		return nil, &HeldError{"process unknown"}
	}
	return l, err
}

// errRemoved is the error of try if the file was removed after it was opened.
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

// there reports whether a locked file is still the one at its path. Its last owner may have removed it after it was opened
// here, and another process may have made a new one since.
func there(file *flock.Flock) bool {
	mine, err := file.Stat()
	if err != nil {
		return false
	}
	other, err := os.Stat(file.Path())
	return err == nil && os.SameFile(mine, other)
}

// Held reports whether this process has the lock.
func (l *Lock) Held() bool { return l != nil && l.file.Locked() }

// Free removes the file and then releases the lock. In the other order the removed file could be another process's.
// Freeing it again does nothing.
func (l *Lock) Free() error {
	if !l.Held() {
		return nil
	}
	if runtime.GOOS != "windows" { // Windows cannot remove an open file
		os.Remove(l.file.Path())
		return l.file.Close()
	}
	err := l.file.Close()
	os.Remove(l.file.Path())
	return err
}
