package regular

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Resident reports whether the page of a byte is in memory, as far as the system says: where it does not, it is taken to be there.
func (m *Mapping) Resident(at int) bool {
	page := os.Getpagesize()
	there := byte(1)
	unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&m.Bytes[at/page*page])), uintptr(page), uintptr(unsafe.Pointer(&there)))
	return there&1 == 1
}
