package data

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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
	if _, err := Load("mnst", ""); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "mnist7") {
		t.Errorf("unknown name: %v", err)
	}
	if _, err := Load("mnist", ""); err == nil || !strings.Contains(err.Error(), "mnist/train-images-idx3-ubyte.gz (--data-dir DIR or STARLING_DATA)") {
		t.Errorf("no directory: %v", err)
	}
	dir := t.TempDir()
	if _, err := Load("mnist", dir); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "the data directory "+dir+" (--data-dir") {
		t.Errorf("no file: %v", err)
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
		if err := os.WriteFile(path, gzipped(t, raw), 0o644); err != nil {
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
	read := func() (train, test *Set, err error) {
		k, err := find("fashion-mnist")
		if err != nil {
			t.Fatal(err)
		}
		return k.mnist(dir, 3, 2)
	}
	train, test, err := read()
	if err != nil {
		t.Fatal(err)
	}
	if train.Len() != 3 || test.Len() != 2 || train.Classes != 10 || !slices.Equal(train.Labels, []int32{0, 9, 4}) {
		t.Errorf("%+v, %+v", train, test)
	}
	if _, err := Load("fashion-mnist", dir); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "fashion-mnist", mnistFiles[0])+": 3 images, want the 60,000") {
		t.Errorf("images too few: %v", err)
	}
	put(3, labels(1))
	if _, _, err := read(); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "fashion-mnist", mnistFiles[3])) {
		t.Errorf("labels too few: %v", err)
	}
	put(3, labels(1, 10))
	if _, _, err := read(); err == nil || !strings.Contains(err.Error(), "label 10") {
		t.Errorf("label too large: %v", err)
	}
	put(3, labels(1, 2))
	put(2, images(2, 27))
	if _, _, err := read(); err == nil || !strings.Contains(err.Error(), "28×28") {
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
		k, err := find(c.set)
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range k.Files {
			if _, err := Load(c.set, dir); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), filepath.Base(f)) || !strings.Contains(err.Error(), "starling data fetch "+c.set) {
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
		if _, err := Load(c.set, dir); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		damaged := filepath.Join(dir, c.folder, filepath.Base(k.Files[0]))
		if err := os.WriteFile(damaged, row(100, 100), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(c.set, dir); err == nil || !strings.Contains(err.Error(), damaged) {
			t.Errorf("a label too large: %v", err)
		}
	}
}

// The facts known of the full sets: sizes, counts of labels, mean and sd of pixels.
func TestMNISTFacts(t *testing.T) {
	dir := os.Getenv("STARLING_DATA")
	if dir == "" {
		t.Skip("STARLING_DATA is not set: skips the facts known of MNIST and FashionMNIST")
	}
	if testing.Short() {
		t.Skip("-short: skips the facts known of MNIST and FashionMNIST")
	}
	for _, c := range []struct {
		name     string
		mean, sd string
		counts   []int
	}{
		{"mnist", "0.1307", "0.3081", []int{5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949}},
		{"fashion-mnist", "0.2860", "0.3530", []int{6000, 6000, 6000, 6000, 6000, 6000, 6000, 6000, 6000, 6000}},
	} {
		p, err := Load(c.name, dir)
		if err != nil {
			t.Fatal(err)
		}
		counts := make([]int, 10)
		for _, y := range p.Train.Labels {
			counts[y]++
		}
		if !slices.Equal(counts, c.counts) || p.Test.Len() != 10000 {
			t.Errorf("%s: label counts %v, %d to test", c.name, counts, p.Test.Len())
		}
		mean, sd := pixelMoments(p.Train.U8)
		if mean != c.mean || sd != c.sd {
			t.Errorf("%s: mean %s, sd %s of pixels; want %s, %s", c.name, mean, sd, c.mean, c.sd)
		}
	}
}

func pixelMoments(u []uint8) (mean, sd string) {
	var count [256]int
	for _, v := range u {
		count[v]++
	}
	var s, q float64
	for v, c := range count {
		x := float64(v) / 255
		s += float64(c) * x / float64(len(u))
		q += float64(c) * x * x / float64(len(u))
	}
	return fmt.Sprintf("%.4f", s), fmt.Sprintf("%.4f", math.Sqrt(q-s*s))
}

// A column that is left out takes its values along.
func TestWithout(t *testing.T) {
	table, err := DecodeCSV("t.csv", []byte("a,b,c\n1,2,3\n4,5,6\n"), CSV{})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]float64{"a": {2, 3, 5, 6}, "b": {1, 3, 4, 6}, "c": {1, 2, 4, 5}} {
		less, err := table.without([]string{name})
		if err != nil || less.Cols != 2 || slices.Contains(less.Header, name) || !slices.Equal(less.Values, want) {
			t.Errorf("without %s: %+v, %v", name, less, err)
		}
	}
	if _, err := table.without([]string{"d"}); err == nil || !strings.Contains(err.Error(), "t.csv") {
		t.Error(err)
	}
}
