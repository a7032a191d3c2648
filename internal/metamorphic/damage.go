//go:build unix

package metamorphic

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
)

// Damages lists operations that damage one file of a run's folder, a few times in a row, or put something else in its place. They are
// chosen for the files in dir.
func Damages(r *rand.Rand, dir string) (ops []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	name := entries[r.IntN(len(entries))].Name()
	if k := r.IntN(24); k < 6 {
		with := []string{4: " " + Runs[r.IntN(len(Runs))].Name, 5: " " + entries[r.IntN(len(entries))].Name()}[k]
		return []string{damages[k] + " " + name + with}, nil
	}
	b, err := os.ReadFile(filepath.Join(dir, name))
	for range 1 + r.IntN(3)/2*r.IntN(4) {
		if err != nil || len(b) == 0 {
			break
		}
		e := edits[r.IntN(len(edits))](r, b)
		ops = append(ops, e.op(name))
		b, err = e.apply(b)
	}
	return ops, err
}

// damages are the operations of Damages.
var damages = []string{"remove", "pipe", "folder", "device", "other", "as", "edit"}

// damage does one of them.
func (p *play) damage(kind, file string, args []string) error {
	path := filepath.Join(p.folder(), file)
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	switch kind {
	case "edit":
		e, err := parseEdit(args)
		if err != nil {
			return err
		}
		if b, err = e.apply(b); err != nil {
			return err
		}
	case "as": // another file of the folder
		if b, err = os.ReadFile(filepath.Join(p.folder(), args[0])); err != nil {
			return err
		}
	case "other": // the file of that name of another run
		r, err := named(args[0])
		if err == nil {
			err = p.w.Make(r)
		}
		if err != nil {
			return err
		}
		if b, err = os.ReadFile(filepath.Join(filepath.Dir(p.from), r.Name, file)); err != nil { // that run has no such file
			return os.Remove(path)
		}
	default:
		err := os.Remove(path)
		switch kind {
		case "pipe":
			err = errors.Join(err, syscall.Mkfifo(path, 0o666))
		case "folder":
			err = errors.Join(err, os.Mkdir(path, 0o777))
		case "device":
			err = errors.Join(err, os.Symlink("/dev/zero", path))
		}
		return err
	}
	return os.WriteFile(path, b, 0o666)
}

// edit puts a text in the place of the bytes from one offset to another; without a text they stand a number of times.
type edit struct {
	from, to, times int
	text            []byte
}

func (e edit) op(file string) string {
	if e.times > 0 {
		return fmt.Sprintf("edit %s %d %d times %d", file, e.from, e.to, e.times)
	}
	return fmt.Sprintf("edit %s %d %d %s", file, e.from, e.to, url.QueryEscape(string(e.text)))
}

// parseEdit reads the words of an operation after the file's name.
func parseEdit(args []string) (e edit, err error) {
	if len(args) < 2 {
		return e, fmt.Errorf("edit: want FROM TO and a text or times N")
	}
	if _, err := fmt.Sscan(args[0]+" "+args[1], &e.from, &e.to); err != nil {
		return e, err
	}
	switch len(args) {
	case 3:
		text, err := url.QueryUnescape(args[2])
		e.text = []byte(text)
		return e, err
	case 4:
		e.times, err = strconv.Atoi(args[3])
	}
	return e, err
}

func (e edit) apply(b []byte) ([]byte, error) {
	if e.from < 0 || e.to < e.from || e.to > len(b) {
		return nil, fmt.Errorf("no bytes %d to %d of %d", e.from, e.to, len(b))
	}
	text := e.text
	if e.times > 0 {
		text = bytes.Repeat(b[e.from:e.to], e.times)
	}
	return bytes.Join([][]byte{b[:e.from], text, b[e.to:]}, nil), nil
}

// simpler are edits of half of the bytes, or by half of the text.
func (e edit) simpler() (all []edit) {
	if mid := (e.from + e.to) / 2; mid > e.from {
		all = append(all, edit{e.from, mid, e.times, e.text}, edit{mid, e.to, e.times, e.text})
	}
	if mid := len(e.text) / 2; mid > 0 {
		all = append(all, edit{e.from, e.to, 0, e.text[:mid]}, edit{e.from, e.to, 0, e.text[mid:]})
	}
	if e.times > 2 {
		all = append(all, edit{e.from, e.to, e.times / 2, nil})
	}
	return all
}

// edits choose an edit of a file that is not empty.
var edits = []func(r *rand.Rand, b []byte) edit{
	func(r *rand.Rand, b []byte) edit { // a flipped bit
		at := r.IntN(len(b))
		return edit{at, at + 1, 0, []byte{b[at] ^ 1<<r.IntN(8)}}
	},
	func(r *rand.Rand, b []byte) edit {
		const hard = "\x00\xff\"{}[]<>:,-0\n\t \x1b"
		at := r.IntN(len(b))
		return edit{at, at + 1, 0, []byte{hard[r.IntN(len(hard))]}}
	},
	func(r *rand.Rand, b []byte) edit { return edit{r.IntN(len(b)), len(b), 0, nil} }, // the end is cut off
	func(r *rand.Rand, b []byte) edit { return span(r, b, 0) },
	func(r *rand.Rand, b []byte) edit { return span(r, b, 2) },
	func(r *rand.Rand, b []byte) edit {
		e := span(r, b, 0)
		e.times = 2 + r.IntN(1<<20)/(e.to-e.from)
		return e
	},
	func(r *rand.Rand, b []byte) edit {
		noise := make([]byte, 1+r.IntN(64))
		for i := range noise {
			noise[i] = byte(r.Uint32())
		}
		at := r.IntN(len(b) + 1)
		return edit{at, at, 0, noise}
	},
	func(r *rand.Rand, b []byte) edit { return inside(r, b, number, "0123456789") },
	func(r *rand.Rand, b []byte) edit { return inside(r, b, word, "abcdefghijklmnopqrstuvwxyz") },
	func(r *rand.Rand, b []byte) edit {
		e := inside(r, b, number, "0")
		e.text = []byte(hardNumbers[r.IntN(len(hardNumbers))])
		return e
	},
	func(_ *rand.Rand, b []byte) edit { return edit{0, len(b), 0, nil} }, // the file is empty
}

var (
	number = regexp.MustCompile(`[0-9][0-9.e+-]*`)
	word   = regexp.MustCompile(`[A-Za-z_]{2,}`)
)

var hardNumbers = []string{"-1", "0", "1e999", "1e308", "-1e308", "9223372036854775807", "18446744073709551616", "1e-320", "null", "NaN", `"NaN"`, "1.5", "4294967296"}

// inside replaces a byte in one place of the text that fits a pattern. A file without such a place loses its last byte.
func inside(r *rand.Rand, b []byte, pattern *regexp.Regexp, by string) edit {
	places := pattern.FindAllIndex(b, 10_000)
	if len(places) == 0 {
		return edit{len(b) - 1, len(b), 0, nil}
	}
	p := places[r.IntN(len(places))]
	text := bytes.Clone(b[p[0]:p[1]])
	text[r.IntN(len(text))] = by[r.IntN(len(by))]
	return edit{p[0], p[1], 0, text}
}

// span repeats a part of the bytes, usually a short one; 0 times cuts it out.
func span(r *rand.Rand, b []byte, times int) edit {
	from := r.IntN(len(b))
	return edit{from, from + 1 + r.IntN(1+min(len(b)-from-1, 1<<r.IntN(14))), times, nil}
}
