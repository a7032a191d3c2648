package arrays

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/testkit"
)

// cifarRow is a row whose first pixels are 1, 2, 3.
func cifarRow(labels ...byte) []byte {
	return append(append(labels, 1, 2, 3), make([]byte, cifarPixels-3)...)
}

func TestCIFAR(t *testing.T) {
	one := testkit.WriteFile(t, "one.bin", cifarRow(3), cifarRow(9))
	two := testkit.WriteFile(t, "two.bin", cifarRow(0))
	images, labels, err := CIFAR10.Read(one, two)
	if err != nil {
		t.Fatal(err)
	}
	pixels := images.Values.([]uint8)
	if !slices.Equal(labels.Values.([]uint8), []uint8{3, 9, 0}) || CIFAR10.Classes() != 10 || CIFAR10.Names[9] != "truck" || !slices.Equal(images.Shape, []int{3, 3, 32, 32}) {
		t.Errorf("images %v, labels %v", images.Shape, labels.Values)
	}
	for i := range 3 {
		if !slices.Equal(pixels[i*cifarPixels:][:4], []uint8{1, 2, 3, 0}) {
			t.Errorf("image %d begins with %v", i, pixels[i*cifarPixels:][:4])
		}
	}
	hundred := testkit.WriteFile(t, "100.bin", cifarRow(19, 99), cifarRow(0, 5))
	if images, labels, err = CIFAR100.Read(hundred); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(images.Shape, []int{2, 3, 32, 32}) || !slices.Equal(labels.Values.([]uint8), []uint8{99, 5}) || CIFAR100.Classes() != 100 || images.Values.([]uint8)[cifarPixels] != 1 {
		t.Errorf("images %v, labels %v", images.Shape, labels.Values)
	}
}

func TestCIFARRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		raw  []byte
		of   *CIFAR
		want string
	}{
		"empty":         {nil, CIFAR10, "row 0: the file ends after 0 of its 3,073 bytes"},
		"one byte more": {append(cifarRow(1), 1), CIFAR10, "row 1: the file ends after 1 of"},
		"one byte less": {cifarRow(1)[1:], CIFAR10, "row 0: the file ends after 3072"},
		"label 10":      {slices.Concat(cifarRow(1), cifarRow(10)), CIFAR10, "row 1: label 10, want 0 to 9"},
		"coarse 20":     {cifarRow(20, 1), CIFAR100, "row 0: label 20, want 0 to 19"},
		"fine 100":      {cifarRow(1, 100), CIFAR100, "row 0: label 100, want 0 to 99"},
		"100 as 10":     {cifarRow(1, 2), CIFAR10, "row 1: the file ends after 1"},
		"10 as 100":     {cifarRow(1), CIFAR100, "row 0: the file ends after 3073 of its 3,074"},
	} {
		path := testkit.WriteFile(t, "f.bin", c.raw)
		_, _, err := c.of.Read(path)
		if err == nil || !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}

func FuzzCIFAR(f *testing.F) {
	f.Add(cifarRow(3), false)
	f.Add(slices.Concat(cifarRow(9), cifarRow(10)), false)
	f.Add(cifarRow(19, 99), true)
	f.Add([]byte{}, true)
	f.Fuzz(func(t *testing.T, raw []byte, hundred bool) {
		c := CIFAR10
		if hundred {
			c = CIFAR100
		}
		images, labels, err := c.Decode("f", bytes.NewReader(raw), len(raw))
		if err != nil {
			return
		}
		if !c.Fits(len(raw)) {
			t.Fatalf("%d bytes are taken for %s", len(raw), c.name)
		}
		pixels := images.Values.([]uint8)
		if cap(pixels) > len(raw)+64 {
			t.Fatalf("room for %d pixels from %d bytes", cap(pixels), len(raw))
		}
		if err := images.Check(); err != nil {
			t.Fatal(err)
		}
		var again []byte
		for i, y := range labels.Values.([]uint8) {
			if int(y) >= c.Classes() {
				t.Fatalf("label %d", y)
			}
			if hundred {
				again = append(again, raw[i*c.row()])
			}
			again = append(append(again, y), pixels[i*cifarPixels:(i+1)*cifarPixels]...)
		}
		if !bytes.Equal(again, raw) {
			t.Fatal("written again, the file is another")
		}
	})
}
