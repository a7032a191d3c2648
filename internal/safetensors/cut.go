package safetensors

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A large file is written as several, in the layout of PyTorch's users (Hugging Face's "sharded checkpoints"): for x.safetensors
//
//	x-00001-of-00003.safetensors   some of the tensors, and the metadata
//	x.safetensors.index.json       {"metadata": {"total_size": …}, "weight_map": {"0.weight": "x-00001-of-00003.safetensors", …}}
//
// where total_size is the number of bytes of all values. A tensor that is too large for one file is cut along its first axis. Its pieces
// have names that say which entries of the axis they hold, as slices in Python: 0.weight[0:500], 0.weight[500:730]. A file has at most
// one piece of a tensor, so that torch.cat joins them in the order of the files.

// Output is a file to be written.
type Output struct {
	Name  string
	Write func(w io.Writer) error
}

// Cut returns the files of WriteWith: one of that name, or, if it would have more than most bytes, several and an index, which is the last.
// Each of these has at most that many bytes of values, unless one entry of a tensor's first axis has more. 0 is no limit.
func Cut(name string, most int64, metadata map[string]string, tensors []Tensor) ([]Output, error) {
	head, err := header(metadata, tensors)
	if err != nil {
		return nil, err
	}
	whole := Output{name, func(w io.Writer) error { return WriteWith(w, metadata, tensors) }}
	index := indexFile{Files: map[string]string{}}
	for _, t := range tensors {
		index.Metadata.Bytes += int64(t.bytes())
	}
	if most == 0 || int64(len(head))+index.Metadata.Bytes <= most {
		return []Output{whole}, nil
	}
	files, room := [][]Tensor(nil), int64(0)
	for _, t := range tensors {
		for _, piece := range t.cut(most) {
			n := int64(piece.bytes())
			if files == nil || n > room {
				files, room = append(files, nil), most
			}
			last := len(files) - 1
			files[last], room = append(files[last], piece), room-n
		}
	}
	var outputs []Output
	for i, part := range files {
		file := pieceName(name, i+1, len(files))
		for _, t := range part {
			index.Files[t.Name] = file
		}
		outputs = append(outputs, Output{file, func(w io.Writer) error { return WriteWith(w, metadata, part) }})
	}
	return append(outputs, Output{IndexName(name), index.write}), nil
}

// cut cuts a tensor of more than most bytes along its first axis.
func (t Tensor) cut(most int64) (pieces []Tensor) {
	bytes := t.bytes()
	if int64(bytes) <= most || len(t.Shape) == 0 {
		return []Tensor{t}
	}
	row := bytes / t.Shape[0]
	few := int(max(1, most/int64(row)))
	for first := 0; first < t.Shape[0]; first += few {
		end := min(first+few, t.Shape[0])
		piece := Tensor{Name: fmt.Sprintf("%s[%d:%d]", t.Name, first, end), DType: t.DType, Shape: append([]int{end - first}, t.Shape[1:]...)}
		if t.Rows == nil {
			piece.Data = t.Data[first*row : end*row]
		} else {
			piece.Rows = func(w io.Writer, from, n int) error { return t.Rows(w, first+from, n) }
		}
		pieces = append(pieces, piece)
	}
	return pieces
}

// indexFile is the content of an index.
type indexFile struct {
	Metadata struct {
		Bytes int64 `json:"total_size"`
	} `json:"metadata"`
	Files map[string]string `json:"weight_map"` // of each tensor or piece, by name
}

func (x indexFile) write(w io.Writer) error {
	text, err := json.MarshalIndent(x, "", "  ")
	if err == nil {
		_, err = w.Write(append(text, '\n'))
	}
	return err
}

// IndexName is the name of the index of the files that are written in place of one.
func IndexName(name string) string { return name + ".index.json" }

// pieceName is the name of the i-th of n files that are written in place of one, counted from 1.
func pieceName(name string, i, n int) string {
	return fmt.Sprintf("%s-%05d-of-%05d.safetensors", strings.TrimSuffix(name, ".safetensors"), i, n)
}

// IsCut reports whether a file is one of those that are written in place of one of that name, or their index.
func IsCut(name, file string) bool {
	if file == IndexName(name) {
		return true
	}
	numbers, ok := strings.CutPrefix(strings.TrimSuffix(file, ".safetensors"), strings.TrimSuffix(name, ".safetensors")+"-")
	first, second, both := strings.Cut(numbers, "-of-")
	i, err := strconv.Atoi(first)
	n, err2 := strconv.Atoi(second)
	return ok && both && err == nil && err2 == nil && 1 <= i && i <= n && file == pieceName(name, i, n)
}
