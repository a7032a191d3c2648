//go:build unix

package regular

import (
	"io/fs"
	"syscall"
)

const (
	// NoFollow makes opening a symbolic link an error.
	NoFollow = syscall.O_NOFOLLOW

	nonblock = syscall.O_NONBLOCK // opening a pipe returns at once
)

// names is the number of names that a file has.
func names(info fs.FileInfo) int {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Nlink)
	}
	return 1
}
