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

// Known describes a data set that Load knows by name.
type Known struct {
	Name     string
	About    string
	Licence  string
	Train    int // number of examples; for a table all rows, before some are held out
	Validate int
	Test     int
	Groups   []string
	Whole    bool     // nothing is held out of the training examples, as in Problem.Whole
	Target   string   // the column to predict if the set is a table, like a user's own CSV; else empty
	BuiltIn  bool     // the program holds it
	Files    []string // below the data directory; nil: built in
	Found    bool     // built in, or all Files are there
	Download bool     // Fetch can download the Files

	load   func(k *Known, dir string) (*Problem, error) // nil: a table
	unused []string                                     // of a table: columns that are not inputs
}

// ErrUnknown is the error of Load for a name that is not in List.
var ErrUnknown = errors.New("unknown data set")

// List describes the known data sets, in the order of their names, and looks for their files below dir. An empty dir means
// that there is no data directory.
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

// LoadTable returns a tabular data set by name, with the column to predict. Errors are as those of Load.
func LoadTable(name, dir string) (t *Table, target string, err error) {
	k, err := find(name)
	if err != nil {
		return nil, "", err
	}
	if k.Target == "" {
		return nil, "", fmt.Errorf("data set %s is not a table", name)
	}
	path, raw, err := k.opener(dir)(pins[name][0].file)
	if err != nil {
		return nil, "", err
	}
	if t, err = DecodeCSV(path, raw, CSV{Target: k.Target}); err != nil {
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

// Load returns a data set by name, reading its files below dir unless it is built in. All rows of a table are training
// examples, and inputs and targets are not standardised. An unknown name is ErrUnknown; other errors name the file.
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

// opener returns the bytes of a file below the data directory, and its whole path for errors.
type opener func(file string) (path string, raw []byte, err error)

// named tells the user how to name the data directory.
const named = "(--data-dir DIR or STARLING_DATA)"

func (k *Known) opener(dir string) opener {
	if k.BuiltIn {
		return builtin
	}
	return func(file string) (string, []byte, error) {
		path, err := k.locate(dir, file)
		if err != nil {
			return path, nil, err
		}
		raw, err := readFile(path)
		return path, raw, err
	}
}

// locate returns the path of an existing file of the set.
func (k *Known) locate(dir, file string) (string, error) {
	if dir == "" {
		return "", fmt.Errorf("data set %s is read from files: name the data directory that holds %s %s", k.Name, file, named)
	}
	path := k.path(dir, file)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return path, fmt.Errorf("data set %s: %w: the data directory %s %s lacks this file: %s", k.Name, err, dir, named, k.HowToGet())
	case err == nil && !info.Mode().IsRegular():
		err = fmt.Errorf("%s: is not a regular file", path)
	}
	return path, err
}

// path is the place of a file of the set below the data directory: in the folder of the set's name, or in the folder that
// its archive unpacks to.
func (k *Known) path(dir, file string) string {
	path := filepath.Join(dir, filepath.FromSlash(file))
	for _, d := range downloads[k.Name] {
		if d.folder == "" {
			continue
		}
		unpacked := filepath.Join(dir, d.folder, filepath.Base(path))
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			if _, err := os.Stat(unpacked); err == nil {
				return unpacked
			}
		}
	}
	return path
}

// HowToGet says how to get the files of the set.
func (k *Known) HowToGet() string {
	if k.Download {
		return "get it with starling data fetch " + k.Name
	}
	return "no server has it in this form: data/LICENSES.md of starling's sources says how to make it"
}

// without returns the table without the named columns. An unknown name is an error.
func (t *Table) without(names []string) (*Table, error) {
	for _, name := range names {
		j, err := t.Column(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.Name, err)
		}
		u := *t
		u.Cols--
		u.Header = slices.Delete(slices.Clone(t.Header), j, j+1)
		u.Values = make([]float64, 0, t.Rows()*u.Cols)
		for i := range t.Rows() {
			row := t.Values[i*t.Cols : (i+1)*t.Cols]
			u.Values = append(append(u.Values, row[:j]...), row[j+1:]...)
		}
		t = &u
	}
	return t, nil
}

func allRows(t *Table) []int32 {
	all := make([]int32, t.Rows())
	for i := range all {
		all[i] = int32(i)
	}
	return all
}
