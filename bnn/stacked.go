package bnn

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/safetensors"
	"github.com/starling-smc/starling/nn"
)

func floats(name string, values []float64) safetensors.Tensor {
	a := safetensors.Tensor{Name: name, DType: "F64", Shape: []int{len(values)}}
	for _, v := range values {
		a.Data = binary.LittleEndian.AppendUint64(a.Data, math.Float64bits(v))
	}
	return a
}

func integers(name string, values []int32) safetensors.Tensor {
	a := safetensors.Tensor{Name: name, DType: "I32", Shape: []int{len(values)}}
	for _, v := range values {
		a.Data = binary.LittleEndian.AppendUint32(a.Data, uint32(v))
	}
	return a
}

// stack splits θ of the particles, the rows of ψ, and the constants into the network's tensors.
func stack(e *Ensemble) []safetensors.Tensor {
	var tensors []safetensors.Tensor
	for _, t := range e.Net.Tensors() {
		switch t.Role {
		case nn.RoleRandom:
			tensors = append(tensors, stackOne(t, cmp.Or(e.Format, safetensors.Float32), e.Size(), e.parameters))
		case nn.RoleLearned:
			tensors = append(tensors, stackOne(t, safetensors.Float32, e.rows(), rowsOf(e.Shared, e.Net.Learned())))
		default:
			held := e.Net.Held()
			tensors = append(tensors, stackOne(t, safetensors.Float32, 1, rowsOf(held, len(held))))
		}
	}
	return tensors
}

// rowsOf reads tensors of vectors that are in memory.
func rowsOf(values []float32, size int) func(first, n, offset, length int, to []float32) error {
	return func(first, n, offset, length int, to []float32) error {
		slice(values[first*size:], size, n, offset, length, to)
		return nil
	}
}

// stackOne is a tensor of n vectors, whose values read returns a few vectors at a time.
func stackOne(t nn.Tensor, format safetensors.Format, n int, read func(first, n, offset, size int, to []float32) error) safetensors.Tensor {
	a := safetensors.Tensor{Name: t.Name, DType: format.DType(), Shape: append([]int{n}, t.Shape...)}
	a.Rows = func(w io.Writer, first, n int) error {
		few := min(n, 1+reading/t.Size)
		values, text := make([]float32, few*t.Size), make([]byte, 0, few*t.Size*format.Bytes())
		for end := first + n; first < end; first += few {
			some := min(few, end-first)
			if err := read(first, some, t.Offset, t.Size, values); err != nil {
				return err
			}
			if _, err := w.Write(format.Append(text, values[:some*t.Size])); err != nil {
				return err
			}
		}
		return nil
	}
	return a
}

// reading is about how many parameters are read at a time.
const reading = 1 << 18

// allRandom reports whether the network's file has no roles: every tensor is random.
func allRandom(net *nn.Net) bool { return len(net.Random()) == len(net.Tensors()) }

// writeRoles returns the metadata of a file of a network with tensors that are not random.
func writeRoles(net *nn.Net) (map[string]string, error) {
	if allRandom(net) {
		return map[string]string{}, nil
	}
	roles := map[string]string{}
	for _, t := range net.Tensors() {
		roles[t.Name] = t.Role.String()
	}
	text, err := json.Marshal(roles)
	return map[string]string{"roles": string(text)}, err
}

// withRoles returns the network as a file has it, and refuses a file whose tensors have other roles than the network's. Without metadata all
// are random. Where the network has frozen tensors an older file may call them learned, with a row of them for each island.
func withRoles(metadata map[string]string, net *nn.Net) (*nn.Net, error) {
	roles := map[string]string{}
	if text, ok := metadata["roles"]; ok {
		if err := json.Unmarshal([]byte(text), &roles); err != nil {
			return nil, fmt.Errorf("roles in the metadata: %w", err)
		}
	}
	err := checkRoles(roles, net)
	if err != nil && net.Partly() && checkRoles(roles, net.Thawed()) == nil {
		return net.Thawed(), nil
	}
	return net, err
}

