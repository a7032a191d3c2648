package sets

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/testkit"
)

func TestListAndLoad(t *testing.T) {
	var names []string
	for _, k := range List("") {
		names = append(names, k.Name)
		if k.Found != (k.Files == nil) {
			t.Errorf("%s is found without a data directory", k.Name)
		}
		if k.About == "" || k.Licence == "" || k.Train == 0 {
			t.Errorf("%s is not described: %+v", k.Name, k)
		}
	}
	if !slices.IsSorted(names) {
		t.Errorf("%q do not ascend", names)
	}
	if _, err := Find("mnst"); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "mnist7") {
		t.Errorf("unknown name: %v", err)
	}
}

// A directory with small files of MNIST's form, and what is said when one is wrong.
func TestLoadMNISTForm(t *testing.T) {
	dir := t.TempDir()
	small(t, "fashion-mnist", slices.Clone(pins["fashion-mnist"]), downloads["fashion-mnist"])
	put := func(i int, raw []byte) {
		t.Helper()
		repin("fashion-mnist", i, raw)
		path := filepath.Join(dir, "fashion-mnist", mnistFiles[i])
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, testkit.Gzipped(t, raw), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	images := func(n byte, side byte) []byte {
		return append([]byte{0, 0, 8, 3, 0, 0, 0, n, 0, 0, 0, side, 0, 0, 0, side}, make([]byte, int(n)*int(side)*int(side))...)
	}
	labels := func(y ...byte) []byte { return append([]byte{0, 0, 8, 1, 0, 0, 0, byte(len(y))}, y...) }
	put(0, images(3, 28))
	put(1, labels(0, 9, 4))
	put(2, images(2, 28))
	put(3, labels(1, 2))
	for _, k := range List(dir) {
		if k.Name == "fashion-mnist" && !k.Found {
			t.Errorf("%+v", k)
		}
	}
	read := func(trains, tests int) (train, test Images, err error) {
		k, err := Find("fashion-mnist")
		if err != nil {
			t.Fatal(err)
		}
		fewer := *k.Pictures
		fewer.Train, fewer.Test = trains, tests
		k.Pictures = &fewer
		return k.Images(dir)
	}
	train, test, err := read(3, 2)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(train.Labels.Values.([]uint8), []uint8{0, 9, 4}) || !slices.Equal(test.Inputs.Shape, []int{2, 28, 28}) || train.Names != nil {
		t.Errorf("%+v, %+v", train, test)
	}
	if _, _, err := read(60000, 2); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "fashion-mnist", mnistFiles[0])+": 3 images, want the 60,000") {
		t.Errorf("images too few: %v", err)
	}
	put(2, images(2, 27))
	if _, _, err := read(3, 2); err == nil || !strings.Contains(err.Error(), "28×28") {
		t.Errorf("images too small: %v", err)
	}
}

// CIFAR's files in the folder of the set's name or as its archive unpacks; too few images are told.
func TestLoadCIFARForm(t *testing.T) {
	row := func(labels ...byte) []byte { return append(labels, make([]byte, 3072)...) }
	for _, c := range []struct {
		set, folder string
		row         []byte
	}{
		{"cifar10", "cifar10", row(9)}, {"cifar10", "cifar-10-batches-bin", row(0)},
		{"cifar100", "cifar100", row(19, 99)}, {"cifar100", "cifar-100-binary", row(0, 0)},
	} {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, c.folder), 0o777); err != nil {
			t.Fatal(err)
		}
		small(t, c.set, slices.Clone(pins[c.set]), downloads[c.set])
		k, err := Find(c.set)
		if err != nil {
			t.Fatal(err)
		}
		load := func() (Images, error) {
			train, _, err := k.Images(dir)
			return train, err
		}
		for i, f := range k.Files {
			if _, err := load(); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), filepath.Base(f)) || !strings.Contains(err.Error(), "starling data fetch "+c.set) {
				t.Errorf("%s without %s: %v", c.set, f, err)
			}
			repin(c.set, i, c.row)
			if err := os.WriteFile(filepath.Join(dir, c.folder, filepath.Base(f)), c.row, 0o666); err != nil {
				t.Fatal(err)
			}
			if there := i == len(k.Files)-1; slices.ContainsFunc(List(dir), func(k Known) bool { return k.Name == c.set && k.Found }) != there {
				t.Errorf("%s is found: %v", c.set, !there)
			}
		}
		want := fmt.Sprintf("%s: %d and 1 images, want 50,000 and 10,000", filepath.Join(dir, c.folder), len(k.Files)-1)
		if _, err := load(); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		damaged := filepath.Join(dir, c.folder, filepath.Base(k.Files[0]))
		if err := os.WriteFile(damaged, row(100, 100), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := load(); err == nil || !strings.Contains(err.Error(), damaged) {
			t.Errorf("a label too large: %v", err)
		}
	}
}
