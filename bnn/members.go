package bnn

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"sort"
	"strconv"

	"github.com/starling-smc/starling/internal/safetensors"
	"github.com/starling-smc/starling/nn"
)

// Members are parameter vectors that lie in files, one file after another: posterior.safetensors, or the shards of a run that is at
// work. They are read a few at a time, so that the memory of a prediction does not grow with their number.
type Members struct {
	net   *nn.Net
	files []memberFile
	last  []float32 // of each vector the last number, which may be the likelihood's own parameter
}

// memberFile is a file of members.
type memberFile struct {
	file      *safetensors.File
	tensors   []int // of the network's random tensors, their numbers in the file
	before    int   // members in the files before
	particles int
}

// inMemory is the number of parameters of an ensemble up to which a file is read whole.
const inMemory = 1 << 21

// newMembers opens one file, and refuses numbers in it that are not finite.
func newMembers(net *nn.Net, one memberFile) (*Members, error) {
	m := &Members{net: net, files: []memberFile{one}}
	few, d := max(1, reading/net.Dim()), net.Dim()
	some := make([]float32, min(few, one.particles)*d)
	for first := 0; first < one.particles; first += few {
		n := min(few, one.particles-first)
		if err := m.read(first, n, 0, d, some); err != nil {
			return nil, err
		}
		for i, x := range some[:n*d] {
			if x-x != 0 {
				return nil, fmt.Errorf("posterior: parameter %d of particle %d is %v", i%d, first+i/d, x)
			}
		}
		for j := range n {
			m.last = append(m.last, some[(j+1)*d-1])
		}
	}
	return m, nil
}

// Size is the number of members.
func (m *Members) Size() int { return len(m.last) }

// Join returns the members of m and then those of other. m may be nil.
func (m *Members) Join(other *Members) *Members {
	if m == nil {
		return other
	}
	all := &Members{net: m.net, files: append([]memberFile(nil), m.files...), last: append(append([]float32(nil), m.last...), other.last...)}
	for _, f := range other.files {
		f.before += m.Size()
		all.files = append(all.files, f)
	}
	return all
}

// read reads size parameters, from offset on, of each of n members.
func (m *Members) read(first, n, offset, size int, to []float32) error {
	for at := sort.Search(len(m.files), func(i int) bool { return m.files[i].before+m.files[i].particles > first }); n > 0; at++ {
		f := m.files[at]
		here := min(n, f.before+f.particles-first)
		if err := f.read(m.net, first-f.before, here, offset, size, to); err != nil {
			return err
		}
		first, n, to = first+here, n-here, to[here*size:]
	}
	return nil
}

func (f memberFile) read(net *nn.Net, first, n, offset, size int, to []float32) error {
	for i, t := range net.Random() {
		from, end := max(t.Offset, offset), min(t.Offset+t.Size, offset+size)
		if from >= end {
			continue
		}
		values, err := f.file.Values(f.tensors[i], first*t.Size, n*t.Size)
		if err != nil {
			return err
		}
		for j := range n {
			for k := from; k < end; k++ {
				to[j*size+k-offset] = float32(values[j*t.Size+k-t.Offset])
			}
		}
	}
	return nil
}

// parameters reads size parameters, from offset on, of each of n particles.
func (e *Ensemble) parameters(first, n, offset, size int, to []float32) error {
	if e.Members != nil {
		return e.Members.read(first, n, offset, size, to)
	}
	slice(e.Theta[first*e.Net.Dim():], e.Net.Dim(), n, offset, size, to)
	return nil
}

// slice copies size numbers, from offset on, of each of n rows of a matrix.
func slice(matrix []float32, pitch, n, offset, size int, to []float32) {
	for j := range n {
		copy(to[j*size:(j+1)*size], matrix[j*pitch+offset:])
	}
}

// load reads members into memory, if they are few.
func (e *Ensemble) load() error {
	n := e.Size() * e.Net.Dim()
	if n > inMemory {
		return nil
	}
	e.Theta = make([]float32, n)
	if err := e.Members.read(0, e.Size(), 0, e.Net.Dim(), e.Theta); err != nil {
		return err
	}
	e.Members = nil
	return nil
}

// WriteShard writes some of the parameter vectors of an island, n×D numbers that the format can hold, as a file whose tensors are those of
// posterior.safetensors. Its metadata have the island, and the number of its vectors that were written before.
func WriteShard(w io.Writer, net *nn.Net, theta []float64, format safetensors.Format, island, before int) error {
	d, values := net.Dim(), narrow(nil, theta)
	var tensors []safetensors.Tensor
	for _, t := range net.Random() {
		tensors = append(tensors, stackOne(t, format, len(values)/d, func(first, n, offset, size int, to []float32) error {
			slice(values[first*d:], d, n, offset, size, to)
			return nil
		}))
	}
	return safetensors.WriteWith(w, map[string]string{"before": strconv.Itoa(before), "island": strconv.Itoa(island)}, tensors)
}

// Store moves Theta behind the Members, as a file in memory, for an ensemble whose other particles lie in files.
func (i *Island) Store(net *nn.Net) error {
	if len(i.Theta) == 0 {
		return nil
	}
	var file bytes.Buffer
	if err := WriteShard(&file, net, i.Theta, cmp.Or(i.Format, safetensors.Float32), 0, 0); err != nil {
		return err
	}
	last, err := OpenShard(bytes.NewReader(file.Bytes()), int64(file.Len()), net)
	if err == nil {
		i.Members, i.Theta = i.Members.Join(last), nil
	}
	return err
}

// OpenShard opens a file of WriteShard of some size.
func OpenShard(file io.ReaderAt, size int64, net *nn.Net) (*Members, error) {
	opened, err := safetensors.Open(file, size)
	if err != nil {
		return nil, err
	}
	one := memberFile{file: opened}
	for _, t := range net.Random() {
		i := opened.Find(t.Name)
		if i < 0 || len(opened.Tensors[i].Shape) == 0 {
			return nil, fmt.Errorf("tensor %s of the network is not in the file", t.Name)
		}
		one.tensors, one.particles = append(one.tensors, i), opened.Tensors[i].Shape[0]
	}
	return newMembers(net, one)
}
