//go:build purego

package testkit

// Purego says whether the kernels are the slow ones in Go.
const Purego = true
