package paper

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/internal/runs"
)

// A cell may take networks from runs of other cells (Cell.Needs): it begins at one, or scores several together. Which networks those were is
// kept beside its own run by their checksums. So a run that was made of networks which are others now is told of, and never stands beside them.

// Need is a run of another cell.
type Need struct {
	Cell  string
	Later uint64 // added to the seed; 0: the run of the same seed
}

// networksFile is the file of a run whose networks others take.
const networksFile = "map.safetensors"

// network is the folder of the run that a cell needs first; empty for a config that is only looked at.
func (at Place) network() string {
	if at.Needs == nil {
		return ""
	}
	return at.Needs[0]
}

// neededFile keeps of which networks a run in a folder was made. It lies beside the folder.
func neededFile(dir string) string { return dir + ".needs" }

// needed is that file.
type needed struct {
	Networks map[string]string `json:"networks"` // the SHA-256 of the networks, by the name of the folder of their run
}

// MissingError names a run whose networks a cell takes, and which is not there.
type MissingError struct {
	Cell string
	Seed uint64
	Err  error
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("the run of cell %s, seed %d, is missing: %v", e.Cell, e.Seed, e.Err)
}
func (e *MissingError) Unwrap() error { return e.Err }

// networksIn is the checksum of the networks of a run: of those that its search found, or of the posterior, where that is taken or there was no
// search. The error is a *starling.NotDoneError if there is no finished run.
func networksIn(dir string, posterior bool) (string, error) {
	m, err := runs.ReadManifest(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && m.Status != runs.Done {
		return "", &starling.NotDoneError{Err: fmt.Errorf("%s, whose networks the cell takes, holds no finished run", dir)}
	}
	if err != nil {
		return "", err
	}
	if posterior {
		return cmp.Or(m.Files[posteriorFile], m.Checksum), nil
	}
	return cmp.Or(m.Files[networksFile], m.Files[posteriorFile], m.Checksum), nil
}

// keepNeeds keeps of which networks the run in a folder is made, before it begins. The networks of a run that goes on must be the same.
func keepNeeds(dir string, needs []string, posterior bool) error {
	if needs == nil {
		return nil
	}
	now := needed{map[string]string{}}
	for _, from := range needs {
		sum, err := networksIn(from, posterior)
		if err != nil {
			return &starling.DataError{Err: fmt.Errorf("the network that the cell begins at: %w", err)}
		}
		now.Networks[filepath.Base(from)] = sum
	}
	if _, err := os.Stat(neededFile(dir)); err == nil {
		if _, err := os.Stat(dir); err == nil {
			return checkNeeds(dir, needs, posterior)
		}
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return err
	}
	return ckpt.Replace(neededFile(dir), "", func(w io.Writer) error { return jsontext.Write(w, now) })
}

// checkNeeds refuses a run of networks that are others now. Networks that are gone, and runs of which nothing is kept, are none.
func checkNeeds(dir string, needs []string, posterior bool) error {
	if needs == nil {
		return nil
	}
	text, err := os.ReadFile(neededFile(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var was needed
	if err == nil {
		err = jsontext.Read(text, &was)
	}
	if err != nil {
		return &starling.DataError{Err: fmt.Errorf("%s does not say of which networks %s was made: move both away, and the same command makes the run again: %w", neededFile(dir), dir, err)}
	}
	for _, from := range needs {
		sum, err := networksIn(from, posterior)
		if errors.As(err, new(*starling.NotDoneError)) {
			continue
		}
		if err != nil {
			return err
		}
		if before := was.Networks[filepath.Base(from)]; sum != before {
			return &starling.DataError{Err: fmt.Errorf("%s was made of the networks in %s, which has changed since (checksum %.12s, was %.12s): "+
				"move %s away, and naming its cell makes it again; or bring the former %s back", dir, from, sum, before, dir, from)}
		}
	}
	return nil
}
