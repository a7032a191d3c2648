package runs

import (
	"errors"
	"fmt"
	"io"

	"github.com/starling-smc/starling/internal/regular"
)

// Large is a file of a run that may be too large for the memory. Its checksum is compared while it is read for the first time: bytes that
// are read in their order are hashed on the way, and only what is left of them is read for the checksum alone. Whoever reads the whole
// file in order therefore reads it once.
type Large struct {
	path string
	size int64
	file *regular.File // nil: it is opened for each read
	sum  *summing      // of its first bytes; nil: it was compared
}

// openLarge opens a file for its first reading.
func openLarge(path string) (*Large, error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	return &Large{path: path, size: f.Size(), file: f, sum: newSumming()}, nil
}

// Size is the size of the file when it was opened, in bytes.
func (f *Large) Size() int64 { return f.size }

// ReadAt reads from the file. Until the file is compared, one goroutine alone may call it.
func (f *Large) ReadAt(b []byte, at int64) (n int, err error) {
	file := f.file
	if file == nil {
		if file, err = regular.Open(f.path); err != nil {
			return 0, err
		}
		defer file.Close()
	}
	n, err = file.ReadAt(b, at)
	if f.sum != nil && at <= f.sum.bytes && f.sum.bytes < at+int64(n) {
		f.sum.Write(b[f.sum.bytes-at : n])
	}
	return n, err
}

// compare returns errOther if the file has another SHA-256. It ends the first reading.
func (f *Large) compare(hex string) error {
	_, err := io.Copy(f.sum, io.NewSectionReader(f.file, f.sum.bytes, f.size-f.sum.bytes))
	if err == nil {
		err = f.file.Unchanged()
	}
	if err == nil && f.sum.sum().hex() != hex {
		err = errOther
	}
	f.sum = nil
	return err
}

// Close closes the file, which is opened for each read from now on.
func (f *Large) Close() error {
	if f.file == nil {
		return nil
	}
	file := f.file
	f.file = nil
	return file.Close()
}

// errOther is the error for a file that has another checksum.
var errOther = errors.New("has another checksum")

// Has reports whether the manifest lists a file.
func (r *Record) Has(name string) bool { return r.Manifest.Files[name] != "" }

// Open opens files of the run, which stay open, and calls read. The checksum of each is compared when read returns, with the bytes that
// read saw. An error of that is a *DamagedError as of File, and comes before one of read.
func (r *Record) Open(names []string, read func(files []*Large) error) (err error) {
	var files []*Large
	defer func() {
		if err != nil {
			for _, f := range files {
				f.Close()
			}
		}
	}()
	for _, name := range names {
		path := r.path(name)
		if !r.Has(name) {
			return r.damaged(fmt.Errorf("%s: %s does not list it", path, manifestFile))
		}
		f, err := openLarge(path)
		if err != nil {
			return r.damaged(err)
		}
		files = append(files, f)
	}
	failed := read(files)
	for i, f := range files {
		switch err := f.compare(r.Manifest.Files[names[i]]); {
		case err == errOther:
			return r.damaged(fmt.Errorf("%s: %w", f.path, errChanged))
		case err != nil:
			return r.damaged(err)
		}
	}
	return failed
}
