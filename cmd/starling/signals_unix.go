//go:build unix

package main

import (
	"os/signal"
	"syscall"
)

// A file that would grow beyond the limit of its size, or a pipe that nobody reads any more, is a write that fails, not the
// end of the program.
func init() { signal.Ignore(syscall.SIGXFSZ, syscall.SIGPIPE) }
