package data

import (
	"fmt"
	"io"
	"strings"

	"github.com/starling-smc/starling/internal/regular"
)

// CIFAR's binary version (Krizhevsky, Learning multiple layers of features from tiny images, 2009,
// https://www.cs.toronto.edu/~kriz/cifar.html) is rows of one size, one image each, and nothing else:
//
//	CIFAR-10    1 byte label, 0 to 9; 3,072 bytes pixels
//	CIFAR-100   1 byte coarse label, 0 to 19; 1 byte fine label, 0 to 99; 3,072 bytes pixels
//
// Pixels are 32 rows of 32 of red, then of green, then of blue.
type cifar struct {
	name   string
	labels []int // numbers of classes of the labels before the pixels; the last label is the target
	names  []string
}

const cifarPixels = 3 * 32 * 32

var (
	cifar10  = cifar{"CIFAR-10", []int{10}, strings.Fields("airplane automobile bird cat deer dog frog horse ship truck")}
	cifar100 = cifar{"CIFAR-100", []int{20, 100}, nil}
)

// ReadCIFAR10 reads files of CIFAR-10's binary version, one after the other, into a set of shape [3, 32, 32] with its
// ten classes and their names. Errors name the file and the row in it, from 0.
func ReadCIFAR10(name string, paths ...string) (*Set, error) { return cifar10.read(name, paths) }

// ReadCIFAR100 reads files of CIFAR-100's binary version as ReadCIFAR10 does, with the hundred fine labels.
func ReadCIFAR100(name string, paths ...string) (*Set, error) { return cifar100.read(name, paths) }

// row is the number of bytes of one image and its labels.
func (c *cifar) row() int { return len(c.labels) + cifarPixels }

func (c *cifar) read(name string, paths []string) (*Set, error) {
	s := &Set{Name: name, Shape: []int{3, 32, 32}, Classes: c.labels[len(c.labels)-1], Names: c.names}
	for _, path := range paths {
		_, err := reading(path, regular.Open, func(file *regular.File) (none struct{}, err error) {
			return none, c.add(s, path, file, int(file.Size()))
		})
		if err != nil {
			return nil, err
		}
	}
	return s, s.Check()
}

// add adds the images of one file of size bytes to the set.
func (c *cifar) add(s *Set, name string, file io.Reader, size int) error {
	n := size / c.row()
	if rest := size % c.row(); rest != 0 || n == 0 {
		return fmt.Errorf("%s: row %d: the file ends after %d of its %s bytes: %s is rows of that size", name, n, rest, thousands(uint64(c.row())), c.name)
	}
	s.U8 = append(make([]uint8, 0, len(s.U8)+n*cifarPixels), s.U8...)
	s.Labels = append(make([]int32, 0, len(s.Labels)+n), s.Labels...)
	row := make([]byte, c.row())
	for i := range n {
		if _, err := io.ReadFull(file, row); err != nil {
			return fmt.Errorf("%s: row %d: %w", name, i, ended(err))
		}
		for k, classes := range c.labels {
			if int(row[k]) >= classes {
				return fmt.Errorf("%s: row %d: label %d, want 0 to %d: is this %s?", name, i, row[k], classes-1, c.name)
			}
		}
		s.Labels = append(s.Labels, int32(row[len(c.labels)-1]))
		s.U8 = append(s.U8, row[len(c.labels):]...)
	}
	return nil
}

// cifarFormat returns the format, cifar10 or cifar100, of a file of that size; empty if neither fits.
func cifarFormat(size int) string {
	if size%cifar100.row() == 0 && size%cifar10.row() != 0 {
		return "cifar100"
	}
	return "cifar10"
}
