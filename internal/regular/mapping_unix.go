//go:build linux || darwin

package regular

import (
	"errors"
	"math"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Maps says whether the system maps files.
const Maps = true

// Advice about pages.
const (
	scattered = unix.MADV_RANDOM   // do not read pages beside the one that is needed
	expected  = unix.MADV_WILLNEED // read them now
	unneeded  = unix.MADV_DONTNEED // drop them
)

// mapped returns the bytes of a file.
func mapped(f *os.File, size int64) (bytes []byte, err error) {
	if size < 1 || size > math.MaxInt {
		return nil, errors.ErrUnsupported
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	if outer := conn.Control(func(fd uintptr) {
		bytes, err = unix.Mmap(int(fd), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	}); outer != nil {
		return nil, outer
	}
	return bytes, err
}

// advise gives advice about pages. Results do not depend on it, so its error does not count.
func advise(pages []byte, what int) {
	if len(pages) > 0 {
		unix.Madvise(pages, what)
	}
}

// has reports whether an address is one of the mapping's bytes.
func (m *Mapping) has(address uintptr) bool {
	first := uintptr(unsafe.Pointer(unsafe.SliceData(m.Bytes)))
	return address >= first && address-first < uintptr(len(m.Bytes))
}
