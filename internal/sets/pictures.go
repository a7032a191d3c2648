package sets

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/starling-smc/starling/internal/arrays"
	"github.com/starling-smc/starling/internal/numeral"
)

// Pictures say what the files of a set of pictures hold: images and labels to train and to test.
type Pictures struct {
	Shape       []int // of one image
	Labels      int   // classes in the files
	Classes     int   // of a network: the first of them
	Train, Test int   // images in the files to train and to test
	GroupSize   int   // of each of Known.Groups

	cifar *arrays.CIFAR // files in CIFAR's binary version, the last to test; nil: four IDX files as those of MNIST
}

var mnist = &Pictures{Shape: []int{1, 28, 28}, Labels: 10, Classes: 10, Train: 60000, Test: 10000}

// MNIST7 (Liang et al., Scalable Bayesian Monte Carlo, the MNIST experiment): of MNIST's training images
// with labels 0–7 the first 1,200 train and the next 200 validate; of its test images the first 7,000 with labels 0–7
// test. Four groups of 500 are out of distribution: the first eights and the first nines among the test images, images of white
// noise, and the first 500 of the 7,000 with noise added to their pixels.
//
// Folder mnist7 holds exactly these images in four files like MNIST's: 1,400 for training, then 7,000, 500 eights and 500
// nines for testing. `go test ./data -run MNIST7Files -update` writes them again from MNIST in STARLING_DATA.
var mnist7 = &Pictures{Shape: []int{1, 28, 28}, Labels: 10, Classes: 8, Train: 1400, Test: 8000, GroupSize: 500}

func cifar(c *arrays.CIFAR) *Pictures {
	return &Pictures{Shape: []int{3, 32, 32}, Labels: c.Classes(), Classes: c.Classes(), Train: 50000, Test: 10000, cifar: c}
}

// Images are images and their labels. Names are those of their classes; nil if they have none.
type Images struct {
	Inputs, Labels *arrays.Array
	Names          []string
}

// Images reads the images of a set of pictures: those to train, and those to test.
func (k *Known) Images(dir string) (train, test Images, err error) {
	if k.Pictures.cifar != nil {
		return k.cifar(dir)
	}
	var a [4]*arrays.Array
	for i, p := range pins[k.Name] {
		if a[i], err = k.array(p, dir); err != nil {
			return train, test, err
		}
	}
	train, test = Images{Inputs: a[0], Labels: a[1]}, Images{Inputs: a[2], Labels: a[3]}
	for i, images := range [...]*arrays.Array{a[0], a[2]} {
		want := [...]int{k.Pictures.Train, k.Pictures.Test}[i]
		if images.DType() != "uint8" || len(images.Shape) != 3 || !slices.Equal(images.Shape[1:], k.Pictures.Shape[1:]) {
			return train, test, fmt.Errorf("%s: an array of shape %v, type %s, want %d×%d uint8 pixels", images.Name, images.Shape, images.DType(), k.Pictures.Shape[1], k.Pictures.Shape[2])
		}
		if n := images.Shape[0]; n != want {
			return train, test, fmt.Errorf("%s: %s images, want the %s of %s", images.Name, numeral.Count(n), numeral.Count(want), k.Name)
		}
	}
	return train, test, nil
}

func (k *Known) cifar(dir string) (train, test Images, err error) {
	var paths []string
	for _, p := range pins[k.Name] {
		path, err := k.sound(p, dir)
		if err != nil {
			return train, test, err
		}
		paths = append(paths, path)
	}
	c, last := k.Pictures.cifar, len(paths)-1
	train.Names, test.Names = c.Names, c.Names
	if train.Inputs, train.Labels, err = c.Read(paths[:last]...); err != nil {
		return train, test, err
	}
	if test.Inputs, test.Labels, err = c.Read(paths[last]); err != nil {
		return train, test, err
	}
	if n, m := train.Inputs.Shape[0], test.Inputs.Shape[0]; n != k.Pictures.Train || m != k.Pictures.Test {
		return train, test, fmt.Errorf("%s: %s and %s images, want %s and %s", filepath.Dir(paths[0]), numeral.Count(n), numeral.Count(m),
			numeral.Count(k.Pictures.Train), numeral.Count(k.Pictures.Test))
	}
	return train, test, nil
}
