//go:build !purego

package lanes

import "golang.org/x/sys/cpu"

// supported lists the implementations that this processor can run, the best first. AVX2 comes with the fused products and the numbers of 16
// bits of x86-64-v3, AVX-512 with the subsets of x86-64-v4.
func supported() []isa {
	x := &cpu.X86
	switch avx2 := x.HasAVX2 && x.HasFMA && x.HasF16C; {
	case avx2 && x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL:
		return []isa{isaAVX512, isaAVX2, isaGo}
	case avx2:
		return []isa{isaAVX2, isaGo}
	}
	return []isa{isaGo}
}
