package arrays

import (
	"fmt"
	"io"
	"strings"

	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/packed"
	"github.com/starling-smc/starling/internal/regular"
)

// CIFAR is one of the two forms of CIFAR's binary version (Krizhevsky, Learning multiple layers of features from tiny images, 2009,
// https://www.cs.toronto.edu/~kriz/cifar.html). A file is rows of one size, one image each, and nothing else:
//
//	CIFAR-10    1 byte label, 0 to 9; 3,072 bytes pixels
//	CIFAR-100   1 byte coarse label, 0 to 19; 1 byte fine label, 0 to 99; 3,072 bytes pixels
//
// Pixels are 32 rows of 32 of red, then of green, then of blue.
type CIFAR struct {
	Names  []string // of the classes; nil if they have none
	name   string
	labels []int // numbers of classes of the labels before the pixels; the last label is the target
}

const cifarPixels = 3 * 32 * 32

// CIFAR10 and CIFAR100 are its two forms. Of the second the target is the fine label.
var (
	CIFAR10  = &CIFAR{strings.Fields("airplane automobile bird cat deer dog frog horse ship truck"), "CIFAR-10", []int{10}}
	CIFAR100 = &CIFAR{nil, "CIFAR-100", []int{20, 100}}
)

// row is the number of bytes of one image and its labels.
func (c *CIFAR) row() int { return len(c.labels) + cifarPixels }

// Classes is the number of classes.
func (c *CIFAR) Classes() int { return c.labels[len(c.labels)-1] }

// Fits reports whether a file of that size is whole rows.
func (c *CIFAR) Fits(size int) bool { return size%c.row() == 0 }

// Read reads files, one after the other, into images [n, 3, 32, 32] and their labels [n]. Errors name the file and the row in it, from 0.
func (c *CIFAR) Read(paths ...string) (images, labels *Array, err error) {
	var pixels, classes []uint8
	for _, path := range paths {
		_, err := packed.Reading(path, regular.Open, func(file *regular.File) (none struct{}, err error) {
			pixels, classes, err = c.add(pixels, classes, path, file, int(file.Size()))
			return none, err
		})
		if err != nil {
			return nil, nil, err
		}
	}
	images, labels = arraysOf(pixels, classes)
	return images, labels, nil
}

// Decode is Read of one file of size bytes.
func (c *CIFAR) Decode(name string, file io.Reader, size int) (images, labels *Array, err error) {
	pixels, classes, err := c.add(nil, nil, name, file, size)
	if err != nil {
		return nil, nil, err
	}
	images, labels = arraysOf(pixels, classes)
	return images, labels, nil
}

func arraysOf(pixels, classes []uint8) (images, labels *Array) {
	n := len(classes)
	return &Array{Shape: []int{n, 3, 32, 32}, Values: pixels}, &Array{Shape: []int{n}, Values: classes}
}

// add adds the images of one file of size bytes.
func (c *CIFAR) add(pixels, classes []uint8, name string, file io.Reader, size int) ([]uint8, []uint8, error) {
	n := size / c.row()
	if rest := size % c.row(); rest != 0 || n == 0 {
		return nil, nil, fmt.Errorf("%s: row %d: the file ends after %d of its %s bytes: %s is rows of that size", name, n, rest, numeral.Count(c.row()), c.name)
	}
	pixels = append(make([]uint8, 0, len(pixels)+n*cifarPixels), pixels...)
	classes = append(make([]uint8, 0, len(classes)+n), classes...)
	row := make([]byte, c.row())
	for i := range n {
		if _, err := io.ReadFull(file, row); err != nil {
			return nil, nil, fmt.Errorf("%s: row %d: %w", name, i, packed.Ended(err))
		}
		for k, classes := range c.labels {
			if int(row[k]) >= classes {
				return nil, nil, fmt.Errorf("%s: row %d: label %d, want 0 to %d: is this %s?", name, i, row[k], classes-1, c.name)
			}
		}
		classes = append(classes, row[len(c.labels)-1])
		pixels = append(pixels, row[len(c.labels):]...)
	}
	return pixels, classes, nil
}
