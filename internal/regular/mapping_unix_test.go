//go:build linux || darwin

package regular_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/regular"
)

func mapped(t *testing.T, content []byte) (string, *regular.Mapping) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := regular.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.Map()
	if err != nil {
		t.Fatal(err)
	}
	return path, m
}

// TestMappingIsTheFile: the bytes are those of the file, also of pages that were given back.
func TestMappingIsTheFile(t *testing.T) {
	page := os.Getpagesize()
	content := bytes.Repeat([]byte("starling"), page)
	_, m := mapped(t, content)
	for range 2 {
		m.Prefetch(3, len(content))
		if !bytes.Equal(m.Bytes, content) {
			t.Fatal("the bytes of the mapping are not those of the file")
		}
		m.Release(0, len(content))
		m.Release(page/2, page)
	}
	if err := m.Unchanged(); err != nil {
		t.Error(err)
	}
}

// TestMappedFileShrinks: who looks at bytes that are gone gets an error with the file's name, in its own goroutine and in tasks of a pool. Other
// panics stay what they are.
func TestMappedFileShrinks(t *testing.T) {
	page := os.Getpagesize()
	path, m := mapped(t, make([]byte, 8*page))
	if err := os.Truncate(path, int64(page)); err != nil {
		t.Fatal(err)
	}
	sum := byte(0)
	look := func(at int) func() { return func() { sum += m.Bytes[at] } }
	caught := func(f func()) (err error) {
		defer regular.Caught(&err)
		f()
		return nil
	}
	if err := caught(func() { m.Reading(look(5)) }); err != nil {
		t.Errorf("bytes that are still there: %v", err)
	}
	var changed *regular.ChangedError
	if err := caught(func() { m.Reading(look(6 * page)) }); !errors.As(err, &changed) || changed.Name != path {
		t.Errorf("bytes that are gone: %v", err)
	}
	workers := pool.New(3)
	if err := caught(func() { workers.Run(8, func(i int) { m.Reading(look(i * page)) }) }); !errors.As(err, &changed) {
		t.Errorf("in tasks of a pool: %v", err)
	}
	if err := m.Unchanged(); !errors.As(err, &changed) {
		t.Errorf("a file that has become shorter: %v", err)
	}
	for _, other := range []any{"another", errors.New("another")} {
		func() {
			defer func() {
				if r := recover(); r != other {
					t.Errorf("the panic %v became %v", other, r)
				}
			}()
			caught(func() { m.Reading(func() { panic(other) }) })
		}()
	}
}

// TestMappedFileIsWritten: a file that is written to, and keeps its size, has changed.
func TestMappedFileIsWritten(t *testing.T) {
	path, m := mapped(t, []byte("before"))
	if err := os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	var changed *regular.ChangedError
	if err := m.Unchanged(); !errors.As(err, &changed) || changed.Name != path {
		t.Error(err)
	}
}

// TestInterruptEndsMapped: an interrupt ends who goes through a mapping.
func TestInterruptEndsMapped(t *testing.T) {
	_, m := mapped(t, make([]byte, 100))
	ctx, cancel := context.WithCancel(t.Context())
	regular.Until(ctx)
	defer regular.Until(context.Background())
	prefetch := func() (err error) {
		defer regular.Caught(&err)
		m.Prefetch(0, 100)
		return nil
	}
	if err := prefetch(); err != nil {
		t.Error(err)
	}
	if cancel(); !errors.Is(prefetch(), context.Canceled) {
		t.Error("an interrupt is not heard")
	}
}
