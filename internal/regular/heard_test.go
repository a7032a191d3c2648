package regular_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/starling-smc/starling/internal/regular"
)

// TestInterruptEndsReading: once the context is done, no way of reading a file goes on.
func TestInterruptEndsReading(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("12345"), 0o666); err != nil {
		t.Fatal(err)
	}
	defer regular.Until(context.Background())
	ctx, cancel := context.WithCancel(context.Background())
	regular.Until(ctx)
	ways := map[string]func(f *regular.File) ([]byte, error){
		"Read": func(f *regular.File) ([]byte, error) {
			b := make([]byte, 5)
			_, err := io.ReadFull(f, b)
			return b, err
		},
		"ReadAt": func(f *regular.File) ([]byte, error) { b := make([]byte, 5); _, err := f.ReadAt(b, 0); return b, err },
		"io.Copy": func(f *regular.File) ([]byte, error) {
			var b bytes.Buffer
			_, err := io.Copy(&b, f)
			return b.Bytes(), err
		},
		"Heard": func(*regular.File) ([]byte, error) {
			return io.ReadAll(regular.Heard(context.Background(), bytes.NewReader([]byte("12345"))))
		},
	}
	for _, want := range []error{nil, context.Canceled} {
		for name, read := range ways {
			f, err := regular.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			if b, err := read(f); !errors.Is(err, want) || want == nil && string(b) != "12345" {
				t.Errorf("%s: %q, %v, want %v", name, b, err, want)
			}
			f.Close()
		}
		cancel()
	}
	regular.Until(context.Background())
	own, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := io.ReadAll(regular.Heard(own, bytes.NewReader([]byte("1")))); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
