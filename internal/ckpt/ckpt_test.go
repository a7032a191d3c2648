package ckpt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func example() []byte { return sections().Encode() }

func sections() *Encoder {
	e := NewEncoder("test/1")
	e.Float64s("x", []float64{1.5, math.Inf(-1), math.Float64frombits(0x7ff8000000000123)})
	e.Int32s("rows", []int32{-1, 0, math.MaxInt32})
	e.Ints("n", 3, -1<<40)
	e.Float64s("empty", nil)
	e.Bytes("raw", []byte("abc"))
	return e
}

func TestContainerRoundTrips(t *testing.T) {
	d, err := NewDecoder(example(), "test/1")
	if err != nil {
		t.Fatal(err)
	}
	x, rows := d.Float64s("x"), d.Int32s("rows")
	var a, b int
	d.Ints("n", &a, &b)
	if d.Err() != nil || len(x) != 3 || x[0] != 1.5 || x[1] != math.Inf(-1) || math.Float64bits(x[2]) != 0x7ff8000000000123 ||
		!slices.Equal(rows, []int32{-1, 0, math.MaxInt32}) || a != 3 || b != -1<<40 || d.Float64s("empty") != nil || string(d.Bytes("raw")) != "abc" {
		t.Errorf("got %v %v %d %d, error %v", x, rows, a, b, d.Err())
	}
}

// Arrays become bytes block by block while they are written.
func TestLongArraysRoundTrip(t *testing.T) {
	for _, n := range []int{4095, 4096, 4097, 10_000} {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(i)
		}
		e := NewEncoder("long")
		e.Float64s("x", x)
		d, err := NewDecoder(e.Encode(), "long")
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Float64s("x"); d.Err() != nil || !slices.Equal(got, x) {
			t.Errorf("%d numbers come back as %d, error %v", n, len(got), d.Err())
		}
	}
}

func TestDecoderReportsTheFirstFault(t *testing.T) {
	for name, ask := range map[string]func(d *Decoder){
		`"y" is missing`:          func(d *Decoder) { d.Float64s("y") },
		`"rows" has type 'i'`:     func(d *Decoder) { d.Float64s("rows") },
		`"n" has 2 integers`:      func(d *Decoder) { var a int; d.Ints("n", &a) },
		`two particles are three`: func(d *Decoder) { d.Fail("two particles are three"); d.Float64s("y") },
	} {
		d, err := NewDecoder(example(), "test/1")
		if err != nil {
			t.Fatal(err)
		}
		ask(d)
		if d.Err() == nil || !strings.Contains(d.Err().Error(), name) {
			t.Errorf("error %v does not say %s", d.Err(), name)
		}
	}
}

// Every flipped bit and every truncation is found: the header is checked against the rest, and each section by its CRC.
func TestEveryDamageIsFound(t *testing.T) {
	whole := example()
	for i := range whole {
		for bit := range 8 {
			b := bytes.Clone(whole)
			b[i] ^= 1 << bit
			if _, err := NewDecoder(b, "test/1"); err == nil {
				t.Errorf("bit %d of byte %d changed and nobody noticed", bit, i)
			}
		}
		if _, err := NewDecoder(whole[:i], "test/1"); err == nil {
			t.Errorf("cut at byte %d and nobody noticed", i)
		}
	}
	if _, err := NewDecoder(append(bytes.Clone(whole), 0), "test/1"); err == nil {
		t.Error("a byte more and nobody noticed")
	}
	if _, err := NewDecoder(whole, "other/1"); err == nil || !strings.Contains(err.Error(), "test/1") {
		t.Errorf("another kind gives %v", err)
	}
}

// The layout must not change: files have been written in it.
func TestLayoutIsFrozen(t *testing.T) {
	e := NewEncoder("k")
	e.Ints("n", 258)
	want := "STARLING\x01\x00\x00\x00\x02\x00\x00\x00\x46\x00\x00\x00\x00\x00\x00\x00" +
		"CRC1b\x04\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00kindk" +
		"CRC2l\x01\x00\x00\x08\x00\x00\x00\x00\x00\x00\x00n\x02\x01\x00\x00\x00\x00\x00\x00"
	got := e.Encode()
	crc := []uint32{binary.LittleEndian.Uint32(got[24:]), binary.LittleEndian.Uint32(got[45:])}
	copy(got[24:], "CRC1")
	copy(got[45:], "CRC2")
	if string(got) != want {
		t.Errorf("layout %q\nwant %q", got, want)
	}
	if crc[0] != 0xfffc3997 || crc[1] != 0xf3168998 { // computed bit by bit from the polynomial, outside Go
		t.Errorf("checksums %#x", crc)
	}
}