func checkRoles(roles map[string]string, net *nn.Net) error {
	for _, t := range net.Tensors() {
		if t.Role == nn.RoleFixed {
			continue // whatever is random, and where an older file says no roles
		}
		if role := cmp.Or(roles[t.Name], nn.RoleRandom.String()); role != t.Role.String() {
			return fmt.Errorf("tensor %s is %s in the file, %s in the network: want the layers to be random that were when the file was written, and its metadata", t.Name, shown(role), t.Role)
		}
	}
	return nil
}

// stacked is an opened file: the network's parameters, and the tensors beside them by name.
type stacked struct {
	net       *nn.Net // with the file's constants
	particles int
	members   *Members  // nil: they are in theta
	theta     []float32 // of few particles
	format    safetensors.Format
	shared    []float32
	row       []int32
	extra     map[string]safetensors.Tensor
}

// open reads a file that holds the tensors of net, stacked, and exactly the extra tensors. Parameters of many particles stay in the file.
func open(opened *safetensors.File, net *nn.Net, extra ...string) (f *stacked, err error) {
	if net, err = withRoles(opened.Metadata, net); err != nil {
		return nil, err
	}
	if net.Learned() > 0 {
		extra = slices.Concat(extra, ofShared)
	}
	at := make(map[string]int, len(opened.Tensors))
	for i, a := range opened.Tensors {
		at[a.Name] = i
	}
	f = &stacked{net: net, extra: map[string]safetensors.Tensor{}}
	for _, name := range extra {
		if i, ok := at[name]; ok {
			if f.extra[name], err = opened.All(i); err != nil {
				return nil, err
			}
		}
	}
	if i, ok := at[net.Random()[0].Name]; ok {
		a := opened.Tensors[i]
		if len(a.Shape) > 0 {
			f.particles = a.Shape[0]
		}
		if f.format = safetensors.Float32; a.DType == safetensors.BFloat16.DType() {
			f.format = safetensors.BFloat16
		}
	}
	rows, err := f.rows()
	if err != nil {
		return nil, err
	}
	var numbers []int // of the network's tensors, in the file
	for _, t := range net.Tensors() {
		i, ok := at[t.Name]
		if !ok {
			return nil, fmt.Errorf("tensor %s %v of the network is not in the file", t.Name, t.Shape)
		}
		if err := f.fits(opened.Tensors[i], t, rows); err != nil {
			return nil, err
		}
		numbers = append(numbers, i)
		delete(at, t.Name)
	}
	for _, name := range extra {
		if _, ok := f.extra[name]; !ok {
			return nil, fmt.Errorf("tensor %s is not in the file", name)
		}
		delete(at, name)
	}
	for _, a := range opened.Tensors {
		if _, ok := at[a.Name]; ok {
			return nil, fmt.Errorf("tensor %s in the file is not in the network", a.Name)
		}
	}
	return f, f.read(opened, net, numbers, rows)
}

// read reads the network's tensors, whose numbers in the file are given, in the file's order.
func (f *stacked) read(opened *safetensors.File, net *nn.Net, numbers []int, rows int) (err error) {
	f.shared = make([]float32, rows*net.Learned()) // bounded by the size of the file
	if n := f.particles * net.Dim(); n <= inMemory {
		f.theta = make([]float32, n)
	}
	var random []int // of the random tensors, their numbers in the file
	tensors, at := net.Tensors(), map[int]int{}
	held := 0
	for _, t := range net.Constants() {
		held += t.Size
	}
	constants := make([]float64, held)
	for k, t := range tensors {
		at[numbers[k]] = k
		if t.Role == nn.RoleRandom {
			random = append(random, numbers[k])
		}
	}
	one := memberFile{file: opened, tensors: random, particles: f.particles}
	r := reader{memberFile: one, dim: net.Dim(), theta: f.theta, own: make([]float32, f.particles*ownParameters(net))}
	for i := range opened.Tensors {
		k, ok := at[i]
		if !ok {
			continue
		}
		t := tensors[k]
		if t.Role == nn.RoleRandom {
			if err := r.read(i, t); err != nil {
				return err
			}
			continue
		}
		a, err := opened.All(i)
		if err != nil {
			return err
		}
		if t.Role == nn.RoleLearned {
			for j, x := range a.Float64s() {
				f.shared[j/t.Size*net.Learned()+t.Offset+j%t.Size] = float32(x)
			}
			continue
		}
		one, err := same(t, a.Float64s())
		if err != nil {
			return err
		}
		copy(constants[t.Offset:], one)
	}
	if f.theta == nil {
		f.members = r.members(net)
	}
	f.net, err = net.With(constants)
	return err
}

