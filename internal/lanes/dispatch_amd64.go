//go:build !purego

package lanes

import "golang.org/x/sys/cpu"

// supported lists the implementations that this processor can run, the best first. AVX-512 means the subsets of x86-64-v4.
func supported() []isa {
	x := &cpu.X86
	switch avx2 := x.HasAVX2 && x.HasFMA; {
	case avx2 && x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL:
		return []isa{isaAVX512, isaAVX2, isaGo}
	case avx2:
		return []isa{isaAVX2, isaGo}
	}
	return []isa{isaGo}
}
