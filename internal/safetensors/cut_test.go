package safetensors

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
)

// three are tensors of which the second is the largest, and is written a few rows at a time.
func three() []Tensor {
	values := make([]byte, 4*7*5)
	for i := range values {
		values[i] = byte(i % 60) // no NaN among the floats
	}
	rows := func(w io.Writer, first, n int) error {
		_, err := w.Write(values[first*5*4 : (first+n)*5*4])
		return err
	}
	return []Tensor{
		{Name: "a", DType: "F64", Shape: []int{3}, Data: values[:24]},
		{Name: "b", DType: "F32", Shape: []int{7, 5}, Rows: rows},
		{Name: "c", DType: "I32", Shape: []int{6}, Data: values[8:32]},
	}
}

// cutInto writes three in files of so many bytes at most, by name, and their index.
func cutInto(t *testing.T, most int64, metadata map[string]string) (files map[string][]byte, index []byte) {
	t.Helper()
	outputs, err := Cut("x.safetensors", most, metadata, three())
	if err != nil {
		t.Fatal(err)
	}
	files = map[string][]byte{}
	for _, o := range outputs {
		var b bytes.Buffer
		if err := o.Write(&b); err != nil {
			t.Fatal(err)
		}
		files[o.Name] = b.Bytes()
	}
	if len(outputs) == 1 {
		return files, nil
	}
	index = files[outputs[len(outputs)-1].Name]
	delete(files, IndexName("x.safetensors"))
	return files, index
}

// joined reads files of cutInto.
func joined(files map[string][]byte, index []byte) (*File, error) {
	x, err := ReadIndex("x.safetensors", index)
	if err != nil {
		return nil, err
	}
	parts := make([]*File, len(x.Files))
	for i, name := range x.Files {
		if parts[i], err = Open(bytes.NewReader(files[name]), int64(len(files[name]))); err != nil {
			return nil, err
		}
	}
	return x.Join(parts)
}

// values are all that File.Values visits.
func values(f *File, i, from, n int) (all []float64, err error) {
	err = f.Values(i, from, n, func(few []float64) error {
		all = append(all, few...)
		return nil
	})
	return all, err
}

// TestCut: files of any size have the tensors of the one, and none has more values than it may unless one row has.
func TestCut(t *testing.T) {
	whole, _ := cutInto(t, 0, map[string]string{"k": "v"})
	want, err := Open(bytes.NewReader(whole["x.safetensors"]), int64(len(whole["x.safetensors"])))
	if err != nil || len(whole) != 1 {
		t.Fatal(err, len(whole))
	}
	if one, _ := cutInto(t, int64(len(whole["x.safetensors"])), map[string]string{"k": "v"}); len(one) != 1 {
		t.Errorf("a file that may be as large as it is was written as %d", len(one))
	}
	for _, most := range []int64{1, 24, 40, 47, 60, 100, 164, 188} {
		files, index := cutInto(t, most, map[string]string{"k": "v"})
		got, err := joined(files, index)
		if err != nil {
			t.Fatal(most, err)
		}
		if got.Metadata["k"] != "v" || len(got.Tensors) != 3 || len(files) < 2 && most < 188 {
			t.Errorf("at most %d bytes: metadata %v, %d tensors in %d files", most, got.Metadata, len(got.Tensors), len(files))
		}
		for i, tensor := range got.Tensors {
			a, err1 := got.All(i)
			b, err2 := want.All(want.Find(tensor.Name))
			if err1 != nil || err2 != nil || a.Name != b.Name || a.DType != b.DType || !slices.Equal(a.Shape, b.Shape) || !bytes.Equal(a.Data, b.Data) {
				t.Errorf("at most %d bytes: %v %v %v, want %v (%v, %v)", most, a.Name, a.Shape, a.Data, b.Data, err1, err2)
			}
		}
		if i := got.Find("b"); i >= 0 { // across the seams
			for first := range 35 {
				a, err := values(got, i, first, 35-first)
				b, _ := values(want, want.Find("b"), first, 35-first)
				if err != nil || !slices.Equal(a, b) {
					t.Errorf("at most %d bytes: values from %d on are %v, want %v (%v)", most, first, a, b, err)
				}
			}
		}
		for name, text := range files {
			f, _ := Open(bytes.NewReader(text), int64(len(text)))
			n := 0
			for i := range f.Tensors {
				n += f.bytes(i)
			}
			if int64(n) > max(most, 24) { // a row of b has 20 bytes, and one tensor has 24 and is not cut below its rows
				t.Errorf("at most %d bytes: %s has %d", most, name, n)
			}
			if !IsCut("x.safetensors", name) || !IsCut("x.safetensors", "x.safetensors.index.json") {
				t.Errorf("%s is not known", name)
			}
		}
	}
	for _, other := range []string{"x.safetensors", "x-1-of-2.safetensors", "x-00003-of-00002.safetensors", "x-00000-of-00002.safetensors", "y-00001-of-00002.safetensors", "x-00001-of-00002.json"} {
		if IsCut("x.safetensors", other) {
			t.Errorf("%s is taken for a file of x.safetensors", other)
		}
	}
}

