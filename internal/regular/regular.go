// Package regular opens regular files and nothing else: a pipe or a device could block, or never end. A file that is to be
// written is never opened through a symbolic link, which may lead anywhere.
package regular

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// File is a regular file that is open for reading.
type File struct {
	*os.File
	info fs.FileInfo // when it was opened
}

// Open opens a regular file for reading. A symbolic link is followed.
func Open(path string) (*File, error) {
	if info, err := os.Stat(path); err != nil { // before it is opened: to open a device can set it going
		return nil, fmt.Errorf("%s: %w", path, cause(err))
	} else if !info.Mode().IsRegular() {
		return nil, irregular(path, info)
	}
	f, info, err := open(path, os.O_RDONLY|nonblock)
	if err != nil {
		return nil, err
	}
	return &File{f, info}, nil
}

// cause is an error about a path without the name of the system call, which says nothing to a user.
func cause(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// Create opens a regular file for writing. flag is as in os.OpenFile; with os.O_CREATE the file is made if it is missing. A
// symbolic link at path is an error, and so is a file that has another name: whoever wrote to it would change a file elsewhere.
func Create(path string, flag int) (*os.File, error) {
	if info, err := os.Lstat(path); err == nil { // before it is opened, which may empty it
		if err := own(path, info); err != nil {
			return nil, err
		}
	}
	f, info, err := open(path, flag|NoFollow|nonblock)
	if err == nil {
		if err = own(path, info); err != nil {
			f.Close()
		}
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// own returns an error if what is described is not a regular file with one name.
func own(path string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return irregular(path, info)
	}
	if n := names(info); n > 1 {
		return fmt.Errorf("%s: %w but one of %d hard links to a file", path, ErrIrregular, n)
	}
	return nil
}

// open returns an open file and its description, which is of the file that was opened even if path has changed since.
func open(path string, flag int) (*os.File, fs.FileInfo, error) {
	f, err := os.OpenFile(path, flag, 0o666)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = irregular(path, info)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// ErrIrregular is the error for a folder, a link, a pipe or a device in the place of a file.
var ErrIrregular = errors.New("is not a regular file")

func irregular(path string, info fs.FileInfo) error {
	what := ""
	switch mode := info.Mode(); {
	case mode.IsDir():
		what = " but a folder"
	case mode&fs.ModeSymlink != 0:
		what = " but a symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		what = " but a pipe"
	case mode&fs.ModeDevice != 0:
		what = " but a device"
	}
	return fmt.Errorf("%s: %w%s", path, ErrIrregular, what)
}

// Size is the size of the file when it was opened, in bytes.
func (f *File) Size() int64 { return f.info.Size() }

// Unchanged returns an error if the file was written to since it was opened: what was read of it may be half of the old
// content and half of the new.
func (f *File) Unchanged() error {
	info, err := f.Stat()
	if err == nil && (info.Size() != f.info.Size() || !info.ModTime().Equal(f.info.ModTime())) {
		err = fmt.Errorf("%s: was changed while it was read: try again when nothing writes to it", f.Name())
	}
	return err
}

// Read reads a regular file whole. It is an error if the file has more bytes than limit.
func Read(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if f.Size() > limit {
		return nil, fmt.Errorf("%s: %d bytes; want at most %d", path, f.Size(), limit)
	}
	text := make([]byte, f.Size())
	if _, err := io.ReadFull(f, text); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	return text, f.Unchanged()
}

// ReadFirst reads the first bytes of a regular file; fewer where it has fewer.
func ReadFirst(path string, bytes int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.NewSectionReader(f, 0, min(bytes, f.Size())))
}
