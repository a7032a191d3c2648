package sets

import "github.com/starling-smc/starling/internal/arrays"

// Pictures say what the files of a set of pictures hold: images and labels to train and to test.
type Pictures struct {
	Shape       []int // of one image
	Labels      int   // classes in the files
	Classes     int   // of a network: the first of them
	Train, Test int   // images in the files to train and to test
	GroupSize   int   // of each of Known.Groups and Known.Foreign

	cifar *arrays.CIFAR // files in CIFAR's binary version, the last to test; nil: four IDX files as those of MNIST
}

var mnist = &Pictures{Shape: []int{1, 28, 28}, Labels: 10, Classes: 10, Train: 60000, Test: 10000}

// MNIST7 (Liang et al., Scalable Bayesian Monte Carlo, the MNIST experiment): of MNIST's training images
// with labels 0–7 the first 1,200 train and the next 200 validate; of its test images the first 7,000 with labels 0–7
// test. Four groups of 500 are out of distribution: the first eights and the first nines among the test images, images of white
// noise, and the first 500 of the 7,000 with noise added to their pixels.
//
// For decisions about predictions come the next 2,000 training images with labels 0–7, and as foreign inputs that are known beforehand four
// groups of the same kinds: the first 500 eights and the first 500 nines among the training images, 500 other images of white noise, and the
// first 500 of the 2,000 with noise added.
//
// Folder mnist7 holds exactly these images in four files like MNIST's: 3,400, 500 eights and 500 nines of the training images, then 7,000,
// 500 eights and 500 nines of the test images. `go test ./data -run MNIST7Files -update` writes them again from MNIST in STARLING_DATA.
var mnist7 = &Pictures{Shape: []int{1, 28, 28}, Labels: 10, Classes: 8, Train: 4400, Test: 8000, GroupSize: 500}

func cifar(c *arrays.CIFAR) *Pictures {
	return &Pictures{Shape: []int{3, 32, 32}, Labels: c.Classes(), Classes: c.Classes(), Train: 50000, Test: 10000, cifar: c}
}
