package safetensors

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
)

// Index says which files hold the tensors of a large one: see Cut.
type Index struct {
	Files []string // in order

	indexFile
}

// ReadIndex reads the index of the files that were written in place of one of that name.
func ReadIndex(name string, text []byte) (*Index, error) {
	x := new(Index)
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&x.indexFile); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, errors.New("something follows the index")
	}
	named := map[string]bool{}
	for _, file := range x.indexFile.Files {
		named[file] = true
	}
	for i := range len(named) {
		file := pieceName(name, i+1, len(named))
		if !named[file] {
			return nil, fmt.Errorf("weight_map names %d files, and %s is not among them", len(named), file)
		}
		x.Files = append(x.Files, file)
	}
	if x.Files == nil {
		return nil, errors.New("weight_map names no file")
	}
	return x, nil
}

// Join returns the tensors of the index's files, each opened, as those of one file. Pieces of a tensor become the tensor.
func (x *Index) Join(files []*File) (*File, error) {
	all := &File{Metadata: files[0].Metadata}
	at, listed, size := map[string]int{}, 0, int64(0) // at: of each tensor its number in all
	for k, f := range files {
		name := x.Files[k]
		if !maps.Equal(f.Metadata, all.Metadata) {
			return nil, fmt.Errorf("%s has other metadata than %s: are they of one run?", name, x.Files[0])
		}
		for i, t := range f.Tensors {
			if x.indexFile.Files[t.Name] != name {
				return nil, fmt.Errorf("%s has tensor %s, which the index does not have there", name, t.Name)
			}
			listed++
			size += int64(f.bytes(i))
			if err := all.join(t, f.places[i], at); err != nil {
				return nil, fmt.Errorf("%s: tensor %s: %w", name, t.Name, err)
			}
		}
	}
	if listed != len(x.indexFile.Files) {
		return nil, fmt.Errorf("the files have %d tensors and pieces of tensors, the index has %d", listed, len(x.indexFile.Files))
	}
	if size != x.Metadata.Bytes {
		return nil, fmt.Errorf("the files have %d bytes of values, the index has %d", size, x.Metadata.Bytes)
	}
	return all, nil
}

// join appends a tensor, or a piece of one.
func (f *File) join(t Tensor, places []place, at map[string]int) error {
	first, end := 0, 0
	if m := slicedName.FindStringSubmatch(t.Name); m != nil {
		var err, err2 error
		first, err = strconv.Atoi(m[2])
		end, err2 = strconv.Atoi(m[3])
		if err != nil || err2 != nil || len(t.Shape) == 0 || end-first != t.Shape[0] {
			return fmt.Errorf("has shape %v, which is not that of its piece", t.Shape)
		}
		t.Name = m[1]
	}
	i, begun := at[t.Name]
	if !begun {
		if first > 0 {
			return errors.New("the piece before it is not in the files before it")
		}
		at[t.Name] = len(f.Tensors)
		t.Shape = slices.Clone(t.Shape)
		f.Tensors, f.places = append(f.Tensors, t), append(f.places, places)
		return nil
	}
	whole := &f.Tensors[i]
	if first == 0 || len(whole.Shape) == 0 || first != whole.Shape[0] || t.DType != whole.DType || !slices.Equal(t.Shape[1:], whole.Shape[1:]) {
		return fmt.Errorf("%s %v does not continue %s %v of the files before it", t.DType, t.Shape, whole.DType, whole.Shape)
	}
	whole.Shape[0] = end
	f.places[i] = append(slices.Clip(f.places[i]), places...)
	return nil
}

// slicedName is the name of a piece of a tensor.
var slicedName = regexp.MustCompile(`^(.*)\[([0-9]+):([0-9]+)\]$`)
