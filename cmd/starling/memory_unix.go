//go:build unix

package main

import (
	"runtime"
	"syscall"
)

// peak is the largest memory of the process so far, in bytes; 0 if it is unknown.
func peak() int64 {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(usage.Maxrss)
	}
	return int64(usage.Maxrss) << 10
}
