package bnn

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/safetensors"
	"github.com/starling-smc/starling/nn"
)

// residual is a small residual network with batch norms. name gives the layers of the block their names; nil: none.
func residual(t *testing.T, name func(string) string, role func(module string) nn.Role) *nn.Net {
	t.Helper()
	if name == nil {
		name = func(string) string { return "" }
	}
	conv := func(of string) nn.Layer {
		return nn.Conv{Filters: 2, Kernel: [2]int{1, 1}, NoBias: true, Name: name(of)}
	}
	norm := func(of string) nn.Layer { return nn.Norm{Batch: nn.Frozen, Name: name(of)} }
	layers := []nn.Layer{nn.Tanh, nn.Residual{
		Body:     []nn.Layer{conv("layer1.0.conv1"), norm("layer1.0.bn1"), nn.ReLU},
		Shortcut: []nn.Layer{conv("layer1.0.downsample.0"), norm("layer1.0.downsample.1")},
	}, nn.GlobalAvgPool{}, nn.Dense{Units: 3, Name: name("fc")}}
	if role == nil {
		role = func(string) nn.Role { return nn.RoleRandom }
	}
	net, err := nn.NewPartly([]int{3, 2, 2}, layers, nn.Categorical{}, role)
	if err != nil {
		t.Fatal(err)
	}
	return net
}

func own(name string) string { return name }

// stateOf is a file for a network whose number k of the tensor i is (i+1)/8 + k, with the tensors that PyTorch adds.
func stateOf(net *nn.Net) (file []safetensors.Tensor) {
	for i, x := range net.Tensors() {
		a := safetensors.Tensor{Name: x.Name, DType: "F32", Shape: x.Shape}
		for k := range x.Size {
			a.Data = binary.LittleEndian.AppendUint32(a.Data, math.Float32bits(float32(i+1)/8+float32(k)))
		}
		file = append(file, a)
		if name, ok := strings.CutSuffix(x.Name, "running_var"); ok {
			file = append(file, safetensors.Tensor{Name: name + "num_batches_tracked", DType: "I64", Data: make([]byte, 8)})
		}
	}
	return file
}

// TestReadNetwork: a state dict of nested names gives parameters, and statistics of the right channels; counters are ignored and named.
func TestReadNetwork(t *testing.T) {
	net := residual(t, own, nil)
	file := stateOf(net)
	slices.Reverse(file)
	w, err := ReadNetwork(saved(t, file), net)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"layer1.0.downsample.1.num_batches_tracked", "layer1.0.bn1.num_batches_tracked"}; !slices.Equal(w.Ignored, want) {
		t.Errorf("ignored %v, want %v", w.Ignored, want)
	}
	var whole []float64
	var constants []float32
	for i, x := range net.Tensors() {
		for k := range x.Size {
			v := float32(i+1)/8 + float32(k)
			if x.Role == nn.RoleFixed {
				constants = append(constants, v)
			} else {
				whole = append(whole, float64(v))
			}
		}
	}
	if !slices.Equal(w.Whole, whole) || !slices.Equal(w.Net.Held(), constants) || net.Held() != nil {
		t.Errorf("whole %v and constants %v, want %v and %v", w.Whole, w.Net.Held(), whole, constants)
	}
}