// same returns the values of a constant, which are the same in every row.
func same(t nn.Tensor, rows []float64) ([]float64, error) {
	for j, x := range rows {
		if i := j % t.Size; math.Float64bits(x) != math.Float64bits(rows[i]) {
			return nil, fmt.Errorf("%s is %v in row %d and %v in row 0: it is the same for all particles, and a file has it once", t.Element(i), x, j/t.Size, rows[i])
		}
	}
	return rows[:t.Size], nil
}

// rows reads the row of ψ of each particle, and returns the number of rows.
func (f *stacked) rows() (rows int, err error) {
	if _, ok := f.extra["shared"]; !ok || f.particles == 0 {
		return 0, nil // which open refuses, if there should be rows
	}
	if f.row, err = f.integers("shared"); err != nil {
		return 0, err
	}
	for _, r := range f.row {
		rows = max(rows, int(r)+1)
	}
	if rows > len(f.row) { // and Ensemble.check looks at each
		return 0, fmt.Errorf("tensor shared has row %d for %d particles: want rows numbered from 0", rows-1, len(f.row))
	}
	return rows, nil
}

// fits refuses a stacked tensor of another type or shape than the network's.
func (f *stacked) fits(a safetensors.Tensor, t nn.Tensor, rows int) error {
	if t.Role == nn.RoleRandom {
		if want := append([]int{f.particles}, t.Shape...); a.DType != f.format.DType() || f.particles == 0 || !slices.Equal(a.Shape, want) {
			return fmt.Errorf("tensor %s is %s %v in the file, the network has %s %v after the axis of particles", t.Name, a.DType, a.Shape, f.format.DType(), t.Shape)
		}
		return nil
	}
	if t.Role != nn.RoleLearned {
		if n := len(a.Shape); a.DType != "F32" || n == 0 || a.Shape[0] == 0 || !slices.Equal(a.Shape[1:], t.Shape) {
			return fmt.Errorf("tensor %s is %s %v in the file, want F32 %v: it is %v, the same for all particles", t.Name, a.DType, a.Shape, append([]int{1}, t.Shape...), t.Role)
		}
		return nil
	}
	if want := append([]int{rows}, t.Shape...); f.row != nil && (a.DType != "F32" || !slices.Equal(a.Shape, want)) {
		return fmt.Errorf("tensor %s is %s %v in the file, want F32 %v: particles share it, and tensor shared gives them %d rows; write a row for each island", t.Name, a.DType, a.Shape, want, rows)
	}
	return nil
}

// values reads an extra tensor of one axis; length −1 accepts any length.
func (f *stacked) values(name, dtype string, length int) ([]float64, error) {
	a := f.extra[name]
	if a.DType != dtype || len(a.Shape) != 1 || length >= 0 && a.Shape[0] != length {
		return nil, fmt.Errorf("tensor %s is %s %v in the file, want %s with one value for each particle", name, a.DType, a.Shape, dtype)
	}
	return a.Float64s(), nil
}

// integers reads an extra tensor of an integer for each particle.
func (f *stacked) integers(name string) ([]int32, error) {
	values, err := f.values(name, "I32", f.particles)
	if err != nil {
		return nil, err
	}
	integers := make([]int32, len(values))
	for i, v := range values {
		integers[i] = int32(v)
	}
	return integers, nil
}
