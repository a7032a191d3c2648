// Command cifar unpacks images that were packed as grids of tiles in lossless WebP, for starling reproduce smc-sghmc-cifar10:
//
//	go run ./bench/cifar PACKED DATA
//
// PACKED has cifar10/data_batch_1.webp to data_batch_5.webp and test_batch.webp, a grid of 32×32 tiles each, with their labels as
// train-labels-idx1-ubyte.gz and test-labels-idx1-ubyte.gz; imagenet-sample-32/images.webp and cifar10-c-generated/images.webp, each with an
// index.csv that has a line for each tile. In DATA it writes
//
//	cifar10/data_batch_1.bin … test_batch.bin       the official binary form, whose sums starling data verify cifar10 knows
//	imagenet-sample-32/images.npy, labels.npy       natural images, and the class of CIFAR-10 that each shows; 10: none
//	cifar10-c-generated/KIND.npy, KIND-labels.npy   changed images of each kind, by severity
//
// Sets that PACKED does not have are left out.
package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/starling-smc/starling/internal/arrays"
	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/formats"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: go run ./bench/cifar PACKED DATA")
		os.Exit(2)
	}
	for _, set := range []func(from, to string) error{batches, natural, changed} {
		if err := set(os.Args[1], os.Args[2]); errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintln(os.Stderr, "left out:", err)
		} else if err != nil {
			fmt.Fprintln(os.Stderr, "cifar:", err)
			os.Exit(1)
		}
	}
}

// size is the number of bytes of an image.
const size = 3 * side * side

// batches writes the files of CIFAR-10: of each image its label, and then its red, green and blue pixels row by row.
func batches(from, to string) error {
	const each = 10000
	for _, part := range []struct {
		labels string
		names  []string
	}{
		{"train", []string{"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5"}}, {"test", []string{"test_batch"}},
	} {
		labels, err := formats.ReadArray(filepath.Join(from, "cifar10", part.labels+"-labels-idx1-ubyte.gz"))
		if err != nil {
			return err
		}
		classes, ok := labels.Values.([]uint8)
		if !ok || len(classes) != each*len(part.names) {
			return fmt.Errorf("%s: an array of shape %v, type %s, want %d labels of bytes", labels.Name, labels.Shape, labels.DType(), each*len(part.names))
		}
		for b, name := range part.names {
			images, err := tiles(filepath.Join(from, "cifar10", name+".webp"), each)
			if err != nil {
				return err
			}
			var records []byte
			for i, label := range classes[b*each : (b+1)*each] {
				records = append(append(records, label), images[i*size:(i+1)*size]...)
			}
			if err := write(filepath.Join(to, "cifar10", name+".bin"), records); err != nil {
				return err
			}
		}
	}
	return nil
}

// natural writes the natural images with the classes that they show.
func natural(from, to string) error {
	const folder = "imagenet-sample-32"
	index, err := column(filepath.Join(from, folder, "index.csv"), "index")
	if err != nil {
		return err
	}
	images, err := tiles(filepath.Join(from, folder, "images.webp"), len(index))
	if err != nil {
		return err
	}
	labels := make([]byte, len(index))
	for i, text := range index {
		var class int
		if _, err := fmt.Sscan(text, &class); err != nil {
			return fmt.Errorf("%s: %q is no number of a class: %w", folder, text, err)
		}
		labels[i] = classOf(class)
	}
	return pair(filepath.Join(to, folder, "images.npy"), filepath.Join(to, folder, "labels.npy"), images, labels)
}

// changed writes the changed images of each kind in the order of the index, which must be by severity.
func changed(from, to string) error {
	const folder = "cifar10-c-generated"
	var columns [3][]string
	for k, name := range []string{"corruption", "severity", "label"} {
		var err error
		if columns[k], err = column(filepath.Join(from, folder, "index.csv"), name); err != nil {
			return err
		}
	}
	images, err := tiles(filepath.Join(from, folder, "images.webp"), len(columns[0]))
	if err != nil {
		return err
	}
	type group struct{ images, labels, severities []byte }
	kinds, names := map[string]*group{}, []string(nil)
	for i, kind := range columns[0] {
		g := kinds[kind]
		if g == nil {
			g = new(group)
			kinds[kind], names = g, append(names, kind)
		}
		g.images = append(g.images, images[i*size:(i+1)*size]...)
		g.severities, g.labels = append(g.severities, columns[1][i][0]-'0'), append(g.labels, columns[2][i][0]-'0')
	}
	for _, kind := range names {
		g := kinds[kind]
		if !slices.IsSorted(g.severities) {
			return fmt.Errorf("%s: the images of %s are not in the order of their severities", folder, kind)
		}
		if err := pair(filepath.Join(to, folder, kind+".npy"), filepath.Join(to, folder, kind+"-labels.npy"), g.images, g.labels); err != nil {
			return err
		}
	}
	return nil
}

// column are the texts of a column of a table.
func column(file, name string) (all []string, err error) {
	text, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer text.Close()
	rows, err := csv.NewReader(text).ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, fmt.Errorf("%s has no rows: %w", file, err)
	}
	k := slices.Index(rows[0], name)
	if k < 0 {
		return nil, fmt.Errorf("%s has no column %s, but %s", file, name, strings.Join(rows[0], ", "))
	}
	for _, row := range rows[1:] {
		all = append(all, row[k])
	}
	return all, nil
}

// pair writes images and their labels.
func pair(images, labels string, pixels, classes []byte) error {
	n := len(classes)
	if err := write(images, append(arrays.NPYBegin("|u1", []int{n, 3, side, side}), pixels...)); err != nil {
		return err
	}
	return write(labels, append(arrays.NPYBegin("|u1", []int{n}), classes...))
}

func write(file string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	return ckpt.WriteFile(file, content)
}
