//go:build linux || darwin || freebsd || netbsd || openbsd

package ckpt

import (
	"os"
	"syscall"
)

// tryLock locks a file until it is closed, and reports whether it could: no other process has it locked.
func tryLock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
