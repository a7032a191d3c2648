//go:build !purego

package lanes

const philoxPerCall = 1 << 14 // numbers: some ten microseconds

// philoxAssembly returns how many numbers it made: a multiple of the numbers that a kernel makes side by side.
func philoxAssembly(counter [3]uint32, first uint32, key [2]uint32, out []uint64) int {
	side := 64
	switch current {
	case isaGo:
		return 0
	case isaAVX2:
		side = 16
	}
	n := len(out) / side * side
	for i := 0; i < n; i += philoxPerCall {
		from := [4]uint32{counter[0], counter[1], counter[2], first + uint32(i/2)}
		if count := min(n-i, philoxPerCall) / side; current == isaAVX512 {
			philoxAVX512(&from[0], &key[0], &out[i], count)
		} else {
			philoxAVX2(&from[0], &key[0], &out[i], count)
		}
	}
	return n
}
