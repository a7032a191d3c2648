package bnn

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/safetensors"
	"github.com/starling-smc/starling/nn"
)

// The files of a run that hold parameters are safetensors files that PyTorch reads as they are. Each tensor of the
// network, named and ordered as in the state_dict of an nn.Sequential of the same layers, is stacked over its J
// particles or restarts: [J, shape…], F32. In addition the files hold
//
//	posterior.safetensors   log_weights F64 [J], log_evidence F64 [islands], island I32 [J]
//	map.safetensors         val_nll F64 [J], chosen I32 []
//
// F64 comes first, so that data are aligned to their size. Equal content gives equal bytes.

// WritePosterior writes an ensemble as posterior.safetensors.
func WritePosterior(w io.Writer, e *Ensemble) error {
	tensors := []safetensors.Tensor{
		floats("log_weights", e.LogWeights),
		floats("log_evidence", e.LogEvidence),
	}
	tensors = append(tensors, stack(e.Net, e.Theta, e.Size())...)
	island := safetensors.Tensor{Name: "island", DType: "I32", Shape: []int{len(e.Island)}}
	for _, p := range e.Island {
		island.Data = binary.LittleEndian.AppendUint32(island.Data, uint32(p))
	}
	return safetensors.Write(w, append(tensors, island))
}

// ReadPosterior reads a file of WritePosterior. An error names the first tensor that does not fit net, with both shapes, or a
// fault of the weights.
func ReadPosterior(file []byte, net *nn.Net) (*Ensemble, error) {
	f, err := open(file, net, "log_weights", "log_evidence", "island")
	if err != nil {
		return nil, err
	}
	e := &Ensemble{Net: net, Theta: f.theta}
	if e.LogWeights, err = f.values("log_weights", "F64", f.particles); err != nil {
		return nil, err
	}
	if e.LogEvidence, err = f.values("log_evidence", "F64", -1); err != nil {
		return nil, err
	}
	island, err := f.values("island", "I32", f.particles)
	if err != nil {
		return nil, err
	}
	for _, p := range island {
		e.Island = append(e.Island, int32(p))
	}
	if err := e.check(); err != nil {
		return nil, fmt.Errorf("posterior: %w", err)
	}
	return e, nil
}

// WriteRestarts writes the MAP restarts of a network, an ensemble of equal weights, as map.safetensors: nll is the validation
// NLL of each, chosen the index of the anchor.
func WriteRestarts(w io.Writer, e *Ensemble, nll []float64, chosen int) error {
	tensors := append([]safetensors.Tensor{floats("val_nll", nll)}, stack(e.Net, e.Theta, len(nll))...)
	index := binary.LittleEndian.AppendUint32(nil, uint32(chosen))
	return safetensors.Write(w, append(tensors, safetensors.Tensor{Name: "chosen", DType: "I32", Data: index}))
}

// ReadRestarts reads a file of WriteRestarts.
func ReadRestarts(file []byte, net *nn.Net) (e *Ensemble, nll []float64, chosen int, err error) {
	f, err := open(file, net, "val_nll", "chosen")
	if err != nil {
		return nil, nil, 0, err
	}
	if nll, err = f.values("val_nll", "F64", f.particles); err != nil {
		return nil, nil, 0, err
	}
	a := f.extra["chosen"]
	if a.DType != "I32" || len(a.Shape) != 0 {
		return nil, nil, 0, fmt.Errorf("tensor chosen is %s %v, want I32 []", a.DType, a.Shape)
	}
	if chosen = int(a.Float64s()[0]); chosen < 0 || chosen >= f.particles {
		return nil, nil, 0, fmt.Errorf("restart %d is chosen of %d", chosen, f.particles)
	}
	e = &Ensemble{Net: net, Theta: f.theta, LogWeights: make([]float64, f.particles), Island: make([]int32, f.particles), LogEvidence: []float64{0}}
	e.LogWeights, err = e.Weigh(Equal{})
	return e, nll, chosen, err
}

func floats(name string, values []float64) safetensors.Tensor {
	a := safetensors.Tensor{Name: name, DType: "F64", Shape: []int{len(values)}}
	for _, v := range values {
		a.Data = binary.LittleEndian.AppendUint64(a.Data, math.Float64bits(v))
	}
	return a
}

// stack splits J parameter vectors into the network's tensors.
func stack(net *nn.Net, theta []float32, j int) []safetensors.Tensor {
	var tensors []safetensors.Tensor
	for _, t := range net.Tensors() {
		a := safetensors.Tensor{Name: t.Name, DType: "F32", Shape: append([]int{j}, t.Shape...), Data: make([]byte, 0, 4*j*t.Size)}
		for p := range j {
			at := p*net.Dim() + t.Offset
			for _, x := range theta[at : at+t.Size] {
				a.Data = binary.LittleEndian.AppendUint32(a.Data, math.Float32bits(x))
			}
		}
		tensors = append(tensors, a)
	}
	return tensors
}

// stacked is an opened file: the network's parameters, and the tensors beside them by name.
type stacked struct {
	particles int
	theta     []float32
	extra     map[string]safetensors.Tensor
}

// open reads a file that holds the tensors of net, stacked, and exactly the extra tensors.
func open(file []byte, net *nn.Net, extra ...string) (*stacked, error) {
	tensors, _, err := safetensors.Parse(file)
	if err != nil {
		return nil, err
	}
	byName := make(map[string]safetensors.Tensor, len(tensors))
	for _, a := range tensors {
		byName[a.Name] = a
	}
	f := &stacked{extra: map[string]safetensors.Tensor{}}
	var layers []safetensors.Tensor
	for i, t := range net.Tensors() {
		a, ok := byName[t.Name]
		if !ok {
			return nil, fmt.Errorf("tensor %s %v of the network is not in the file", t.Name, t.Shape)
		}
		if i == 0 && len(a.Shape) > 0 {
			f.particles = a.Shape[0]
		}
		if want := append([]int{f.particles}, t.Shape...); a.DType != "F32" || f.particles == 0 || !slices.Equal(a.Shape, want) {
			return nil, fmt.Errorf("tensor %s is %s %v in the file, the network has F32 %v after the axis of particles", t.Name, a.DType, a.Shape, t.Shape)
		}
		layers = append(layers, a)
		delete(byName, t.Name)
	}
	for _, name := range extra {
		a, ok := byName[name]
		if !ok {
			return nil, fmt.Errorf("tensor %s is not in the file", name)
		}
		f.extra[name] = a
		delete(byName, name)
	}
	for _, a := range tensors {
		if _, ok := byName[a.Name]; ok {
			return nil, fmt.Errorf("tensor %s in the file is not in the network", a.Name)
		}
	}
	f.theta = make([]float32, f.particles*net.Dim()) // bounded by the size of the file
	for i, t := range net.Tensors() {
		for j, x := range layers[i].Float64s() {
			f.theta[j/t.Size*net.Dim()+t.Offset+j%t.Size] = float32(x)
		}
	}
	return f, nil
}

// values reads an extra tensor of one axis; length −1 accepts any length.
func (f *stacked) values(name, dtype string, length int) ([]float64, error) {
	a := f.extra[name]
	if a.DType != dtype || len(a.Shape) != 1 || length >= 0 && a.Shape[0] != length {
		return nil, fmt.Errorf("tensor %s is %s %v in the file, want %s with one value for each particle", name, a.DType, a.Shape, dtype)
	}
	return a.Float64s(), nil
}
