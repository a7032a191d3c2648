package data

import (
	"fmt"
	"slices"
	"strings"
)

// List describes the known data sets, in the order of their names, and looks for their files below dir. Empty dir:
// there is no data directory.
func List(dir string) []Known {
	list := known()
	for i := range list {
		k := &list[i]
		k.Found = !slices.ContainsFunc(k.Files, func(f string) bool {
			_, err := k.locate(dir, f)
			return err != nil
		})
	}
	return list
}

// Tabular says whether a known set is a table: LoadTable returns it, and it is treated like a user's own CSV.
func Tabular(name string) bool {
	return slices.ContainsFunc(known(), func(k Known) bool { return k.Name == name && k.Target != "" })
}

// LoadTable returns a tabular data set by name, with the column to predict. Errors as of Load.
func LoadTable(name, dir string) (t *Table, target string, err error) {
	k, err := find(name)
	if err != nil {
		return nil, "", err
	}
	if k.Target == "" {
		return nil, "", fmt.Errorf("data set %s is not a table", name)
	}
	if t, err = k.table(dir); err != nil {
		return nil, "", err
	}
	if t, err = t.without(k.unused); err != nil {
		return nil, "", err
	}
	if k.BuiltIn {
		t.Name = name
	}
	return t, k.Target, nil
}

// Load returns a data set by name, reading its files below dir unless it is built in. All rows of a table train, with
// inputs and targets as they are. An unknown name is ErrUnknown, a file with other content than the known one ErrContent; other
// errors name the file, too.
func Load(name, dir string) (*Problem, error) {
	k, err := find(name)
	if err != nil {
		return nil, err
	}
	if k.load != nil {
		return k.load(k, dir)
	}
	t, target, err := LoadTable(name, dir)
	if err != nil {
		return nil, err
	}
	sets, _, err := Columns{Target: target}.Sets(t, allRows(t))
	if err != nil {
		return nil, err
	}
	sets[0].Name = "train"
	return &Problem{Name: name, Train: sets[0]}, nil
}

func find(name string) (*Known, error) {
	var names []string
	for _, k := range known() {
		if k.Name == name {
			return &k, nil
		}
		names = append(names, k.Name)
	}
	return nil, fmt.Errorf("%w %q (known: %s)", ErrUnknown, name, strings.Join(names, ", "))
}

// known are the data sets that Load knows, in the order of their names. data/LICENSES.md says where each is from.
func known() []Known {
	list := []Known{
		{
			Name: "california", About: "median value of houses in blocks of California, in 100,000 $; 8 features",
			Licence: "not stated (StatLib), Pace and Barry 1997", Train: 20640, Target: "MedHouseVal",
		}, {
			Name: "cifar10", About: "photographs of animals and vehicles, 10 classes, 3×32×32 pixels",
			Licence: "none stated, cite Krizhevsky 2009", Train: cifarTrain, Test: cifarTest, load: loadCIFAR10,
		}, {
			Name: "cifar100", About: "photographs, 100 classes, 3×32×32 pixels",
			Licence: "none stated, cite Krizhevsky 2009", Train: cifarTrain, Test: cifarTest, load: loadCIFAR100,
		}, {
			Name: "concrete", About: "compressive strength of concrete in MPa, 8 features",
			Licence: "CC BY 4.0, Yeh 1998", Train: 1030, Target: "compressive_strength", BuiltIn: true,
		}, {
			Name: "fashion-mnist", About: "pictures of clothes, 10 classes, 28×28 pixels",
			Licence: "MIT, Zalando SE 2017", Train: mnistTrain, Test: mnistTest, load: loadMNIST,
		}, {
			Name: "mnist", About: "handwritten digits, 10 classes, 28×28 pixels",
			Licence: mnistLicence, Train: mnistTrain, Test: mnistTest, load: loadMNIST,
		}, {
			Name: "mnist7", About: "digits 0 to 7 of MNIST, few to train; eights, nines, noise and noisy digits as out-of-distribution inputs",
			Licence: mnistLicence, Train: mnist7Train, Validate: mnist7Validate, Test: mnist7Test,
			Groups: []string{"eight", "nine", "noise", "perturbed"}, BuiltIn: true, load: loadMNIST7,
		}, {
			Name: "naval", About: "decay of a frigate's gas turbine, 16 measurements; the compressor's decay is left out",
			Licence: "CC BY 4.0, Coraddu et al. 2014", Train: 11934, Target: "turbine_decay", unused: []string{"compressor_decay"},
		}, {
			Name: "pima", About: "diabetes among Pima women, 2 classes, 8 features scaled to sd 0.5 after a leading 1; evidence benchmark",
			Licence: "not stated (UCI, NIDDK)", Train: 768, Whole: true, load: loadPima,
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
		if k := &list[i]; !k.BuiltIn {
			for _, p := range pins[k.Name] {
				k.Files = append(k.Files, p.file)
			}
			k.Download = downloads[k.Name] != nil
		}
	}
	return list
}
