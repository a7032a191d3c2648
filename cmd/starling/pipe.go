package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/ckpt"
)

// pipe is the name of stdin or stdout in the place of a file.
const pipe = "-"

// spool copies a stream to a temporary file, since readers of files read some of it twice: they find its faults before anything is
// predicted. The caller calls remove in the end. An interrupt ends the waiting for more.
func spool(ctx context.Context, stream io.Reader) (path string, remove func(), err error) {
	if f, ok := stream.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return "", nil, &eval.InputError{Err: errors.New("stdin is a folder: want the text of a file, as in starling predict RUN --in - < rows.csv")}
		}
	}
	file, err := ckpt.Temp("", "starling-stdin-") // a name that no file of a user has: Temp removes what is left behind
	if err != nil {
		return "", nil, err
	}
	remove = func() { os.Remove(file.Name()) }
	copied := make(chan error, 1)
	go func() {
		_, err := io.Copy(file, stream)
		copied <- errors.Join(err, file.Close())
	}()
	select {
	case err = <-copied:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		remove()
		return "", nil, fmt.Errorf("stdin: %w", err)
	}
	return file.Name(), remove, nil
}

// ofStdin names stdin in an error about the file that holds its copy.
func ofStdin(err error, path string) error {
	var bad *eval.InputError
	if !errors.As(err, &bad) {
		return err
	}
	return &eval.InputError{Err: errors.New(strings.ReplaceAll(bad.Error(), path, "stdin"))}
}
