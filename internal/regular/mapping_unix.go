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

// What a process says about its pages.
const (
	scattered = unix.MADV_RANDOM   // pages around those that are looked at are not wanted
	expected  = unix.MADV_WILLNEED // they will be looked at
	unneeded  = unix.MADV_DONTNEED // they will not
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

// advise says something about pages. A system that does not heed it does the same, slower.
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
