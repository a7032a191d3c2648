package data

import (
	"fmt"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/sets"
)

// ErrUnknown is the error of Load for a name of no set.
var ErrUnknown = sets.ErrUnknown

// IsKnown reports whether Load knows a data set of that name.
func IsKnown(name string) bool {
	_, err := sets.Find(name)
	return err == nil
}

// Tabular says whether a known set is a table: LoadTable returns it, and it is treated like a user's own CSV.
func Tabular(name string) bool {
	k, err := sets.Find(name)
	return err == nil && k.Tabular()
}

// LoadTable returns a tabular data set by name, with the column to predict. Errors as of Load.
func LoadTable(name, dir string) (t *Table, target string, err error) {
	k, err := sets.Find(name)
	if err != nil {
		return nil, "", err
	}
	if !k.Tabular() {
		return nil, "", fmt.Errorf("data set %s is not a table", name)
	}
	t, err = k.Rows(dir)
	return t, k.Target, err
}

// Load returns a data set by name, reading its files below dir unless it is built in. All rows of a table train, with
// inputs and targets as they are. An unknown name is ErrUnknown; other errors name the file, too.
func Load(name, dir string) (*Problem, error) {
	k, err := sets.Find(name)
	switch {
	case err != nil:
		return nil, err
	case k.Pictures != nil:
		return loadPictures(k, dir)
	case k.Text != nil:
		return loadText(k, dir)
	}
	columns, read := Columns{Target: k.Target}, k.Rows
	if k.Scaled != "" { // its benchmark has it so: all rows train, and the schema stays
		columns, read = Columns{Target: k.Scaled, Classes: true, SD: 0.5, Intercept: true}, k.Table
	}
	t, err := read(dir)
	if err != nil {
		return nil, err
	}
	parts, schema, err := columns.Sets(t, t.All())
	if err != nil {
		return nil, err
	}
	p := &Problem{Name: name, Train: parts[0], Whole: k.Whole}
	p.Train.Name = "train"
	if k.Scaled != "" {
		p.Schema = schema
	}
	return p, nil
}

// loadPictures divides the images of a set: those to train, then those that validate and calibrate, if any do, and those to test. After
// each of both come those of groups.
func loadPictures(k *sets.Known, dir string) (*Problem, error) {
	trains, tests, err := k.Images(dir)
	if err != nil {
		return nil, err
	}
	train, err := NewSet("train", trains.Inputs, trains.Labels, k.Pictures.Labels)
	if err != nil {
		return nil, err
	}
	test, err := NewSet("test", tests.Inputs, tests.Labels, k.Pictures.Labels)
	if err != nil {
		return nil, err
	}
	part := func(name string, s *Set, lo, hi int, names []string) *Set {
		s = s.Slice(name, lo, hi)
		s.Classes, s.Names = k.Pictures.Classes, names
		return s
	}
	p := &Problem{Name: k.Name, Train: part("train", train, 0, k.Train, trains.Names), Test: part("test", test, 0, k.Test, tests.Names)}
	if k.Validate > 0 {
		p.Validate = part("validate", train, k.Train, k.Train+k.Validate, trains.Names)
	}
	p.Groups = groupsOfPictures(k.Groups, p.Test, test.Slice("", k.Test, test.Len()), k.Pictures.GroupSize, mnist7White)
	if k.Calibrate > 0 {
		first := k.Train + k.Validate
		last := first + k.Calibrate
		p.Calibrate = part(calibratePart, train, first, last, trains.Names)
		p.Foreign = groupsOfPictures(k.Foreign, p.Calibrate, train.Slice("", last, train.Len()), k.Pictures.GroupSize, mnist7OtherWhite)
	}
	return p, nil
}

// groupsOfPictures are groups of n images each: white noise, drawn by key, images of a part with normal noise, drawn by the key after it, and
// others, one group after another.
func groupsOfPictures(names []string, of, others *Set, n, key int) (all []Group) {
	for _, name := range names {
		switch name {
		case noise:
			all = append(all, whiteNoise(of.Shape, n, key))
		case perturbed:
			all = append(all, perturb(of.Slice("", 0, n), key+1))
		default:
			all = append(all, Group{name, withoutTargets(name, others.Slice("", 0, n))})
			others = others.Slice("", n, others.Len())
		}
	}
	return all
}

// withoutTargets returns the inputs of a set without its targets.
func withoutTargets(name string, s *Set) *Set {
	inputs := *s
	inputs.Name, inputs.Labels, inputs.Classes, inputs.Names, inputs.Values, inputs.Outputs = name, nil, 0, nil, nil, 0
	return &inputs
}

// The groups that are drawn: MNIST7's own key, with the group as iteration, so that they are the same in every run whatever its seed.
const (
	noise     = "noise"
	perturbed = "perturbed"

	mnist7Seed       = 7
	mnist7White      = 0
	mnist7Normal     = 1 // after the key of the white noise
	mnist7OtherWhite = 2 // of the groups that are known beforehand
)

// WhiteNoise is a group of n images of white noise, uniform on [0, 1]: the same in every run.
func WhiteNoise(shape []int, n int) Group { return whiteNoise(shape, n, mnist7White) }

// whiteNoise is WhiteNoise by a key.
func whiteNoise(shape []int, n, key int) Group {
	s := &Set{Name: noise, Shape: shape}
	s.F32 = make([]float32, n*s.Features())
	r := rng.Key{Seed: mnist7Seed, Purpose: rng.Noise, Iteration: key}.Stream()
	for i := range s.F32 {
		s.F32[i] = float32(r.Float64())
	}
	return Group{s.Name, s}
}

// Perturbed is a group of images of bytes, read as [0, 1], with normal noise of standard deviation 0.5 added to each pixel, not clipped:
// the same in every run.
func Perturbed(clean *Set) Group { return perturb(clean, mnist7Normal) }

// perturb is Perturbed by a key.
func perturb(clean *Set, key int) Group {
	s := &Set{Name: perturbed, Shape: clean.Shape, F32: make([]float32, len(clean.U8))}
	r := rng.Key{Seed: mnist7Seed, Purpose: rng.Noise, Iteration: key}.Stream()
	for i, v := range clean.U8 {
		s.F32[i] = float32(float64(v)/255 + float64(0.5*r.Normal()))
	}
	return Group{s.Name, s}
}
