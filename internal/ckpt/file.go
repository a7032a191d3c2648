package ckpt

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// WriteFile is Replace with bytes in memory.
func WriteFile(path string, b []byte) error {
	return Replace(path, "", func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

// Replace replaces the file at path by what write writes, atomically and durably. A temporary file .NAME.DIGITS (Temp) in the same
// folder is written, synchronised and renamed to path, and the folder is synchronised. Whatever happens in between, also a
// crash, path holds either all of the old bytes or all of the new ones. If previous is not empty, the old file is first
// renamed to previous: a crash between the two renames leaves the old file there, and nothing at path.
func Replace(path, previous string, write func(w io.Writer) error) error {
	if err := replace(path, previous, write); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

func replace(path, previous string, write func(w io.Writer) error) (err error) {
	f, err := Temp(filepath.Dir(path), "."+filepath.Base(path)+".")
	if err != nil {
		return fmt.Errorf("%s was not written: %w", path, err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
			state := "is as it was before"
			if _, none := os.Lstat(path); errors.Is(none, fs.ErrNotExist) {
				state = "was not written"
			}
			err = fmt.Errorf("%s %s: %w", path, state, err)
		}
	}()
	b := bufio.NewWriterSize(f, 1<<16)
	if err = write(b); err != nil {
		return err
	}
	if err = b.Flush(); err != nil {
		return err
	}
	if err = f.Chmod(0o644); err != nil && runtime.GOOS != "windows" {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	if previous != "" {
		if err = os.Rename(path, previous); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err = os.Rename(f.Name(), path); err != nil {
		if previous != "" {
			err = errors.Join(err, os.Rename(previous, path))
		}
		return err
	}
	return nil
}

// Rename moves a synchronised file to its place, durably.
func Rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return syncDir(filepath.Dir(to))
}

// syncDir makes a rename durable. Windows has no such call and needs none. Some network file systems lack it too, and then
// the error is ignored.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("the renamed file may not survive a power failure: %w", err)
	}
	return nil
}