// TestReadNetworkErrors: what does not fit is named, with the place inside the residual and the mend.
func TestReadNetworkErrors(t *testing.T) {
	without := func(names ...string) func([]safetensors.Tensor) []safetensors.Tensor {
		return func(file []safetensors.Tensor) []safetensors.Tensor {
			return slices.DeleteFunc(file, func(a safetensors.Tensor) bool { return slices.Contains(names, a.Name) })
		}
	}
	renamed := func(f func(string) string) func([]safetensors.Tensor) []safetensors.Tensor {
		return func(file []safetensors.Tensor) []safetensors.Tensor {
			for i := range file {
				file[i].Name = f(file[i].Name)
			}
			return file
		}
	}
	set := func(name string, k int, v float32) func([]safetensors.Tensor) []safetensors.Tensor {
		return func(file []safetensors.Tensor) []safetensors.Tensor {
			for _, a := range file {
				if a.Name == name {
					binary.LittleEndian.PutUint32(a.Data[4*k:], math.Float32bits(v))
				}
			}
			return file
		}
	}
	for want, c := range map[string]struct {
		net    *nn.Net
		change func([]safetensors.Tensor) []safetensors.Tensor
	}{
		"every name begins with module., as those of a module in torch.nn.DataParallel do: take it off, save_file({k.removeprefix(\"module.\")":                                                                                                   {residual(t, own, nil), renamed(func(n string) string { return "module." + n })},
		"every name begins with _orig_mod., as those of a module in torch.compile do: take it off":                                                                                                                                                {residual(t, own, nil), renamed(func(n string) string { return "_orig_mod." + n })},
		"tensor 1.body.0.weight [2 3 1 1] of the network (layer 1.body.0, conv) is not in the file; nearest is layer1.0.conv1.weight [2 3 1 1]: write name: layer1.0.conv1 beside conv in layer 1.body.0":                                         {residual(t, nil, nil), renamed(own)},
		"tensor layer1.0.bn1.running_mean [2] of the network (layer 1.body.1, norm) is not in the file, and the file has no other tensors: only a batch norm has statistics":                                                                      {residual(t, own, nil), without("layer1.0.bn1.running_mean")},
		"tensor layer1.0.bn1.weight [2] of the network (layer 1.body.1, norm) is not in the file, and the file has no other tensors: layer1.0.bn1 was trained with affine=False; save ones as layer1.0.bn1.weight and zeros as layer1.0.bn1.bias": {residual(t, own, nil), without("layer1.0.bn1.weight", "layer1.0.bn1.bias")},
		"layer1.0.downsample.1.running_var[1] is 0, and a variance is a positive number":                                                                                                                                                          {residual(t, own, nil), set("layer1.0.downsample.1.running_var", 1, 0)},
		"layer1.0.downsample.1.running_var[0] is -2, and a variance":                                                                                                                                                                              {residual(t, own, nil), set("layer1.0.downsample.1.running_var", 0, -2)},
		"layer1.0.bn1.running_var[1] is NaN, and a variance":                                                                                                                                                                                      {residual(t, own, nil), set("layer1.0.bn1.running_var", 1, float32(math.NaN()))},
		"layer1.0.bn1.running_mean[0] is +Inf: want numbers that are finite":                                                                                                                                                                      {residual(t, own, nil), set("layer1.0.bn1.running_mean", 0, float32(math.Inf(1)))},
		"layer1.0.bn1.weight[1] is NaN: want numbers that are finite":                                                                                                                                                                             {residual(t, own, nil), set("layer1.0.bn1.weight", 1, float32(math.NaN()))},
	} {
		_, err := ReadNetwork(saved(t, c.change(stateOf(residual(t, own, nil)))), c.net)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v\nwant  %s", err, want)
		}
	}
	plain := namedNet(t, "conv1", "fc1", false, nn.Categorical{})
	if _, err := ReadNetwork(saved(t, append(trained(), safetensors.Tensor{Name: "num_batches_tracked", DType: "I64", Data: make([]byte, 8)})), plain); err != nil {
		t.Errorf("a counter of the module itself: %v", err)
	}
}

// TestManyNames: 10,000 names that fit nowhere are refused.
func TestManyNames(t *testing.T) {
	net := residual(t, own, nil)
	file := stateOf(net)
	for i := range 10_000 {
		file = append(file, safetensors.Tensor{Name: fmt.Sprintf("layers.%d.%s.bn.weight", i, strings.Repeat("x", 80)), DType: "F32", Shape: []int{2}, Data: make([]byte, 8)})
	}
	b := saved(t, file)
	if _, err := ReadNetwork(b, net); err == nil || !strings.HasPrefix(err.Error(), "tensor layers.0.xxx") {
		t.Errorf("error %v", err)
	}
	b = saved(t, file[1:])
	if _, err := ReadNetwork(b, net); err == nil || !strings.Contains(err.Error(), "is not in the file; nearest is ") {
		t.Errorf("error %v", err)
	}
}

