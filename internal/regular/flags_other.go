//go:build !unix

package regular

const (
	// NoFollow makes opening a symbolic link an error, on systems that can.
	NoFollow = 0

	nonblock = 0
)
