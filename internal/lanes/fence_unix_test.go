//go:build unix

package lanes

import "golang.org/x/sys/unix"

var fences int

// fenced returns size bytes between two pages that fault; after some thousands of them, which systems limit, without.
func fenced(size, page int) []byte {
	if fences++; fences > 5000 {
		return make([]byte, size)
	}
	all, err := unix.Mmap(-1, 0, size+2*page, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		panic(err)
	}
	inside := all[page : page+size]
	if err := unix.Mprotect(inside, unix.PROT_READ|unix.PROT_WRITE); err != nil {
		panic(err)
	}
	return inside
}
