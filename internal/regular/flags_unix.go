//go:build unix

package regular

import "syscall"

const (
	// NoFollow makes opening a symbolic link an error.
	NoFollow = syscall.O_NOFOLLOW

	nonblock = syscall.O_NONBLOCK // opening a pipe returns at once
)
