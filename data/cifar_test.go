package data

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// cifarRow is a row whose first pixels are 1, 2, 3.
func cifarRow(labels ...byte) []byte {
	return append(append(labels, 1, 2, 3), make([]byte, cifarPixels-3)...)
}

func writeFile(t testing.TB, name string, parts ...[]byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, slices.Concat(parts...), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCIFAR(t *testing.T) {
	one := writeFile(t, "one.bin", cifarRow(3), cifarRow(9))
	two := writeFile(t, "two.bin", cifarRow(0))
	s, err := ReadCIFAR10("train", one, two)
	if err != nil {
		t.Fatal(err)
	}
	if s.Len() != 3 || !slices.Equal(s.Labels, []int32{3, 9, 0}) || s.Classes != 10 || s.Names[9] != "truck" || !slices.Equal(s.Shape, []int{3, 32, 32}) {
		t.Errorf("%d images, labels %v of %d", s.Len(), s.Labels, s.Classes)
	}
	for i := range 3 {
		if !slices.Equal(s.U8[i*cifarPixels:][:4], []uint8{1, 2, 3, 0}) {
			t.Errorf("image %d begins with %v", i, s.U8[i*cifarPixels:][:4])
		}
	}
	hundred := writeFile(t, "100.bin", cifarRow(19, 99), cifarRow(0, 5))
	if s, err = ReadCIFAR100("train", hundred); err != nil {
		t.Fatal(err)
	}
	if s.Len() != 2 || !slices.Equal(s.Labels, []int32{99, 5}) || s.Classes != 100 || s.U8[cifarPixels] != 1 {
		t.Errorf("%d images, labels %v of %d", s.Len(), s.Labels, s.Classes)
	}
}

func TestCIFARRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		raw  []byte
		of   cifar
		want string
	}{
		"empty":         {nil, cifar10, "row 0: the file ends after 0 of its 3,073 bytes"},
		"one byte more": {append(cifarRow(1), 1), cifar10, "row 1: the file ends after 1 of"},
		"one byte less": {cifarRow(1)[1:], cifar10, "row 0: the file ends after 3072"},
		"label 10":      {slices.Concat(cifarRow(1), cifarRow(10)), cifar10, "row 1: label 10, want 0 to 9"},
		"coarse 20":     {cifarRow(20, 1), cifar100, "row 0: label 20, want 0 to 19"},
		"fine 100":      {cifarRow(1, 100), cifar100, "row 0: label 100, want 0 to 99"},
		"100 as 10":     {cifarRow(1, 2), cifar10, "row 1: the file ends after 1"},
		"10 as 100":     {cifarRow(1), cifar100, "row 0: the file ends after 3073 of its 3,074"},
	} {
		path := writeFile(t, "f.bin", c.raw)
		_, err := c.of.read("s", []string{path})
		if err == nil || !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
	if _, err := ReadCIFAR10("s"); err == nil {
		t.Error("no files make a set")
	}
}

func FuzzCIFAR(f *testing.F) {
	f.Add(cifarRow(3), false)
	f.Add(slices.Concat(cifarRow(9), cifarRow(10)), false)
	f.Add(cifarRow(19, 99), true)
	f.Add([]byte{}, true)
	f.Fuzz(func(t *testing.T, raw []byte, hundred bool) {
		c := &cifar10
		if hundred {
			c = &cifar100
		}
		s := &Set{Name: "f", Shape: []int{3, 32, 32}, Classes: c.labels[len(c.labels)-1]}
		err := c.add(s, "f", bytes.NewReader(raw), len(raw))
		if want := map[bool]string{false: "cifar10", true: "cifar100"}[hundred]; err == nil && cifarFormat(len(raw)) != want {
			t.Fatalf("taken for %s", cifarFormat(len(raw)))
		}
		if cap(s.U8) > len(raw)+64 {
			t.Fatalf("room for %d pixels from %d bytes", cap(s.U8), len(raw))
		}
		if err != nil {
			return
		}
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
		var again []byte
		for i, y := range s.Labels {
			if hundred {
				again = append(again, raw[i*c.row()])
			}
			again = append(append(again, byte(y)), s.U8[i*cifarPixels:(i+1)*cifarPixels]...)
		}
		if !bytes.Equal(again, raw) {
			t.Fatal("written again, the file is another")
		}
	})
}
