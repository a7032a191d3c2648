package bnn

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/safetensors"
	"github.com/starling-smc/starling/nn"
)

// trained is a state_dict for convNet with its layers named conv1 and fc1, value k of the file in the order of θ being k/8.
func trained(names ...string) []safetensors.Tensor {
	if names == nil {
		names = []string{"conv1.weight", "conv1.bias", "fc1.weight", "fc1.bias"}
	}
	var out []safetensors.Tensor
	k := 0
	for i, shape := range [][]int{{2, 1, 3, 3}, {2}, {3, 18}, {3}} {
		t := safetensors.Tensor{Name: names[i], DType: "F32", Shape: shape}
		n := 1
		for _, d := range shape {
			n *= d
		}
		for range n {
			t.Data = binary.LittleEndian.AppendUint32(t.Data, math.Float32bits(float32(k)/8))
			k++
		}
		out = append(out, t)
	}
	return out
}

func saved(t *testing.T, tensors []safetensors.Tensor) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := safetensors.Write(&b, tensors); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func namedNet(t *testing.T, conv, dense string, noBias bool, lik nn.Likelihood) *nn.Net {
	t.Helper()
	net, err := nn.New([]int{1, 6, 6}, []nn.Layer{
		nn.Conv{Filters: 2, Kernel: [2]int{3, 3}, Pad: [2]int{1, 1}, Name: conv}, nn.ReLU, nn.MaxPool{Size: [2]int{2, 2}},
		nn.Dense{Units: 3, Name: dense, NoBias: noBias},
	}, lik)
	if err != nil {
		t.Fatal(err)
	}
	return net
}

// The order of the file is its own; θ has the network's.
func TestReadWeights(t *testing.T) {
	net := namedNet(t, "conv1", "fc1", false, nn.Categorical{})
	file := trained()
	slices.Reverse(file)
	theta, err := ReadWeights(saved(t, file), net)
	if err != nil {
		t.Fatal(err)
	}
	if len(theta) != net.Dim() {
		t.Fatalf("%d parameters of %d", len(theta), net.Dim())
	}
	for k, x := range theta {
		if x != float64(k)/8 {
			t.Fatalf("parameter %d is %v, want %v", k, x, float64(k)/8)
		}
	}
}

func TestReadWeightsPrecisions(t *testing.T) {
	net, err := nn.New([]int{1}, []nn.Layer{nn.Dense{Units: 2, NoBias: true}}, nn.Categorical{})
	if err != nil {
		t.Fatal(err)
	}
	third := math.Float64bits(1.0 / 3)
	for dtype, c := range map[string]struct {
		data []byte
		want []float64
	}{
		"F16":  {[]byte{0, 0x3e, 1, 0x80}, []float64{1.5, -0x1p-24}},
		"BF16": {[]byte{0xc0, 0x3f, 0x80, 0xbf}, []float64{1.5, -1}},
		"F32":  {[]byte{0, 0, 0xc0, 0x3f, 0, 0, 0x80, 0xbf}, []float64{1.5, -1}},
		"F64":  {binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, third), third), []float64{1.0 / 3, 1.0 / 3}},
	} {
		got, err := ReadWeights(saved(t, []safetensors.Tensor{{Name: "0.weight", DType: dtype, Shape: []int{2, 1}, Data: c.data}}), net)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v; want %v", dtype, got, err, c.want)
		}
	}
}

