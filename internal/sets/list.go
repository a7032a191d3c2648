package sets

import (
	"fmt"
	"slices"
	"strings"

	"github.com/starling-smc/starling/internal/arrays"
	"github.com/starling-smc/starling/internal/tables"
)

const (
	mnistLicence = "CC BY-SA 3.0, LeCun, Cortes, Burges"
	textLicence  = "public domain; the file from char-rnn, MIT, Karpathy 2015"
)

// List describes the known data sets, in the order of their names, and looks for their files below dir. Empty dir:
// there is no data directory.
func List(dir string) []Known {
	list := known()
	for i := range list {
		k := &list[i]
		k.Found = !slices.ContainsFunc(k.Files, func(f string) bool {
			_, err := k.Locate(dir, f)
			return err != nil
		})
	}
	return list
}

// Tabular reports whether a set is a table that is treated like a user's own CSV, and has the column to predict.
func (k *Known) Tabular() bool { return k.Target != "" }

// Rows reads the table of a set, without the columns that are no inputs.
func (k *Known) Rows(dir string) (*tables.Table, error) {
	t, err := k.Table(dir)
	if err != nil {
		return nil, err
	}
	if t, err = t.Without(k.unused); err != nil {
		return nil, err
	}
	if k.BuiltIn {
		t.Name = k.Name
	}
	return t, nil
}

// Find returns a known set. An unknown name is ErrUnknown.
func Find(name string) (*Known, error) {
	for _, k := range known() {
		if k.Name == name {
			return &k, nil
		}
	}
	return nil, fmt.Errorf("%w %q (known: %s)", ErrUnknown, name, strings.Join(Names(), ", "))
}

// Names are the names of the sets, in order.
func Names() (names []string) {
	for _, k := range known() {
		names = append(names, k.Name)
	}
	return names
}

// Sizes sums the sizes of those files of a set whose bytes are known, and returns the places of its tables, which have none.
func (k *Known) Sizes(dir string) (bytes int64, tables []string) {
	for _, p := range pins[k.Name] {
		if bytes += p.size; p.size == 0 {
			tables = append(tables, k.path(dir, p.file))
		}
	}
	return bytes, tables
}

// known are the data sets, in the order of their names. data/LICENSES.md says where each is from.
func known() []Known {
	list := []Known{
		{
			Name: "california", About: "median value of houses in blocks of California, in 100,000 $; 8 features",
			Licence: "not stated (StatLib), Pace and Barry 1997", Train: 20640, Target: "MedHouseVal",
		}, {
			Name: "cifar10", About: "photographs of animals and vehicles, 10 classes, 3×32×32 pixels",
			Licence: "none stated, cite Krizhevsky 2009", Train: 50000, Test: 10000, Pictures: cifar(arrays.CIFAR10),
		}, {
			Name: "cifar100", About: "photographs, 100 classes, 3×32×32 pixels",
			Licence: "none stated, cite Krizhevsky 2009", Train: 50000, Test: 10000, Pictures: cifar(arrays.CIFAR100),
		}, {
			Name: "concrete", About: "compressive strength of concrete in MPa, 8 features",
			Licence: "CC BY 4.0, Yeh 1998", Train: 1030, Target: "compressive_strength", BuiltIn: true,
		}, {
			Name: "fashion-mnist", About: "pictures of clothes, 10 classes, 28×28 pixels",
			Licence: "MIT, Zalando SE 2017", Train: 60000, Test: 10000, Pictures: mnist,
		}, {
			Name: "mnist", About: "handwritten digits, 10 classes, 28×28 pixels",
			Licence: mnistLicence, Train: 60000, Test: 10000, Pictures: mnist,
		}, {
			Name: "mnist7", About: "digits 0 to 7 of MNIST, few to train; eights, nines, noise and noisy digits as out-of-distribution inputs",
			Licence: mnistLicence, Train: 1200, Validate: 200, Test: 7000,
			Groups: []string{"eight", "nine", "noise", "perturbed"}, Calibrate: 2000, Foreign: []string{"eight", "nine", "noise", "perturbed"},
			BuiltIn: true, Pictures: mnist7,
		}, {
			Name: "naval", About: "decay of a frigate's gas turbine, 16 measurements; the compressor's decay is left out",
			Licence: "CC BY 4.0, Coraddu et al. 2014", Train: 11934, Target: "turbine_decay", unused: []string{"compressor_decay"},
		}, {
			Name: "pima", About: "diabetes among Pima women, 2 classes, 8 features scaled to sd 0.5 after a leading 1; evidence benchmark",
			Licence: "not stated (UCI, NIDDK)", Train: 768, Whole: true, Scaled: "diabetes",
		}, {
			Name: "tinyshakespeare", About: "the next of 65 characters in plays of Shakespeare, from the 32 before it: the first 85 % of the text to train",
			Licence: textLicence, Train: 948052, Validate: 55738, Test: 55738, Text: shakespeare,
		}, {
			Name: "tinyshakespeare-update", About: "the same text: the 5 % behind the first 85 % to train, for the update of a network that these have trained",
			Licence: textLicence, Train: 55738, Validate: 55738, Test: 55738, Text: shakespeareUpdate,
		}, {
			Name: "wine-red", About: "quality of red wines as tasters score it, 3 to 8; 11 features",
			Licence: "CC BY 4.0, Cortez et al. 2009", Train: 1599, Target: "quality", BuiltIn: true,
		}, {
			Name: "wine-white", About: "quality of white wines as tasters score it, 3 to 9; 11 features",
			Licence: "CC BY 4.0, Cortez et al. 2009", Train: 4898, Target: "quality", BuiltIn: true,
		}, {
			Name: "yacht", About: "resistance of sailing yachts from the shape of their hulls and their speed; 6 features",
			Licence: "CC BY 4.0, Gerritsma et al. 1981", Train: 308, Target: "residuary_resistance", BuiltIn: true,
		},
	}
	for i := range list {
		if n, is := pinned[list[i].Name]; is {
			pictures := *list[i].Pictures
			pictures.Train, pictures.Test = n[0], n[1]
			list[i].Train, list[i].Test, list[i].Pictures = n[0], n[1], &pictures
		}
		if k := &list[i]; !k.BuiltIn {
			for _, p := range pins[k.Name] {
				k.Files = append(k.Files, p.file)
			}
			k.Download = downloads[k.Name] != nil
		}
	}
	return list
}
