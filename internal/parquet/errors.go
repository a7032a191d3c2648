package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

var little = binary.LittleEndian

var (
	errDamaged  = errors.New("the Parquet file is damaged")
	errEarly    = errors.New("the file ends early")
	errNotText  = errors.New("a string is not UTF-8 text: the Parquet file is damaged, or a program wrote it wrongly")
	errEncoding = errors.New("its values are encoded in a way that is not read: write the file with the encodings PLAIN or RLE_DICTIONARY, the usual ones")
)

// ended replaces the errors for a file that ends early by a plain sentence.
func ended(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errEarly
	}
	return err
}

// recovered makes a panic an error: a library that decodes or unpacks may panic. What it panicked with says nothing to a user.
func recovered(err *error) {
	if recover() != nil {
		*err = &Error{errDamaged}
	}
}

// short shortens a name for an error.
func short(name string) string { return fmt.Sprintf("%.40s", name) }

// Error is a fault of the file, found while its rows are read.
type Error struct{ Err error }

func (e *Error) Error() string { return e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }
