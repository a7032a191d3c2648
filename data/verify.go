package data

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ErrContent is the error of a file whose content is not that of the known data set.
var ErrContent = errors.New("wrong content")

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
	k, err := find(name)
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
			return fmt.Sprintf("%s of %s bytes are left of an interrupted download", thousands(uint64(info.Size())), thousands(uint64(d.Size)))
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
	path := k.path(dir, p.file)
	if p.size == 0 {
		t, err := ReadCSV(path, CSV{})
		if err != nil {
			return err
		}
		return p.compareTo(path, t.canonical())
	}
	if info, err := os.Stat(path); err != nil {
		return err
	} else if !info.Mode().IsRegular() {
		return fmt.Errorf("%s: %w: is not a regular file", path, ErrContent)
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return p.compare(path, f)
}

// compare reads at most one byte more than the pinned size.
func (p pin) compare(path string, r io.Reader) error {
	if strings.HasSuffix(p.file, ".gz") {
		z, err := gzip.NewReader(r)
		if err != nil {
			return fmt.Errorf("%s: %w: damaged gzip: %w", path, ErrContent, ended(err))
		}
		r = z
	}
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(r, p.size+1))
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w: byte %d: %w", path, ErrContent, n, ended(err))
	case n > p.size:
		return fmt.Errorf("%s: %w: more than %s bytes", path, ErrContent, thousands(uint64(p.size)))
	case n < p.size:
		return fmt.Errorf("%s: %w: %s bytes, want %s", path, ErrContent, thousands(uint64(n)), thousands(uint64(p.size)))
	}
	return p.compareTo(path, h.Sum(nil))
}

func (p pin) compareTo(path string, sum []byte) error {
	if s := hex.EncodeToString(sum); s != p.sum {
		return fmt.Errorf("%s: %w: SHA-256 %s, want %s", path, ErrContent, s, p.sum)
	}
	return nil
}

// canonical is the SHA-256 of the table as text: lines that end in LF, cells with commas between them and without
// quotes, the names of the columns first, numbers in the shortest form that reads back exactly. How a file writes its
// numbers, delimiters and line ends does not matter.
func (t *Table) canonical() []byte {
	h := sha256.New()
	io.WriteString(h, strings.Join(t.Header, ",")+"\n")
	var line []byte
	for i := range t.Rows() {
		line = line[:0]
		for _, v := range t.Values[i*t.Cols : (i+1)*t.Cols] {
			line = append(strconv.AppendFloat(line, v, 'g', -1, 64), ',')
		}
		line[len(line)-1] = '\n'
		h.Write(line)
	}
	return h.Sum(nil)
}
