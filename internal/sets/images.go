package sets

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/starling-smc/starling/internal/arrays"
	"github.com/starling-smc/starling/internal/numeral"
)

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
