// Package lock lets one process at a time work on something, by a lock file. The file exists and is locked as long as the
// work goes on. A process that is killed leaves a file that nobody has locked, and the next process takes it.
package lock

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"

	"github.com/gofrs/flock"

	"github.com/starling-smc/starling/internal/regular"
)

// Lock is a file that this process holds locked. A nil Lock is not held.
type Lock struct{ file *flock.Flock }

// HeldError is the error of Take where another process has locked the file.
type HeldError struct {
	By string // "process 12", or "process unknown"
}

func (e *HeldError) Error() string { return "locked by " + e.By }

// Take makes the file and locks it. If another process holds it, the error is a *HeldError. The file contains the ID of the
// process that holds it. A file at path that is no lock file, such as a link to somebody's text, is an error and stays as it
// is.
func Take(path string) (*Lock, error) {
	l, err := try(newFile(path))
	if errors.Is(err, errRemoved) { // its last owner removed it after it was opened here: the lock may be free now
		l, err = try(newFile(path))
	}
	if errors.Is(err, errRemoved) {
		return nil, &HeldError{"process unknown"}
	}
	return l, err
}

func newFile(path string) *flock.Flock {
	return flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR|regular.NoFollow))
}

// errRemoved is the error of try if the file was removed after it was opened.
var errRemoved = errors.New("removed")

func try(file *flock.Flock) (*Lock, error) {
	path := file.Path()
	if _, err := owner(path); errors.Is(err, errForeign) { // before it is opened to be locked
		return nil, err
	}
	locked, err := file.TryLock()
	if err != nil {
		return nil, fmt.Errorf("%s cannot be locked: %w", path, err)
	}
	if !locked || !there(file) {
		file.Close()
		pid, err := owner(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, errRemoved
		case errors.Is(err, errForeign):
			return nil, err
		case err != nil || pid == "":
			return nil, &HeldError{"process unknown"}
		}
		return nil, &HeldError{"process " + pid}
	}
	if err := sign(path); errors.Is(err, errForeign) {
		file.Close()
		return nil, err
	}
	return &Lock{file}, nil
}

// errForeign is the error for a file that was not written as a lock file.
var errForeign = errors.New("is no lock file of starling, and stays as it is: move it away")

// owner reads the process ID in a lock file. It is empty in a file that was just made.
func owner(path string) (pid string, err error) {
	f, err := regular.Create(path, os.O_RDONLY) // for reading, but not through a link
	if err != nil {
		return "", irregular(path, err)
	}
	defer f.Close()
	return read(f)
}

// sign writes this process's ID into a lock file. It serves only to name the process, so an error does not matter, unless the
// file is a foreign one.
func sign(path string) error {
	f, err := regular.Create(path, os.O_RDWR)
	if err != nil {
		return irregular(path, err)
	}
	defer f.Close()
	if _, err := read(f); err != nil {
		return err
	}
	pid := fmt.Append(nil, os.Getpid())
	if _, err := f.WriteAt(pid, 0); err != nil { // before the file is cut: whoever reads it meanwhile finds digits
		return err
	}
	return f.Truncate(int64(len(pid)))
}

// irregular makes an error of opening errForeign if path is a link, a pipe or the like.
func irregular(path string, err error) error {
	if errors.Is(err, regular.ErrIrregular) {
		return fmt.Errorf("%w: this %w", err, errForeign)
	}
	return err
}

// read reads the content of a lock file: nothing or a process ID.
func read(f *os.File) (pid string, err error) {
	const most = 20 // digits
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return "", err
	}
	if pid = string(text); len(pid) > most || strings.Trim(pid, "0123456789") != "" {
		return "", fmt.Errorf("%s %w", f.Name(), errForeign)
	}
	return pid, nil
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