// TestPosteriorOfNorms: a file of particles holds the statistics once, and reads back to the same network. A file from before holds them once a
// particle; rows that differ are refused, and so are variances that are none.
func TestPosteriorOfNorms(t *testing.T) {
	for name, role := range map[string]func(string) nn.Role{
		"all random": nil,
		"partly": func(module string) nn.Role {
			return map[string]nn.Role{"fc": nn.RoleRandom, "layer1.0.conv1": nn.RoleFrozen}[module] + map[bool]nn.Role{true: nn.RoleLearned}[strings.Contains(module, "bn1") || strings.Contains(module, "downsample")]
		},
	} {
		net := residual(t, own, role)
		w, err := ReadNetwork(saved(t, stateOf(net)), net)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(1, 2))
		var islands []Island
		for range 2 {
			i := Island{Theta: make([]float64, 3*net.Dim()), Shared: make([]float64, net.Learned())}
			for _, x := range [][]float64{i.Theta, i.Shared} {
				for k := range x {
					x[k] = r.NormFloat64()
				}
			}
			islands = append(islands, i)
		}
		e, err := Combine(w.Net, islands, Equal{})
		if err != nil {
			t.Fatal(err)
		}
		e.Format = safetensors.BFloat16
		for k, x := range e.Theta { // as a sampler that keeps them so has them
			e.Theta[k] = math.Float32frombits(math.Float32bits(x) &^ 0xffff)
		}
		var b bytes.Buffer
		if err := WritePosterior(&b, e); err != nil {
			t.Fatal(err)
		}
		back, err := ReadPosterior(b.Bytes(), net)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(back.Net.Held(), w.Net.Held()) || !slices.Equal(back.Theta, e.Theta) || !slices.Equal(back.Shared, e.Shared) {
			t.Errorf("%s: another ensemble came back, with statistics %v", name, back.Net.Held())
		}
		var again bytes.Buffer
		if err := WritePosterior(&again, back); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
			t.Errorf("%s: written again it is another file (%v)", name, err)
		}
		tensors, metadata, err := safetensors.Parse(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		for want, value := range map[string]float32{
			"layer1.0.bn1.running_var[1] is 7 in row 1 and 1.625 in row 0: it is": 7,
			"layer1.0.bn1.running_var[1] is NaN in row 1":                         float32(math.NaN()),
			"": 1.625,
		} {
			changed := slices.Clone(tensors)
			for i, a := range changed {
				if a.Name == "layer1.0.bn1.running_var" {
					if !slices.Equal(a.Shape, []int{1, 2}) || a.DType != "F32" {
						t.Errorf("%s: %s is %s %v", name, a.Name, a.DType, a.Shape)
					}
					changed[i].Shape, changed[i].Data = []int{2, 2}, slices.Repeat(a.Data, 2)
					binary.LittleEndian.PutUint32(changed[i].Data[4*3:], math.Float32bits(value))
				}
			}
			var file bytes.Buffer
			if err := safetensors.WriteWith(&file, metadata, changed); err != nil {
				t.Fatal(err)
			}
			if _, err := ReadPosterior(file.Bytes(), net); (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: error %v, want %s", name, err, want)
			}
		}
	}
}

// TestRestartsOfNorms: the restarts of a search keep the statistics, and one of them is a network that model.init takes.
func TestRestartsOfNorms(t *testing.T) {
	net := residual(t, own, nil)
	w, err := ReadNetwork(saved(t, stateOf(net)), net)
	if err != nil {
		t.Fatal(err)
	}
	e, err := Combine(w.Net, []Island{{Theta: w.Whole}}, Equal{})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := WriteRestarts(&b, e, []float64{0.5}, 0); err != nil {
		t.Fatal(err)
	}
	back, _, _, err := ReadRestarts(b.Bytes(), net)
	if err != nil || !slices.Equal(back.Net.Held(), w.Net.Held()) {
		t.Errorf("statistics %v, %v", back.Net.Held(), err)
	}
	again, err := ReadNetwork(b.Bytes(), net)
	if err != nil || !slices.Equal(again.Net.Held(), w.Net.Held()) || !slices.Equal(again.Whole, w.Whole) {
		t.Errorf("read as model.init: %v", err)
	}
}

// TestNobodyDrawsStatistics: priors are of the parameters, and draws of what particles share leave statistics alone.
func TestNobodyDrawsStatistics(t *testing.T) {
	net := residual(t, own, func(module string) nn.Role {
		if module == "fc" {
			return nn.RoleRandom
		}
		return nn.RoleLearned
	})
	if psi := DrawShared(net, rng.Key{Seed: 1, Purpose: rng.Start}.Stream()); len(psi) != 2*(2*3+4) || len(psi) != net.Learned() {
		t.Errorf("%d shared parameters", len(psi))
	}
	p, err := FanIn(net.Random(), 2)
	if err != nil || p.Dim() != 9 || Whole(p, net).Dim() != net.Parameters() {
		t.Errorf("a prior of %d, and of whole networks %d (%v)", p.Dim(), Whole(p, net).Dim(), err)
	}
}