// TestCutFaults: files that do not fit each other, or the index, are refused by name.
func TestCutFaults(t *testing.T) {
	good, index := cutInto(t, 60, nil)
	edited := func(edit func(x *indexFile)) []byte {
		var x indexFile
		if err := json.Unmarshal(index, &x); err != nil {
			t.Fatal(err)
		}
		edit(&x)
		text, _ := json.Marshal(x)
		return text
	}
	names := slices.Sorted(func(yield func(string) bool) {
		for name := range good {
			if !yield(name) {
				return
			}
		}
	})
	if len(names) != 4 {
		t.Fatal(names)
	}
	swapped := map[string][]byte{}
	for i, name := range names {
		swapped[name] = good[names[len(names)-1-i]]
	}
	other, _ := cutInto(t, 60, map[string]string{"of": "another"})
	mixed := map[string][]byte{names[0]: good[names[0]], names[1]: other[names[1]], names[2]: good[names[2]], names[3]: good[names[3]]}
	for name, c := range map[string]struct {
		files map[string][]byte
		index []byte
		want  string
	}{
		"no json":       {good, []byte("{"), "unexpected EOF"},
		"unknown key":   {good, []byte(`{"metadata": {"total_size": 1}, "weights": {}}`), "weights"},
		"two":           {good, append(slices.Clone(index), index...), "something follows"},
		"no file":       {good, edited(func(x *indexFile) { x.Files = nil }), "names no file"},
		"a tensor less": {good, edited(func(x *indexFile) { delete(x.Files, "c") }), "which the index does not have there"},
		"another name":  {good, edited(func(x *indexFile) { x.Files["c"] = "y.safetensors" }), "is not among them"},
		"a tensor more": {good, edited(func(x *indexFile) { x.Files["d"] = names[0] }), "tensors and pieces of tensors"},
		"another size":  {good, edited(func(x *indexFile) { x.Metadata.Bytes++ }), "bytes of values"},
		"swapped":       {swapped, index, "which the index does not have there"},
		"another run's": {mixed, index, "has other metadata"},
	} {
		if _, err := joined(c.files, c.index); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestPieces: pieces of a tensor that do not continue each other are refused.
func TestPieces(t *testing.T) {
	piece := func(name string, n int) Tensor {
		return Tensor{Name: name, DType: "I32", Shape: []int{n}, Data: make([]byte, 4*n)}
	}
	for name, c := range map[string]struct {
		tensors []Tensor
		want    string
	}{
		"a gap":       {[]Tensor{piece("b[0:2]", 2), piece("b[3:4]", 1)}, "does not continue"},
		"an overlap":  {[]Tensor{piece("b[0:2]", 2), piece("b[1:3]", 2)}, "does not continue"},
		"twice":       {[]Tensor{piece("b[0:2]", 2), piece("b[0:2]", 2)}, "does not continue"},
		"a late one":  {[]Tensor{piece("b[2:4]", 2)}, "before it"},
		"other shape": {[]Tensor{piece("b[0:2]", 2), piece("b[2:5]", 2)}, "is not that of its piece"},
	} {
		var files []*File
		index := indexFile{Files: map[string]string{}}
		for i, p := range c.tensors {
			var b bytes.Buffer
			if err := Write(&b, []Tensor{p}); err != nil {
				t.Fatal(err)
			}
			f, err := Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
			index.Files[p.Name] = pieceName("x.safetensors", i+1, len(c.tensors))
		}
		x := &Index{indexFile: index}
		for i := range files {
			x.Files = append(x.Files, pieceName("x.safetensors", i+1, len(files)))
		}
		if name == "twice" {
			index.Files["b[0:2]"] = x.Files[0]
			c.want = "which the index does not have there"
		}
		if _, err := x.Join(files); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// FuzzReadIndex: an index that reads names its files in order, each once, and joins none that lack its tensors.
func FuzzReadIndex(f *testing.F) {
	f.Add([]byte(`{"metadata":{},"weight_map":{"a":"x-00001-of-00002.safetensors","b":"x-00002-of-00002.safetensors"}}`))
	f.Add([]byte(`{"weight_map":{"a":"x-00001-of-00001.safetensors"}}{}`))
	f.Add([]byte(`{"weight_map":{}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		x, err := ReadIndex("x.safetensors", text)
		if err != nil {
			return
		}
		files := make([]*File, len(x.Files))
		for i, name := range x.Files {
			files[i] = new(File)
			if name != pieceName("x.safetensors", i+1, len(x.Files)) {
				t.Errorf("file %d of %d is %s", i+1, len(x.Files), name)
			}
		}
		if _, err := x.Join(files); err == nil {
			t.Error("files without tensors are joined")
		}
	})
}
