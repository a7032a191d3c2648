package sets

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/starling-smc/starling/internal/formats"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/packed"
	"github.com/starling-smc/starling/internal/regular"
	"github.com/starling-smc/starling/internal/tables"
)

// ErrContent is the error of a file whose content is not that of the known data set.
var ErrContent = errors.New("wrong content")

// compareFile compares a file with its pin. The error is fs.ErrNotExist for a missing file and ErrContent for a wrong one.
func (p pin) compareFile(path string) error {
	if p.size == 0 {
		_, err := p.table(path)
		return err
	}
	_, err := packed.Reading(path, regular.Open, func(f *regular.File) (none struct{}, err error) { return none, p.compare(path, f) })
	if errors.Is(err, regular.ErrIrregular) {
		return fmt.Errorf("%s: %w: is not a regular file", path, ErrContent)
	}
	return err
}

// table reads a table and compares it with the pin.
func (p pin) table(path string) (*tables.Table, error) {
	t, err := formats.ReadCSV(path, tables.CSV{})
	if err != nil {
		return nil, err
	}
	return t, p.compareTo(path, canonical(t))
}

// compare reads at most one byte more than the pinned size.
func (p pin) compare(path string, r io.Reader) error {
	if strings.HasSuffix(p.file, ".gz") {
		z, err := gzip.NewReader(r)
		if err != nil {
			return fmt.Errorf("%s: %w: damaged gzip: %w", path, ErrContent, packed.Ended(err))
		}
		r = z
	}
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(r, p.size+1))
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w: byte %d: %w", path, ErrContent, n, packed.Ended(err))
	case n > p.size:
		return fmt.Errorf("%s: %w: more than %s bytes", path, ErrContent, numeral.Grouped(strconv.FormatInt(p.size, 10)))
	case n < p.size:
		return fmt.Errorf("%s: %w: %s bytes, want %s", path, ErrContent, numeral.Grouped(strconv.FormatInt(n, 10)), numeral.Grouped(strconv.FormatInt(p.size, 10)))
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
func canonical(t *tables.Table) []byte {
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

// PinText lets the text of a set be another, likewise.
func PinText(name string, text []byte) (restore func()) {
	old, sum := pins[name], sha256.Sum256(text)
	pins[name] = []pin{{file: old[0].file, size: int64(len(text)), sum: hex.EncodeToString(sum[:])}}
	return func() { pins[name] = old }
}

// PinImages lets the images of a set in CIFAR's form be others and fewer, likewise: so many to train and to test, in these files, by their names.
func PinImages(name string, train, test int, files map[string][]byte) (restore func()) {
	old := pins[name]
	other := slices.Clone(old)
	for i, p := range other {
		content := files[filepath.Base(p.file)]
		sum := sha256.Sum256(content)
		other[i].size, other[i].sum = int64(len(content)), hex.EncodeToString(sum[:])
	}
	pins[name], pinned[name] = other, [2]int{train, test}
	return func() {
		pins[name] = old
		delete(pinned, name)
	}
}

// pinned are the images to train and to test of sets that PinImages has changed.
var pinned = map[string][2]int{}

// Pin lets the table of a set be another, for tests of those who load it, until restore is called.
func Pin(name string, file string, t *tables.Table) (restore func()) {
	old := pins[name]
	pins[name] = []pin{{file: file, sum: hex.EncodeToString(canonical(t))}}
	return func() { pins[name] = old }
}
