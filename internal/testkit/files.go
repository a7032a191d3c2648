package testkit

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

// WriteFile writes a file into a folder of its own, and returns its path.
func WriteFile(t testing.TB, name string, parts ...[]byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, slices.Concat(parts...), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// Gzipped packs bytes.
func Gzipped(t testing.TB, b []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	if _, err := z.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// Allocated is the number of bytes that f allocates in all.
func Allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Seeds is what the files that match a pattern hold.
func Seeds(f *testing.F, pattern string) (files [][]byte) {
	f.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		f.Fatal(paths, err)
	}
	for _, p := range paths {
		raw, err := os.ReadFile(p)
		if err != nil {
			f.Fatal(err)
		}
		files = append(files, raw)
	}
	return files
}

// NPYBytes is a NumPy file of version 1 with the given dictionary.
func NPYBytes(dict string, values ...byte) []byte {
	head := append([]byte("\x93NUMPY"), 1, 0, byte(len(dict)), byte(len(dict)>>8))
	return append(append(head, dict...), values...)
}

// NPYOf is a NumPy file of a type and shape.
func NPYOf(descr, shape string, values ...byte) []byte {
	return NPYBytes(fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n", descr, shape), values...)
}

// Same reports whether two numbers are equal, NaN with NaN, infinities by sign.
func Same(got, want float64) bool { return got == want || got != got && want != want }
