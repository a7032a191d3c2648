package regular

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
)

// Mapping is a regular file whose bytes are addresses of the process. The system reads a page of it from the disk when somebody looks at
// it, and takes it back when it needs the room: a file may be larger than the memory.
//
// A file may be changed by others while it is mapped. Unchanged says so. Where it has become shorter, bytes that are no longer there raise
// a signal in whoever looks at them, which may be assembly: so all looks are in Reading, which makes a panic of it, and Caught makes an
// error of that.
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
	// The addresses stay valid, as somebody may have kept them; the pages go.
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

// ended is the panic of Reading and of Expect.
type ended struct{ error }

func (e *ended) Unwrap() error { return e.error }

// faulted is the panic of a goroutine that looked where nothing is (debug.SetPanicOnFault).
type faulted interface{ Addr() uintptr }

// Reading calls look, which looks at the mapping's bytes. Where the file is too short for that, by now, it panics, and Caught has a
// *ChangedError.
func (m *Mapping) Reading(look func()) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		r := recover()
		if fault, is := r.(faulted); is && m.has(fault.Addr()) {
			r = &ended{&ChangedError{m.file.Name()}}
		}
		if r != nil {
			panic(r)
		}
	}()
	look()
	runtime.KeepAlive(m)
}

// Caught sets err if the caller's panic, in its own goroutine or in a task of a pool, is that of Reading or of Expect. It is deferred.
func Caught(err *error) {
	r := recover()
	if r == nil {
		return
	}
	var end *ended
	if e, is := r.(error); is && errors.As(e, &end) {
		*err = end.error
		return
	}
	panic(r)
}

// Expect says that the bytes from one to another will be looked at soon, in order. An interrupt (Until) ends whoever calls it: it panics,
// and Caught has the error.
func (m *Mapping) Expect(from, to int) {
	if err := Interrupted(); err != nil {
		panic(&ended{err})
	}
	pages := m.pages(from, to, false)
	for len(pages) > 0 {
		some := pages[:min(len(pages), atOnce)]
		advise(some, expected)
		pages = pages[len(some):]
	}
}

// atOnce is how many bytes a system reads ahead, at most, whatever it is told.
const atOnce = 128 << 10

// Release gives the pages back that lie whole between two bytes: they count no longer as the process's memory, and are read again if
// somebody looks at them.
func (m *Mapping) Release(from, to int) { advise(m.pages(from, to, true), unneeded) }

// pages are the whole pages inside some bytes, or those around them.
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
