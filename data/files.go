package data

import (
	"fmt"

	"github.com/starling-smc/starling/internal/regular"
)

// reading opens a file, lets read read it, and closes it. It is an error if the file was changed meanwhile.
func reading[T any](path string, open func(path string) (*regular.File, error), read func(*regular.File) (T, error)) (T, error) {
	file, err := open(path)
	if err != nil {
		var none T
		return none, err
	}
	defer file.Close()
	v, err := read(file)
	return v, unchanged(file, err)
}

// unchanged returns err, the error of reading a file, or an error if the file was changed since it was opened: what was read
// may be a part of it, and err may be about a place that was never in it.
func unchanged(file *regular.File, err error) error {
	changed := file.Unchanged()
	switch {
	case changed == nil:
		return err
	case err == nil:
		return changed
	}
	return fmt.Errorf("%w (%w)", changed, err)
}

// openReadable opens a file for the readers of arrays and tables, unless it is known to be of another kind.
func openReadable(path string) (*regular.File, error) {
	file, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	if err := otherKind(path, file); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}
