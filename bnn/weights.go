package bnn

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/safetensors"
	"github.com/starling-smc/starling/nn"
)

// Weights are a trained network.
type Weights struct {
	Net     *nn.Net   // the network that was asked for, with what it has of the trained one, such as statistics (nn.Net.With)
	Whole   []float64 // all parameters, in the order of θ of Net.Whole(); Net.Split divides them
	Ignored []string  // tensors of the file that say nothing about the network: counters of batches

	// Untrained are the tensors of low-rank updates that the file does not have. They are 0 in Whole until Draw draws them.
	Untrained []nn.Tensor
}

// Draw begins the low-rank updates that the file does not have: A with draws of N(0, 1/fan_in), and B at 0. So the network is the trained one.
func (w *Weights) Draw(s *rng.Stream) {
	at := 0
	for _, t := range w.Net.Tensors() {
		if t.Role == nn.RoleFixed {
			continue
		}
		if slices.ContainsFunc(w.Untrained, func(u nn.Tensor) bool { return u.Name == t.Name }) {
			untrained(t, 1, s, w.Whole[at:at+t.Size])
		}
		at += t.Size
	}
}

// ReadWeights returns the parameters of ReadNetwork, for a network without normalisations.
func ReadWeights(file []byte, net *nn.Net) (whole []float64, err error) {
	w, err := ReadNetwork(file, net)
	if err != nil {
		return nil, err
	}
	return w.Whole, nil
}

// ReadNetwork reads one network from a PyTorch state_dict saved as a safetensors file, in F32, F64, F16 or BF16. Names and shapes must
// be those of net.Tensors(): the names in an nn.Sequential, or the names of the layers. A file of a run that holds a single network is
// taken, too. The counters num_batches_tracked of batch normalisations are ignored. The file may lack both tensors of a low-rank update.
//
// An error names, in this order of preference: the first tensor, in the network's order, that does not fit, with the
// nearest one of the file (of the same shape first, then by name) and the remedy; the first tensor of the file that the
// network does not have; the first value that is not finite in float32.
func ReadNetwork(file []byte, net *nn.Net) (*Weights, error) {
	if bytes.HasPrefix(file, []byte("PK\x03\x04")) || bytes.HasPrefix(file, []byte("\x80\x02")) {
		return nil, errors.New("this is a pickle written by torch.save: save the weights with safetensors.torch.save_file(model.state_dict(), FILE)")
	}
	tensors, _, err := safetensors.Parse(file)
	if err != nil {
		return nil, err
	}
	if tensors, err = unstacked(tensors); err != nil {
		return nil, err
	}
	f, w := stateDict{tensors: map[string]safetensors.Tensor{}, parts: parts(net)}, &Weights{Whole: make([]float64, 0, net.Parameters())}
	for _, t := range tensors {
		if _, kind := cut(t.Name); kind == counter {
			w.Ignored = append(w.Ignored, t.Name)
			continue
		}
		f.tensors[t.Name] = t
		f.names = append(f.names, t.Name)
	}
	if err := f.wrapped(); err != nil {
		return nil, err
	}
	for _, p := range f.parts {
		if f.begins(p) {
			w.Untrained = append(w.Untrained, p.Tensor)
		} else if err := f.fits(p); err != nil {
			return nil, err
		}
	}
	if err := f.extra(); err != nil {
		return nil, err
	}
	var constants []float64
	for _, p := range f.parts {
		if f.begins(p) {
			w.Whole = append(w.Whole, make([]float64, p.Size)...)
			continue
		}
		values := f.tensors[p.Name].Float64s()
		if p.Role == nn.RoleFixed {
			constants = append(constants, values...)
			continue
		}
		for i, x := range values {
			if y := float64(float32(x)); y-y != 0 {
				return nil, fmt.Errorf("%s is %v: want numbers that are finite in float32", p.Element(i), x)
			}
		}
		w.Whole = append(w.Whole, values...)
	}
	w.Net, err = net.With(constants)
	return w, err
}

// counter is what PyTorch counts in a batch normalisation, for averages in which all batches count alike.
const counter = "num_batches_tracked"

// unstacked returns the tensors of the network that a file of a run holds, whose first axis is that of the networks: a file of one network
// is that network. Of several it says which one to save. Other files are returned as they are.
func unstacked(tensors []safetensors.Tensor) (one []safetensors.Tensor, err error) {
	beside := slices.Concat(ofPosterior, ofPartly, ofRestarts)
	networks, chosen := -1, "t[0].clone()"
	for _, t := range tensors {
		switch t.Name {
		case "log_weights", "val_nll":
			networks = len(t.Float64s())
		case "chosen":
			if v := t.Float64s(); len(v) == 1 {
				chosen = fmt.Sprintf("t[%v].clone(), the restart that was chosen,", v[0])
			}
		}
	}
	switch {
	case networks < 0:
		return tensors, nil
	case networks != 1:
		return nil, fmt.Errorf("this file of a run holds %d stacked networks, not one: save %s of each of their tensors (all but %s)",
			networks, chosen, strings.Join(beside, ", "))
	}
	for _, t := range tensors {
		if slices.Contains(beside, t.Name) {
			continue
		}
		if len(t.Shape) > 0 && t.Shape[0] == 1 {
			t.Shape = t.Shape[1:]
		}
		one = append(one, t)
	}
	return one, nil
}

// part is a tensor of the network, as errors speak of it.
type part struct{ nn.Tensor }

// parts lists the tensors of a network in its order.
func parts(net *nn.Net) (all []part) {
	for _, t := range net.Tensors() {
		all = append(all, part{t})
	}
	return all
}

// stateDict is a file of weights, with the tensors of the network that it should hold.
type stateDict struct {
	names   []string // in the order of the file
	tensors map[string]safetensors.Tensor
	parts   []part
}

// begins reports whether a tensor is one of a low-rank update that the file says nothing of: a dense layer was trained.
func (f *stateDict) begins(p part) bool {
	layer, _ := cut(p.Name)
	return p.Kind == nn.Updates && !f.has(layer+".lora_A") && !f.has(layer+".lora_B")
}

func (f *stateDict) has(name string) bool {
	_, ok := f.tensors[name]
	return ok
}