// What does not fit is named, with the nearest candidate and the remedy.
func TestReadWeightsErrors(t *testing.T) {
	type tensors = []safetensors.Tensor
	ours := namedNet(t, "", "", false, nn.Categorical{})
	named := namedNet(t, "conv1", "fc1", false, nn.Categorical{})
	f32 := func(name string, shape []int, values ...float32) safetensors.Tensor {
		t := safetensors.Tensor{Name: name, DType: "F32", Shape: shape}
		for _, v := range values {
			t.Data = binary.LittleEndian.AppendUint32(t.Data, math.Float32bits(v))
		}
		return t
	}
	for name, c := range map[string]struct {
		net    *nn.Net
		file   tensors
		reason string
	}{
		"names not ours": {ours, trained(),
			"tensor 0.weight [2 1 3 3] of the network (layer 0, conv) is not in the file; nearest is conv1.weight [2 1 3 3]: write name: conv1 beside conv in layer 0 (by their shapes, the layers with weights are conv1, fc1 in order)"},
		"second layer not ours": {namedNet(t, "conv1", "", false, nn.Categorical{}), trained(),
			"tensor 4.weight [3 18] of the network (layer 3, dense) is not in the file; nearest is fc1.weight [3 18]: write name: fc1 beside dense in layer 3"},
		"last layer without bias": {namedNet(t, "", "", true, nn.Categorical{}), trained()[:3],
			"write name: conv1 beside conv in layer 0 (by their shapes, the layers with weights are conv1, fc1 in order)"},
		"numbers of another Sequential": {ours, trained("0.weight", "0.bias", "5.weight", "5.bias"), `write name: "5" beside dense in layer 3`},
		"shape before name": {named, append(trained("conv1.weight", "conv1.bias", "head.weight", "head.bias"), f32("fc2.weight", []int{1}, 1)),
			"tensor fc1.weight [3 18] of the network (layer 3, dense) is not in the file; nearest is head.weight [3 18]"},
		"name where no shape fits": {named, append(trained()[:2], f32("fc1.bias", []int{3}, 1, 2, 3), f32("fc.weight", []int{1}, 1), f32("other", []int{1}, 1)),
			"nearest is fc.weight [1]: name layer 3 as the file does, or change the layers"},
		"another network": {ours, []safetensors.Tensor{f32("0.bias", []int{1}, 1), f32("4.weight", []int{1}, 1)},
			"tensor 0.weight [2 1 3 3] of the network (layer 0, conv) is not in the file; nearest is 4.weight [1]"},
		"nothing left":  {named, trained()[:2], "tensor fc1.weight [3 18] of the network (layer 3, dense) is not in the file, and the file has no other tensors"},
		"no bias":       {named, trained()[:3], "tensor fc1.bias [3] of the network (layer 3, dense) is not in the file, and the file has no other tensors: if layer 3 was trained without a bias, write bias: false"},
		"bias too many": {namedNet(t, "conv1", "fc1", true, nn.Categorical{}), trained(), "tensor fc1.bias [3] in the file is not in the network: layer 3 has bias: false"},
		"transposed": {named, func() tensors { f := trained(); f[2].Shape = []int{18, 3}; return f }(),
			"tensor fc1.weight is [18 3] in the file, the network has [3 18] (layer 3, dense): it is transposed"},
		"channels last": {named, func() tensors { f := trained(); f[0].Shape = []int{3, 3, 1, 2}; return f }(),
			"tensor conv1.weight is [3 3 1 2] in the file, the network has [2 1 3 3] (layer 0, conv): its axes are in another order"},
		"another size": {named, func() tensors { f := trained(); f[2].Shape, f[2].Data = []int{3, 17}, f[2].Data[:4*51]; return f }(),
			"tensor fc1.weight is [3 17] in the file, the network has [3 18] (layer 3, dense): change the layers of the model"},
		"another size, and the right one": {named, append(func() tensors { f := trained(); f[3].Shape, f[3].Data = nil, f[3].Data[:4]; return f }(), f32("out.bias", []int{3}, 1, 2, 3)),
			"the file has out.bias"},
		"stacked": {named, func() tensors {
			f := trained()
			f[0].Shape, f[0].Data = []int{2, 2, 1, 3, 3}, slices.Repeat(f[0].Data, 2)
			return f
		}(), "hold 2 stacked networks"},
		"integers": {named, func() tensors { f := trained(); f[1].DType = "I32"; return f }(), "tensor conv1.bias is I32 in the file: want F32"},
		"batch normalisation": {named, append(trained(), f32("a.weight", []int{2}, 1, 1), f32("bn.running_mean", []int{2}, 0, 0)),
			"tensor bn.running_mean in the file is a buffer of a batch normalisation"},
		"one layer more": {named, append(trained(), f32("fc2.weight", []int{1, 2}, 0, 0)), "tensor fc2.weight [1 2] in the file is not in the network: add the layer that is missing"},
		"unprintable":    {named, append(trained(), f32("\x1b[31m", []int{1}, 0)), `tensor "\x1b[31m" [1] in the file`},
		"no log_sd":      {namedNet(t, "conv1", "fc1", false, nn.Gaussian{SD: nn.Learned}), trained(), "tensor log_sd [1] of the network is not in the file, and the file has no other tensors: likelihood {gaussian: {sd: learned}} wants log σ"},
		"NaN": {named, func() tensors {
			f := trained()
			binary.LittleEndian.PutUint32(f[2].Data[4*(18+2):], math.Float32bits(float32(math.NaN())))
			return f
		}(), "fc1.weight[1, 2] is NaN"},
		"infinite": {named, func() tensors {
			f := trained()
			binary.LittleEndian.PutUint32(f[0].Data[4*(9+5):], math.Float32bits(float32(math.Inf(-1))))
			return f
		}(), "conv1.weight[1, 0, 1, 2] is -Inf"},
		"beyond float32": {named, func() tensors {
			f := trained()
			f[1] = floats("conv1.bias", []float64{0, 1e300})
			return f
		}(), "conv1.bias[1] is 1e+300"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := ReadWeights(saved(t, c.file), c.net); err == nil || !strings.Contains(err.Error(), c.reason) {
				t.Errorf("error %v,\nwant one about %s", err, c.reason)
			}
		})
	}
}

