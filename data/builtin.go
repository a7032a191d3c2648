package data

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/starling-smc/starling/internal/rng"
)

const mnistLicence = "CC BY-SA 3.0, LeCun, Cortes, Burges"

// The numbers of images in MNIST and in FashionMNIST, and in CIFAR-10 and in CIFAR-100.
const (
	mnistTrain = 60000
	mnistTest  = 10000
	cifarTrain = 50000
	cifarTest  = 10000
)

// loadMNIST reads the four files in the folder of the data set's name.
func loadMNIST(k *Known, dir string) (*Problem, error) {
	train, test, err := k.mnist(dir, mnistTrain, mnistTest)
	if err != nil {
		return nil, err
	}
	return &Problem{Name: k.Name, Train: train, Test: test}, nil
}

func loadCIFAR10(k *Known, dir string) (*Problem, error) { return loadCIFAR(k, dir, ReadCIFAR10) }

func loadCIFAR100(k *Known, dir string) (*Problem, error) { return loadCIFAR(k, dir, ReadCIFAR100) }

// loadCIFAR reads the set's files. The last file holds the test images.
func loadCIFAR(k *Known, dir string, read func(name string, paths ...string) (*Set, error)) (*Problem, error) {
	var paths []string
	for _, p := range pins[k.Name] {
		path, err := k.sound(p, dir)
		if err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	last := len(paths) - 1
	train, err := read("train", paths[:last]...)
	if err != nil {
		return nil, err
	}
	test, err := read("test", paths[last])
	if err != nil {
		return nil, err
	}
	if train.Len() != cifarTrain || test.Len() != cifarTest {
		return nil, fmt.Errorf("%s: %s and %s images, want %s and %s", filepath.Dir(paths[0]), thousands(uint64(train.Len())), thousands(uint64(test.Len())),
			thousands(cifarTrain), thousands(cifarTest))
	}
	return &Problem{Name: k.Name, Train: train, Test: test}, nil
}

// mnist reads four files in MNIST's form, which must have exactly the given numbers of images.
func (k *Known) mnist(dir string, trains, tests int) (train, test *Set, err error) {
	var arrays [4]*Array
	for i, p := range pins[k.Name] {
		if arrays[i], err = k.array(p, dir); err != nil {
			return nil, nil, err
		}
	}
	if train, err = NewSet("train", arrays[0], arrays[1], 10); err != nil {
		return nil, nil, err
	}
	if test, err = NewSet("test", arrays[2], arrays[3], 10); err != nil {
		return nil, nil, err
	}
	for i, s := range [...]*Set{train, test} {
		if s.U8 == nil || !slices.Equal(s.Shape, []int{1, 28, 28}) {
			return nil, nil, fmt.Errorf("%s: examples of shape %v, type %s, want 28×28 uint8 pixels", arrays[2*i].Name, s.Shape, arrays[2*i].DType())
		}
		if want := [...]int{trains, tests}[i]; s.Len() != want {
			return nil, nil, fmt.Errorf("%s: %s images, want the %s of %s", arrays[2*i].Name, thousands(uint64(s.Len())), thousands(uint64(want)), k.Name)
		}
	}
	return train, test, nil
}

// MNIST7 (Liang et al., Scalable Bayesian Monte Carlo, the MNIST experiment): of MNIST's training images
// with labels 0–7 the first 1,200 train and the next 200 validate; of its test images the first 7,000 with labels 0–7
// test. Four groups of 500 are out of distribution: the first eights and the first nines among the test images, images of white
// noise, uniform on [0, 1], and the first 500 of the 7,000 with normal noise of standard deviation 0.5 added to pixels
// on [0, 1], not clipped. The noise is keyed by the data set, so it is the same in every run whatever its seed.
//
// Folder mnist7 holds exactly these images in four files like MNIST's: 1,400 for training, then 7,000, 500 eights and 500
// nines for testing. `go test ./data -run MNIST7Files -update` writes them again from MNIST in STARLING_DATA.
const (
	mnist7Train    = 1200
	mnist7Validate = 200
	mnist7Test     = 7000
	mnist7OOD      = 500
	mnist7Classes  = 8

	mnist7Seed   = 7 // of the noise: MNIST7's own key, with the group as iteration
	mnist7White  = 0
	mnist7Normal = 1
)

func loadMNIST7(k *Known, dir string) (*Problem, error) {
	train, test, err := k.mnist(dir, mnist7Train+mnist7Validate, mnist7Test+2*mnist7OOD)
	if err != nil {
		return nil, err
	}
	digits := func(name string, s *Set, lo, hi int) *Set {
		s = s.Slice(name, lo, hi)
		s.Classes = mnist7Classes
		return s
	}
	p := &Problem{
		Name:     k.Name,
		Train:    digits("train", train, 0, mnist7Train),
		Validate: digits("validate", train, mnist7Train, mnist7Train+mnist7Validate),
		Test:     digits("test", test, 0, mnist7Test),
	}
	const eights, nines = mnist7Test, mnist7Test + mnist7OOD
	p.Groups = []Group{
		{"eight", withoutTargets("eight", test.Slice("", eights, nines))},
		{"nine", withoutTargets("nine", test.Slice("", nines, nines+mnist7OOD))},
		WhiteNoise(p.Test.Shape, mnist7OOD),
		Perturbed(p.Test.Slice("", 0, mnist7OOD)),
	}
	return p, nil
}

// withoutTargets returns the inputs of a set without its targets.
func withoutTargets(name string, s *Set) *Set {
	return &Set{Name: name, Shape: s.Shape, U8: s.U8, F32: s.F32}
}

// WhiteNoise is a group of n images of white noise, uniform on [0, 1]: the same in every run.
func WhiteNoise(shape []int, n int) Group {
	s := &Set{Name: "noise", Shape: shape}
	s.F32 = make([]float32, n*s.Features())
	r := rng.Key{Seed: mnist7Seed, Purpose: rng.Noise, Iteration: mnist7White}.Stream()
	for i := range s.F32 {
		s.F32[i] = float32(r.Float64())
	}
	return Group{s.Name, s}
}

// Perturbed is a group of images of bytes, read as [0, 1], with normal noise of standard deviation 0.5 added to each pixel, not clipped:
// the same in every run.
func Perturbed(clean *Set) Group {
	s := &Set{Name: "perturbed", Shape: clean.Shape, F32: make([]float32, len(clean.U8))}
	r := rng.Key{Seed: mnist7Seed, Purpose: rng.Noise, Iteration: mnist7Normal}.Stream()
	for i, v := range clean.U8 {
		s.F32[i] = float32(float64(v)/255 + float64(0.5*r.Normal()))
	}
	return Group{s.Name, s}
}

// loadPima returns the benchmark form of the Pima data: each predictor centred and scaled to population sd 0.5, after a
// leading 1; all rows train.
func loadPima(k *Known, dir string) (*Problem, error) {
	t, err := k.table(dir)
	if err != nil {
		return nil, err
	}
	sets, schema, err := Columns{Target: "diabetes", Classes: true, SD: 0.5, Intercept: true}.Sets(t, allRows(t))
	if err != nil {
		return nil, err
	}
	sets[0].Name = "train"
	return &Problem{Name: k.Name, Train: sets[0], Whole: k.Whole, Schema: schema}, nil
}
