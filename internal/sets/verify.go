package sets

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/starling-smc/starling/internal/numeral"
)

// Verified is the result of Verify for one file.
type Verified struct {
	File  string // below the data directory, its path; of a built-in set, its name within the program
	State State
	Why   string // the fault, or how much of a missing file was downloaded; else empty
}

// State says whether a file has the known content.
type State string

const (
	OK      State = "ok"
	Missing State = "missing"
	Wrong   State = "wrong"
)

// Verify compares the files of a known data set with their known checksums. The checksum of a packed file is over the
// unpacked bytes. The checksum of a table in the data directory is over the names of its columns and its numbers. An unknown
// name is ErrUnknown; with an empty dir there is no data directory.
func Verify(name, dir string) ([]Verified, error) {
	k, err := Find(name)
	if err != nil {
		return nil, err
	}
	var list []Verified
	for _, p := range pins[name] {
		v := Verified{File: p.file, State: OK}
		if !k.BuiltIn {
			v.File = k.path(dir, p.file)
		}
		switch err := k.verify(p, dir); {
		case errors.Is(err, fs.ErrNotExist):
			v.State = Missing
			v.Why = k.begun(dir, p.file)
		case err != nil:
			v.State = Wrong
			v.Why = strings.TrimPrefix(strings.TrimPrefix(err.Error(), v.File+": "), ErrContent.Error()+": ")
		}
		list = append(list, v)
	}
	return list, nil
}

// begun says how much of a file a broken download has left, if anything.
func (k *Known) begun(dir, file string) string {
	for _, d := range downloads[k.Name] {
		if dir == "" || d.folder == "" && d.file != file {
			continue
		}
		if info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(d.file)) + partial); err == nil {
			return fmt.Sprintf("%s of %s bytes are left of an interrupted download", numeral.Grouped(strconv.FormatInt(info.Size(), 10)), numeral.Grouped(strconv.FormatInt(d.Size, 10)))
		}
	}
	return ""
}

// verify compares one file with its pin. The error is fs.ErrNotExist for a missing file and ErrContent for a wrong one.
func (k *Known) verify(p pin, dir string) error {
	if k.BuiltIn {
		f, err := embedded.Open(p.file)
		if err != nil {
			return err
		}
		defer f.Close()
		return p.compare(p.file, f)
	}
	if dir == "" {
		return fs.ErrNotExist
	}
	return p.compareFile(k.path(dir, p.file))
}
