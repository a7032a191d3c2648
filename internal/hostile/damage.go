//go:build unix

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
)

// damages are the ways to damage a file. Each returns the new content, and says what it did.
var damages = []func(r *rand.Rand, b []byte) ([]byte, string){
	func(r *rand.Rand, b []byte) ([]byte, string) {
		at, bit := r.IntN(len(b)), r.IntN(8)
		b[at] ^= 1 << bit
		return b, fmt.Sprintf("bit %d of byte %d is flipped", bit, at)
	},
	func(r *rand.Rand, b []byte) ([]byte, string) {
		const hard = "\x00\xff\"{}[]<>:,-0\n\t \x1b"
		at, to := r.IntN(len(b)), hard[r.IntN(len(hard))]
		b[at] = to
		return b, fmt.Sprintf("byte %d is %q", at, to)
	},
	func(r *rand.Rand, b []byte) ([]byte, string) {
		at := r.IntN(len(b))
		return b[:at], fmt.Sprintf("cut after %d bytes", at)
	},
	func(r *rand.Rand, b []byte) ([]byte, string) {
		from, to := span(r, b)
		return append(b[:from:from], b[to:]...), fmt.Sprintf("bytes %d to %d are left out", from, to)
	},
	func(r *rand.Rand, b []byte) ([]byte, string) {
		from, to := span(r, b)
		return bytes.Join([][]byte{b[:to], b[from:]}, nil), fmt.Sprintf("bytes %d to %d stand twice", from, to)
	},
	func(r *rand.Rand, b []byte) ([]byte, string) {
		from, to := span(r, b)
		times := 1 + r.IntN(1<<20)/(to-from)
		return bytes.Join([][]byte{b[:from], bytes.Repeat(b[from:to], times), b[to:]}, nil), fmt.Sprintf("bytes %d to %d stand %d times", from, to, times)
	},
	func(r *rand.Rand, b []byte) ([]byte, string) {
		noise := make([]byte, 1+r.IntN(64))
		for i := range noise {
			noise[i] = byte(r.Uint32())
		}
		at := r.IntN(len(b) + 1)
		return bytes.Join([][]byte{b[:at], noise, b[at:]}, nil), fmt.Sprintf("%d bytes of noise at %d", len(noise), at)
	},
	func(r *rand.Rand, b []byte) ([]byte, string) { return inside(r, b, number, digits) },
	func(r *rand.Rand, b []byte) ([]byte, string) { return inside(r, b, word, letters) },
	func(r *rand.Rand, b []byte) ([]byte, string) { return inside(r, b, number, hardNumbers) },
	func(_ *rand.Rand, b []byte) ([]byte, string) { return nil, "is empty" },
}

var (
	number = regexp.MustCompile(`[0-9][0-9.e+-]*`)
	word   = regexp.MustCompile(`[A-Za-z_]{2,}`)
)

func digits(r *rand.Rand, old []byte) []byte {
	out := bytes.Clone(old)
	out[r.IntN(len(out))] = byte('0' + r.IntN(10))
	return out
}

func letters(r *rand.Rand, old []byte) []byte {
	out := bytes.Clone(old)
	out[r.IntN(len(out))] = byte('a' + r.IntN(26))
	return out
}

func hardNumbers(r *rand.Rand, _ []byte) []byte {
	hard := []string{"-1", "0", "1e999", "1e308", "-1e308", "9223372036854775807", "18446744073709551616", "1e-320", "null", "NaN", `"NaN"`, "1.5", "4294967296"}
	return []byte(hard[r.IntN(len(hard))])
}

// inside replaces one place of the text that fits a pattern. A file without such a place loses its last byte.
func inside(r *rand.Rand, b []byte, pattern *regexp.Regexp, to func(*rand.Rand, []byte) []byte) ([]byte, string) {
	places := pattern.FindAllIndex(b, 10_000)
	if len(places) == 0 {
		return b[:len(b)-1], "the last byte is left out"
	}
	p := places[r.IntN(len(places))]
	becomes := to(r, b[p[0]:p[1]])
	what := fmt.Sprintf("%q at byte %d becomes %q", b[p[0]:p[1]], p[0], becomes)
	return bytes.Join([][]byte{b[:p[0]], becomes, b[p[1]:]}, nil), what
}

// span is a part of the bytes, usually a short one.
func span(r *rand.Rand, b []byte) (from, to int) {
	from = r.IntN(len(b))
	return from, from + 1 + r.IntN(1+min(len(b)-from-1, 1<<r.IntN(14)))
}

// damage damages one file of a folder, a few times in a row, or puts something else in its place. others are folders of other
// runs.
func damage(r *rand.Rand, dir string, others []string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	name := entries[r.IntN(len(entries))].Name()
	path := filepath.Join(dir, name)
	switch r.IntN(24) {
	case 0:
		return name + " is missing", os.Remove(path)
	case 1:
		return name + " is a pipe", replace(path, func() error { return syscall.Mkfifo(path, 0o666) })
	case 2:
		return name + " is a folder", replace(path, func() error { return os.Mkdir(path, 0o777) })
	case 3:
		return name + " is a link to a device", replace(path, func() error { return os.Symlink("/dev/zero", path) })
	case 4:
		other := others[r.IntN(len(others))]
		b, err := os.ReadFile(filepath.Join(other, name))
		if err != nil { // that run has no such file
			return name + " is missing", os.Remove(path)
		}
		return fmt.Sprintf("%s is that of %s", name, filepath.Base(other)), os.WriteFile(path, b, 0o666)
	case 5:
		from := entries[r.IntN(len(entries))].Name()
		b, err := os.ReadFile(filepath.Join(dir, from))
		if err != nil {
			return "", err
		}
		return name + " is " + from, os.WriteFile(path, b, 0o666)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	what := name
	for range 1 + r.IntN(3)/2*r.IntN(4) {
		if len(b) == 0 {
			break
		}
		var did string
		b, did = damages[r.IntN(len(damages))](r, b)
		what += ", " + did
	}
	return what, os.WriteFile(path, b, 0o666)
}

func replace(path string, by func() error) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	return by()
}
