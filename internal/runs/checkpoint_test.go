package runs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/pool"
)

// TestDamagedCheckpoint: a checkpoint that is cut off, has a bit flipped, or is of another run is named and refused, and
// the previous one taken; if that is not good either, the run is refused and nothing is changed.
func TestDamagedCheckpoint(t *testing.T) {
	_, want := whole(t)
	other := filepath.Join(t.TempDir(), "run")
	j := newJob()
	j.config = "seed: 99\n"
	if err := j.resume(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "run")
	stoppedAfter(t, dir, 25)
	good := read(t, dir, checkpointFile)
	if slices.Equal(good, read(t, dir, previousFile)) {
		t.Fatal("both checkpoints are the same")
	}
	flip := func(at int) []byte {
		b := slices.Clone(good)
		b[at] ^= 1
		return b
	}
	for name, c := range map[string]struct {
		bytes  []byte
		reason string
	}{
		"empty":       {nil, "too few"},
		"cut":         {good[:len(good)/2], "cut off"},
		"one less":    {good[:len(good)-1], "cut off"},
		"first bit":   {flip(0), "not a starling container"},
		"middle bit":  {flip(len(good) / 2), "damaged"},
		"last bit":    {flip(len(good) - 1), "damaged"},
		"another run": {read(t, other, checkpointFile), "another run"},
		"text":        {[]byte(strings.Repeat("no checkpoint ", 99)), "not a starling container"},
	} {
		t.Run(name, func(t *testing.T) {
			here := filepath.Join(t.TempDir(), "run")
			if err := os.CopyFS(here, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			put(t, here, checkpointFile, c.bytes)
			path := filepath.Join(here, checkpointFile)
			j := newJob()
			j.options.Every = 1
			j.watch = func(TraceLine) error { // the good one before is kept until there is a better one
				if b, err := os.ReadFile(filepath.Join(here, previousFile)); err != nil || bytes.Equal(b, c.bytes) {
					t.Errorf("a bad checkpoint is kept as the one before, %v", err)
				}
				return nil
			}
			if err := j.resume(t.Context(), here); err != nil {
				t.Fatal(err)
			}
			if len(j.notices) != 1 || !strings.Contains(j.notices[0], path+" is refused") || !strings.Contains(j.notices[0], c.reason) ||
				!strings.Contains(j.notices[0], "goes on from "+filepath.Join(here, previousFile)) {
				t.Errorf("told %q, want %q", j.notices, c.reason)
			}
			if got := contents(t, here); got != want {
				t.Errorf("from the previous checkpoint:\n%s\nwant\n%s", got, want)
			}

			both := filepath.Join(t.TempDir(), "run")
			if err := os.CopyFS(both, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			for _, file := range []string{checkpointFile, previousFile} {
				put(t, both, file, c.bytes)
			}
			before := contents(t, both)
			var bad *DamagedError
			if err := newJob().resume(t.Context(), both); !errors.As(err, &bad) || !strings.Contains(err.Error(), c.reason) {
				t.Errorf("both damaged: %v", err)
			}
			if contents(t, both) != before {
				t.Error("both damaged: the folder has changed")
			}
		})
	}
}

// TestPartsRefused: a checkpoint that is whole, but whose parts are not those of the run, is named with what to do.
func TestPartsRefused(t *testing.T) {
	f, err := TakeFolder(filepath.Join(t.TempDir(), "run"), fitKind)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for i, c := range []struct {
		parts []Part
		want  string
	}{
		{[]Part{&toy{steps: 3, size: 5}}, ""},
		{[]Part{&toy{steps: 3, size: 6}}, `phase "one": part 0: 132 bytes at step 3`},
		{[]Part{&toy{steps: 3, size: 5}, &toy{steps: 3}}, `phase "one" has 1 parts, not 2`},
		{[]Part{&stray{toy: toy{steps: 3, size: 5}, more: 1}}, "part 0 has made 4 steps, not 3"},
	} {
		run, err := Open(f, nil, Manifest{}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		err = run.Close(run.Phase(t.Context(), pool.New(1), Phase{Name: "one", Parts: c.parts}))
		if i == 0 {
			if err != nil {
				t.Fatal(err)
			}
			continue
		}
		var bad *DamagedError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "remove it to go on") ||
			!strings.Contains(err.Error(), f.path(checkpointFile)) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// UnmarshalBinary of a stray counts other steps than it was saved with.
func (s *stray) UnmarshalBinary(b []byte) error {
	err := s.toy.UnmarshalBinary(b)
	s.k += s.more
	return err
}

// mended is a container whose length and checksums are made to fit: else nothing that is changed in it would be read.
func mended(b []byte) []byte {
	if b = slices.Clone(b); len(b) < 24 {
		return b
	}
	binary.LittleEndian.PutUint64(b[16:], uint64(len(b)))
	for rest := b[24:]; len(rest) >= 16; {
		name, data := uint64(binary.LittleEndian.Uint32(rest[4:])>>8), binary.LittleEndian.Uint64(rest[8:])
		if left := uint64(len(rest) - 16); name > left || data > left-name {
			break
		}
		section := rest[:16+name+data]
		binary.LittleEndian.PutUint32(section, crc32.Checksum(section[4:], crc32.MakeTable(crc32.Castagnoli)))
		rest = rest[len(section):]
	}
	return b
}

// FuzzCheckpoint: any bytes are refused or read, and what is read is written and read alike.
func FuzzCheckpoint(f *testing.F) {
	example := &checkpoint{
		identity: identity{"fit", "1.0", "abc", []byte("seed: 1\n"), map[string]string{"train": "aa"}, "cc"},
		trace:    sum{7, [32]byte{1, 2, 3}},
		sorted:   sum{9, [32]byte{4}},
		phases: []*savedPhase{
			{name: "points", steps: []int{3, 0}, parts: [][]byte{[]byte("state"), nil}},
			{name: "islands", traced: true, steps: []int{7}, parts: [][]byte{nil}},
		},
	}
	var b bytes.Buffer
	if err := example.writeTo(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add(b.Bytes()[:b.Len()/2])
	b.Reset()
	(&checkpoint{}).writeTo(&b)
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := readCheckpoint(mended(b))
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := c.writeTo(&again); err != nil {
			t.Fatal(err)
		}
		same, err := readCheckpoint(again.Bytes())
		if err != nil || !reflect.DeepEqual(same, c) {
			t.Errorf("read again %+v, %v, want %+v", same, err, c)
		}
	})
}
