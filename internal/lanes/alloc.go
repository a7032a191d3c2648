package lanes

import "unsafe"

// Make returns n zeros that start at a multiple of 64 bytes, so that no vector straddles a cache line.
func Make(n int) []float32 {
	if n == 0 {
		return nil
	}
	s := make([]float32, n+Lanes)
	skip := 0
	if r := uintptr(unsafe.Pointer(&s[0])) % 64; r != 0 {
		skip = int(64-r) / 4
	}
	return s[skip : skip+n : skip+n]
}