func TestEncoderPanicsOnRepeatedNames(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	e := NewEncoder("k")
	e.Ints("n", 1)
	e.Ints("n", 2)
}

func TestWriteFileReplacesOrKeeps(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "checkpoint")
	for _, b := range [][]byte{[]byte("old and longer"), []byte("new")} {
		if err := WriteFile(path, b); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, b) {
			t.Errorf("read %q, %v", got, err)
		}
	}
	if err := WriteFile(filepath.Join(dir, "nowhere", "checkpoint"), nil); err == nil {
		t.Error("no error for a folder that does not exist")
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(filepath.Join(dir, "folder"), []byte("x")); err == nil || !strings.Contains(err.Error(), "as it was") {
		t.Errorf("a folder in the way gives %v", err)
	}
	full := errors.New("disk full")
	if err := Replace(filepath.Join(dir, "none"), "", func(io.Writer) error { return full }); !errors.Is(err, full) || !strings.Contains(err.Error(), "none was not written") {
		t.Errorf("a writer that fails where there was no file gives %v", err)
	}
	if err := Replace(path, path+".previous", func(w io.Writer) error {
		fmt.Fprint(w, "half")
		return full
	}); !errors.Is(err, full) {
		t.Errorf("a writer that fails gives %v", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "new" {
		t.Errorf("after a failure %q, %v", got, err)
	}
	if err := Replace(path, path+".previous", func(w io.Writer) error {
		_, err := sections().WriteTo(w)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{path: string(example()), path + ".previous": "new"} {
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v", name, got, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A file system that cannot synchronise folders, such as Linux's /proc, is not a failure.
func TestFolderThatCannotBeSynchronised(t *testing.T) {
	if d, err := os.Open("/proc"); err == nil {
		if d.Sync() == nil {
			t.Error("/proc can: the test shows nothing")
		}
		d.Close()
		if err := syncDir("/proc"); err != nil {
			t.Error(err)
		}
	}
	if err := syncDir(filepath.Join(t.TempDir(), "nowhere")); runtime.GOOS != "windows" && err == nil {
		t.Error("no error for a folder that does not exist")
	}
}

// FuzzDecode: no input makes the decoder panic, and what it accepts encodes to the same bytes again.
func FuzzDecode(f *testing.F) {
	f.Add(example())
	f.Add(NewEncoder("test/1").Encode())
	f.Add(example()[:40])
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := NewDecoder(b, "test/1")
		if err != nil {
			return
		}
		total := 0
		for name, s := range d.sections {
			total += len(name) + len(s.data) + sectionHeader
		}
		if total+headerSize != len(b) {
			t.Errorf("sections add up to %d bytes of %d", total+headerSize, len(b))
		}
		var n int
		d.Float64s("x")
		d.Int32s("rows")
		d.Ints("n", &n)
	})
}

// TestWithout: containers that differ in one section are the same without it, and no others are.
func TestWithout(t *testing.T) {
	container := func(state, times string) []byte {
		e := NewEncoder("test")
		e.Bytes("state", []byte(state))
		e.Bytes("times", []byte(times))
		e.Ints("more", 3)
		return e.Encode()
	}
	a, b := container("state", "10:15"), container("state", "11:20")
	before := bytes.Clone(a)
	if bytes.Equal(a, b) || !bytes.Equal(Without(a, "times"), Without(b, "times")) || !bytes.Equal(a, before) {
		t.Error("the section still differs, or the container was changed")
	}
	if d, err := NewDecoder(Without(a, "times"), "test"); err != nil || string(d.Bytes("state")) != "state" {
		t.Errorf("it is no container any more: %v", err)
	}
	for _, other := range [][]byte{container("State", "10:15"), container("state", "10:1"), a[:len(a)-1], a[:20], nil} {
		if bytes.Equal(Without(a, "times"), Without(other, "times")) {
			t.Errorf("%q is taken for the same", other)
		}
	}
}
