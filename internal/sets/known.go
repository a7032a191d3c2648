// Package sets holds the data sets that are known by name: those that the program has in it, and those whose files a user has or fetches,
// which it compares with their known sums.
package sets

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/starling-smc/starling/internal/arrays"
	"github.com/starling-smc/starling/internal/formats"
	"github.com/starling-smc/starling/internal/tables"
)

// Known describes a data set that is known by name.
type Known struct {
	Name     string
	About    string
	Licence  string
	Train    int // number of examples; for a table all rows, before some are held out
	Validate int
	Test     int
	Groups   []string
	// Calibrate is the number of labelled examples that no network learns from, for decisions about its predictions, and Foreign are
	// groups, with names of their own, that are known beforehand.
	Calibrate int
	Foreign   []string
	Whole     bool     // nothing is held out of the training examples
	Target    string   // the column to predict if the set is a table, like a user's own CSV; else empty
	BuiltIn   bool     // the program holds it
	Files     []string // below the data directory; nil: built in
	Found     bool     // built in, or all Files are there
	Download  bool     // Fetch can download the Files

	unused []string // of a table: columns that are not inputs

	// Pictures says how the files of a set of pictures are read, Text how the file of a text is. Both are nil: it is a table.
	Pictures *Pictures
	Text     *Text
	// Scaled is the target of a table that is not like a user's own: the network takes every input centred and scaled to sd 0.5, after one
	// that is always 1. Else it is empty.
	Scaled string
}

// ErrUnknown is the error for a name that is not in List.
var ErrUnknown = errors.New("unknown data set")

// named tells the user how to name the data directory.
const named = "(--data-dir DIR or STARLING_DATA)"

// sound returns the path of a file of the set below the data directory. The file is there, and if its bytes are pinned, it has
// the known content. Errors name the file and say what to do.
func (k *Known) sound(p pin, dir string) (path string, err error) {
	if path, err = k.Locate(dir, p.file); err == nil && p.size > 0 {
		err = k.mend(p.verifyOnce(path, dir))
	}
	return path, err
}

// array reads an array of the set, IDX.
func (k *Known) array(p pin, dir string) (*arrays.Array, error) {
	if k.BuiltIn {
		raw, err := builtin(p.file)
		if err != nil {
			return nil, err
		}
		return arrays.Decode(p.file, raw, arrays.IDX)
	}
	path, err := k.sound(p, dir)
	if err != nil {
		return nil, err
	}
	return formats.ReadArrayAs(path, arrays.IDX)
}

// Table reads the table of the set. What a table holds is compared with its pin each time, which takes less than reading it.
func (k *Known) Table(dir string) (*tables.Table, error) {
	p := pins[k.Name][0]
	if k.BuiltIn {
		raw, err := builtin(p.file)
		if err != nil {
			return nil, err
		}
		return formats.DecodeCSV(p.file, raw, tables.CSV{})
	}
	path, err := k.sound(p, dir)
	if err != nil {
		return nil, err
	}
	t, err := p.table(path)
	return t, k.mend(err)
}

// mend adds to the error for wrong content what to do about it.
func (k *Known) mend(err error) error {
	if errors.Is(err, ErrContent) {
		return fmt.Errorf("%w (data set %s: %s)", err, k.Name, k.HowToMend())
	}
	return err
}

// Locate returns the path of an existing file of the set.
func (k *Known) Locate(dir, file string) (string, error) {
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

// HowToMend says what to do about files of the set with other content.
func (k *Known) HowToMend() string {
	if k.Download {
		return "move the wrong files away, then " + k.HowToGet()
	}
	return k.HowToGet()
}
