package data

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Problem is a data set with its parts.
type Problem struct {
	Name     string
	Train    *Set
	Validate *Set    // nil: to be held out of Train, see Split
	Test     *Set    // nil: likewise
	Groups   []Group // foreign inputs, on which a network should doubt
	Whole    bool    // nothing is to be held out: the problem is about Train itself, such as its evidence
}

// Group is a named set of inputs that no class of the problem is right for, or that are distorted; its labels, if it
// has any, are not used.
type Group struct {
	Name string
	Set  *Set
}

// Known describes a data set that Load knows by name.
type Known struct {
	Name     string
	About    string
	Licence  string
	Train    int // examples; 0: none
	Validate int
	Test     int
	Groups   []string
	Files    []string // below the data directory; nil: built in
	Found    bool     // built in, or all Files are there

	load func(name string, open opener) (*Problem, error)
}

// ErrUnknown is the error of Load for a name that is not in List.
var ErrUnknown = errors.New("unknown data set")

// List describes the known data sets, in the order of their names, and looks for their files below dir. Empty dir:
// there is no data directory.
func List(dir string) []Known {
	list := []Known{
		{
			Name: "fashion-mnist", About: "pictures of clothes, 10 classes, 28×28 pixels",
			Licence: "MIT, Zalando SE 2017", Train: mnistTrain, Test: mnistTest, Files: under("fashion-mnist", mnistFiles), load: loadMNIST,
		}, {
			Name: "mnist", About: "handwritten digits, 10 classes, 28×28 pixels",
			Licence: mnistLicence, Train: mnistTrain, Test: mnistTest, Files: under("mnist", mnistFiles), load: loadMNIST,
		}, {
			Name: "mnist7", About: "digits 0 to 7 of MNIST, few to train; eights, nines, noise and noisy digits as foreign inputs",
			Licence: mnistLicence, Train: mnist7Train, Validate: mnist7Validate, Test: mnist7Test,
			Groups: []string{"eight", "nine", "noise", "perturbed"}, load: loadMNIST7,
		}, {
			Name: "pima", About: "diabetes among Pima women, 2 classes, 8 features scaled to sd 0.5 after a leading 1; evidence benchmark",
			Licence: "not stated (UCI, NIDDK)", Train: 768, Files: []string{"uci/pima.csv"}, load: loadPima,
		},
	}
	for i := range list {
		k := &list[i]
		k.Found = !slices.ContainsFunc(k.Files, func(f string) bool {
			info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(f)))
			return dir == "" || err != nil || !info.Mode().IsRegular()
		})
	}
	return list
}

// named is how the command is told the data directory.
const named = "(--data-dir DIR or STARLING_DATA)"

// Load returns a data set by name, reading its files below dir unless it is built in. An unknown name is ErrUnknown;
// other errors name the file.
func Load(name, dir string) (*Problem, error) {
	var names []string
	for _, k := range List(dir) {
		if k.Name == name {
			return k.load(name, func(file string) (string, []byte, error) {
				path := filepath.Join(dir, filepath.FromSlash(file))
				if dir == "" {
					return "", nil, fmt.Errorf("data set %s is read from files: name the data directory that holds %s %s", name, file, named)
				}
				raw, err := readFile(path)
				if errors.Is(err, fs.ErrNotExist) {
					err = fmt.Errorf("data set %s: %w: the data directory %s %s lacks this file", name, err, dir, named)
				}
				return path, raw, err
			})
		}
		names = append(names, k.Name)
	}
	return nil, fmt.Errorf("%w %q (known: %s)", ErrUnknown, name, strings.Join(names, ", "))
}

func under(folder string, files [4]string) []string {
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = folder + "/" + f
	}
	return paths
}
