//go:build !unix

package regular

import "io/fs"

const (
	// NoFollow makes opening a symbolic link an error, on systems that can.
	NoFollow = 0

	nonblock = 0
)

// names is the number of names that a file has, as far as it is known.
func names(fs.FileInfo) int { return 1 }
