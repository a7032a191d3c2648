package regular

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
)

// Mapping is a regular file that is mapped into the address space. The system reads a page from the disk when the process reads it, and drops
// it when memory is short: the file may be larger than the memory.
//
// Other processes may change the file meanwhile. Unchanged reports that. If the file becomes shorter, reading bytes behind its new end raises
// SIGBUS, also in assembly. Therefore all reads are inside Reading: it turns the signal into a panic (debug.SetPanicOnFault), and Caught turns
// the panic into an error.
type Mapping struct {
	Bytes []byte
	file  *File
}

// Map maps a file, which stays open from then on, for the mapping's life. It wraps errors.ErrUnsupported where the system cannot do so.
func (f *File) Map() (*Mapping, error) {
	bytes, err := mapped(f.File, f.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	advise(bytes, scattered)
	m := &Mapping{bytes, f}
	// A slice of Bytes may outlive the Mapping, so the addresses stay valid; only the pages are dropped.
	runtime.AddCleanup(m, func(bytes []byte) { advise(bytes, unneeded) }, bytes)
	return m, nil
}

// ChangedError says that a file was changed while its content was in use.
type ChangedError struct{ Name string }

func (e *ChangedError) Error() string {
	return e.Name + ": was changed while it was in use: put it back as it was and go on, or begin anew"
}

// Unchanged returns a *ChangedError if the file was written to since it was opened.
func (m *Mapping) Unchanged() error {
	if err := m.file.Unchanged(); err != nil {
		return &ChangedError{m.file.Name()}
	}
	return nil
}

// failure is the panic of Reading and of Prefetch.
type failure struct{ error }

func (f *failure) Unwrap() error { return f.error }

// faulted is the panic of an invalid memory access (debug.SetPanicOnFault).
type faulted interface{ Addr() uintptr }

// Reading calls look, which reads the mapping's bytes. If the file has become too short for that, it panics, and Caught gets a *ChangedError.
func (m *Mapping) Reading(look func()) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		r := recover()
		if fault, is := r.(faulted); is && m.has(fault.Addr()) {
			r = &failure{&ChangedError{m.file.Name()}}
		}
		if r != nil {
			panic(r)
		}
	}()
	look()
	runtime.KeepAlive(m)
}

// Caught recovers from a panic of Reading or Prefetch, in the same goroutine or in a task of a pool, and sets err. Callers defer it. Other
// panics go on.
func Caught(err *error) {
	r := recover()
	if r == nil {
		return
	}
	var failed *failure
	if e, is := r.(error); is && errors.As(e, &failed) {
		*err = failed.error
		return
	}
	panic(r)
}

// Prefetch asks for the bytes from one to another before the caller reads them. After an interrupt (Until) it panics, and Caught gets the
// interrupt's error.
func (m *Mapping) Prefetch(from, to int) {
	if err := Interrupted(); err != nil {
		panic(&failure{err})
	}
	pages := m.pages(from, to, false)
	for len(pages) > 0 {
		some := pages[:min(len(pages), atOnce)]
		advise(some, expected)
		pages = pages[len(some):]
	}
}

// atOnce is the number of bytes of one request. Systems cut larger ones short.
const atOnce = 128 << 10

// Release drops the whole pages between two bytes from the process's memory. They are read again if they are needed.
func (m *Mapping) Release(from, to int) { advise(m.pages(from, to, true), unneeded) }

// pages returns the whole pages inside a range of bytes, or the pages that overlap it.
func (m *Mapping) pages(from, to int, inside bool) []byte {
	page := os.Getpagesize()
	if inside {
		from, to = (from+page-1)/page*page, to/page*page
	} else {
		from = from / page * page
	}
	if to = min(to, len(m.Bytes)); from >= to {
		return nil
	}
	return m.Bytes[from:to]
}
