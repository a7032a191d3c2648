package bnn

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
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
	own   []float32 // of each vector the last numbers, which are the likelihood's own parameters
}

// memberFile is a file of members.
type memberFile struct {
	file      *safetensors.File
	tensors   []int // of the network's random tensors, their numbers in the file
	before    int   // members in the files before
	first     int   // members of the file itself that come before these
	particles int
}

// inMemory is the number of parameters of an ensemble up to which a file is read whole.
const inMemory = 1 << 21

// reader reads the random tensors of a file for the first time, and refuses numbers in them that are not finite.
type reader struct {
	memberFile
	dim   int
	theta []float32 // becomes all parameters, unless it is nil
	own   []float32 // becomes the likelihood's own parameters of each vector, its last numbers
}

// read reads t, which is tensor i of the file.
func (r *reader) read(i int, t nn.Tensor) error {
	p, k := 0, t.Offset
	return r.file.Values(i, 0, r.particles*t.Size, func(values []float64) error {
		for _, x := range values {
			if x-x != 0 {
				return fmt.Errorf("posterior: parameter %d of particle %d is %v", k, p, x)
			}
			if r.theta != nil {
				r.theta[p*r.dim+k] = float32(x)
			}
			if own := len(r.own) / r.particles; k >= r.dim-own {
				r.own[p*own+k-r.dim+own] = float32(x)
			}
			if k++; k == t.Offset+t.Size {
				p, k = p+1, t.Offset
			}
		}
		return nil
	})
}

// members are those of the file that was read.
func (r *reader) members(net *nn.Net) *Members {
	return &Members{net: net, files: []memberFile{r.memberFile}, own: r.own}
}

// Size is the number of members.
func (m *Members) Size() int {
	if len(m.files) == 0 {
		return 0
	}
	last := m.files[len(m.files)-1]
	return last.before + last.particles
}

// JoinMembers returns the members of several, one after another, in time in proportion to their number. nil has none.
func JoinMembers(parts ...*Members) *Members {
	var all *Members
	for _, m := range parts {
		switch {
		case m == nil:
			continue
		case all == nil:
			all = &Members{net: m.net}
		}
		before := all.Size()
		for _, f := range m.files {
			f.before += before
			all.files = append(all.files, f)
		}
		all.own = append(all.own, m.own...)
	}
	return all
}

// part are the members from first to before end.
func (m *Members) part(first, end int) *Members {
	some, own := &Members{net: m.net}, len(m.own)/max(1, m.Size())
	for _, f := range m.files {
		low, high := max(first, f.before), min(end, f.before+f.particles)
		if low < high {
			some.files = append(some.files, memberFile{file: f.file, tensors: f.tensors, before: low - first, first: f.first + low - f.before, particles: high - low})
		}
	}
	some.own = slices.Clone(m.own[first*own : end*own])
	return some
}

// read reads size parameters, from offset on, of each of n members.
func (m *Members) read(first, n, offset, size int, to []float32) error {
	for at := sort.Search(len(m.files), func(i int) bool { return m.files[i].before+m.files[i].particles > first }); n > 0; at++ {
		f := m.files[at]
		here := min(n, f.before+f.particles-first)
		if err := f.read(m.net, f.first+first-f.before, here, offset, size, to); err != nil {
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
		j, k := 0, t.Offset
		err := f.file.Values(f.tensors[i], first*t.Size, n*t.Size, func(values []float64) error {
			for _, x := range values {
				if from <= k && k < end {
					to[j*size+k-offset] = float32(x)
				}
				if k++; k == t.Offset+t.Size {
					j, k = j+1, t.Offset
				}
			}
			return nil
		})
		if err != nil {
			return err
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

// Random returns the random parameters of a network, θ_j.
func (e *Ensemble) Random(j int) ([]float64, error) {
	d := e.Net.Dim()
	values := make([]float32, d)
	if err := e.parameters(j, 1, 0, d, values); err != nil {
		return nil, err
	}
	theta := make([]float64, d)
	for i, x := range values {
		theta[i] = float64(x)
	}
	return theta, nil
}

// slice copies size numbers, from offset on, of each of n rows of a matrix.
func slice(matrix []float32, pitch, n, offset, size int, to []float32) {
	for j := range n {
		copy(to[j*size:(j+1)*size], matrix[j*pitch+offset:])
	}
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
		i.Members, i.Theta = JoinMembers(i.Members, last), nil
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
		if int64(one.particles) > size { // of tensors without parameters there may be as many as a header likes
			return nil, fmt.Errorf("tensor %s of %d particles is in a file of %d bytes", t.Name, one.particles, size)
		}
	}
	r := reader{memberFile: one, dim: net.Dim(), own: make([]float32, one.particles*ownParameters(net))}
	for k, t := range net.Random() { // in the order in which they were written
		if err := r.read(one.tensors[k], t); err != nil {
			return nil, err
		}
	}
	return r.members(net), nil
}