// TestReadWeightsOfARun: a file of a run that holds one network is that network.
func TestReadWeightsOfARun(t *testing.T) {
	net := convNet(t)
	one := combine(t, net, numbered(net, 1, 1), Equal{})
	var posterior, restarts bytes.Buffer
	if err := errors.Join(WritePosterior(&posterior, one), WriteRestarts(&restarts, one, []float64{0.5}, 0)); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{posterior.String(), restarts.String()} {
		theta, err := ReadWeights([]byte(file), net)
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range theta {
			if float32(x) != one.Theta[i] {
				t.Fatalf("parameter %d is %v, want %v", i, x, one.Theta[i])
			}
		}
	}
}

// Files that hold something else say so.
func TestReadWeightsOtherFiles(t *testing.T) {
	net := convNet(t)
	var posterior, restarts bytes.Buffer
	if err := WritePosterior(&posterior, combine(t, net, numbered(net, 2, 3), Equal{})); err != nil {
		t.Fatal(err)
	}
	if err := WriteRestarts(&restarts, combine(t, net, numbered(net, 1, 4), Equal{}), make([]float64, 4), 2); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ file, reason string }{
		{posterior.String(), "holds 6 stacked networks"},
		{restarts.String(), "holds 4 stacked networks, not one: save t[2].clone(), the restart that was chosen, of each"},
		{"PK\x03\x04 archive/data.pkl", "torch.save"},
		{"\x80\x02}q\x00.", "torch.save"},
		{"not weights at all", "is it the right file"},
	} {
		if _, err := ReadWeights([]byte(c.file), net); err == nil || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("error %v, want one about %q", err, c.reason)
		}
	}
}

// FuzzReadWeights: whatever the file, an error or as many finite parameters as the network has.
func FuzzReadWeights(f *testing.F) {
	net, err := nn.New([]int{1, 6, 6}, []nn.Layer{
		nn.Conv{Filters: 2, Kernel: [2]int{3, 3}, Pad: [2]int{1, 1}, Name: "conv1"}, nn.ReLU, nn.MaxPool{Size: [2]int{2, 2}}, nn.Dense{Units: 3, Name: "fc1"},
	}, nn.Categorical{})
	if err != nil {
		f.Fatal(err)
	}
	for _, names := range [][]string{nil, {"a.weight", "a.bias", "b.weight", "b.bias"}, {"conv1.weight", "", "fc1", "."}} {
		var b bytes.Buffer
		if err := safetensors.Write(&b, trained(names...)); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		theta, err := ReadWeights(file, net)
		if err != nil {
			return
		}
		if len(theta) != net.Dim() {
			t.Fatalf("%d parameters of %d", len(theta), net.Dim())
		}
		for k, x := range theta {
			if x-x != 0 {
				t.Fatalf("parameter %d is %v", k, x)
			}
		}
	})
}
