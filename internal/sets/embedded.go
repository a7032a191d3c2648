package sets

import (
	"compress/gzip"
	"embed"
	"io"
)

// builtin returns the unpacked bytes of a file within the program.
func builtin(file string) ([]byte, error) {
	packed, err := embedded.Open(file)
	if err != nil {
		return nil, err
	}
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// embedded holds the built-in sets, all compressed: MNIST7's four files and the tables uci/*.csv.
//
//go:embed mnist7/*.gz uci/*.gz
var embedded embed.FS
