package nn

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/testkit"
)

// TestLargest: the largest networks that New takes have plans; lanes refuses offsets beyond its reach, and compile panics then. Nothing
// here is as large in use: plans are tables, and no tape is made.
func TestLargest(t *testing.T) {
	conv := func(f int, k, pad [2]int) Layer { return Conv{Filters: f, Kernel: k, Pad: pad} }
	const most = maxValues
	for name, c := range map[string]struct {
		input  []int
		layers []Layer
		lik    Likelihood
		long   bool
	}{
		"a high plane":     {[]int{1, most - 2, 1}, []Layer{conv(1, [2]int{3, 1}, [2]int{1, 0}), ReLU, conv(1, [2]int{3, 1}, [2]int{1, 0}), GlobalAvgPool{}}, Gaussian{SD: 1}, true},
		"a broad plane":    {[]int{1, 1, most - 2}, []Layer{conv(1, [2]int{1, 3}, [2]int{0, 1}), Tanh, conv(1, [2]int{1, 3}, [2]int{0, 1}), GlobalAvgPool{}}, Gaussian{SD: 1}, true},
		"two wide borders": {[]int{1, 1, 1}, []Layer{conv(1, [2]int{1, 1}, [2]int{}), Residual{Body: []Layer{conv(1, [2]int{1 << 20, 1}, [2]int{1 << 19, 0}), conv(1, [2]int{2, 1}, [2]int{})}, Shortcut: []Layer{conv(1, [2]int{1, 1 << 20}, [2]int{0, 1 << 19}), conv(1, [2]int{1, 2}, [2]int{})}}}, Gaussian{SD: 1}, false},
		"many inputs":      {[]int{most}, []Layer{Dense{Units: 60}, ReLU, Dense{Units: 1}}, Gaussian{SD: 1}, false},
		"one unit of many": {[]int{most}, []Layer{Residual{[]Layer{Dense{Units: 20}, Tanh, Dense{Units: 1, NoBias: true}}, []Layer{Dense{Units: 1, NoBias: true}}}}, Gaussian{SD: 1}, false},
	} {
		if c.long && !testkit.Long(t, 1) {
			continue
		}
		t.Run(name, func(t *testing.T) { mustNet(t, c.input, c.layers, c.lik).program() })
	}
}

// TestTooLarge: what no plan can have is refused with the layer and what to change, also inside residuals.
func TestTooLarge(t *testing.T) {
	many := Conv{Filters: 1 << 20, Kernel: [2]int{1, 1}}
	for want, layers := range map[string][]Layer{
		"layer 0 (conv): gives [1048576 9 9], more than 4194304 values an example":                                                                                          {many},
		"layer 0 (residual): body: layer 1 (residual): body: layer 0 (conv): gives [1048576 9 9], more than 4194304 values an example":                                      {Residual{Body: []Layer{ReLU, Residual{Body: []Layer{many}}}}},
		"layer 0 (residual): shortcut: layer 0 (conv): padding [2097152 0] makes more than 4194304 values of [2 9 9]":                                                       {Residual{[]Layer{ReLU}, []Layer{Conv{Filters: 2, Kernel: [2]int{1, 1}, Pad: [2]int{1 << 21, 0}}}}},
		"layer 0 (conv): a kernel of [1000 1000] over [2 9 9] is too large: tables of more than 134217728 offsets; take a smaller kernel, a longer stride or fewer filters": {Conv{Filters: 1, Kernel: [2]int{1000, 1000}, Pad: [2]int{600, 600}}},
		"layer 0 (maxpool): a window of [1200 1200] over [2 9 9] is too large: a table of more than 134217728 offsets; take a smaller window or a longer stride":            {MaxPool{Size: [2]int{1200, 1200}, Stride: [2]int{1, 1}, Pad: [2]int{600, 600}}},
		"layer 1 (dense): brings the network to more than 268435456 parameters":                                                                                             {Residual{Body: []Layer{ReLU}}, Dense{Units: 4 << 20}},
	} {
		if _, err := New([]int{2, 9, 9}, layers, Gaussian{SD: 1}); err == nil || err.Error() != want {
			t.Errorf("%v: %v\nwant %s", layers, err, want)
		}
	}
}

// network is the part of a config that describes a network.
type network struct {
	Model Architecture `yaml:"model"`
}

// TestResidualFaults: in a config, a residual that does not fit is refused at its place, with both shapes and what to do.
func TestResidualFaults(t *testing.T) {
	for text, want := range map[string]string{
		"[{conv: {filters: 3, kernel: 3, pad: 1}}, {residual: {body: [{conv: {filters: 4, kernel: 3, stride: 2, pad: 1}}]}}, {dense: 2}]": "model.layers.1: layer 1 (residual): the body gives [4 4 4] and the shortcut [3 8 8], and they are added: give the shortcut a convolution to [4 4 4], as in shortcut: [{conv: {filters: 4, kernel: 1, stride: …}}], or shortcut: pad",
		"[{residual: {body: [{conv: {filters: 1, kernel: 1}}]}}, {dense: 2}]":                                                             "give the shortcut a convolution to [1 8 8], as in shortcut: [{conv: {filters: 1, kernel: 1}}]\n", // pad would drop a channel
		"[relu, {residual: {body: [{conv: {filters: 1, kernel: 1}}], shortcut: pad}}, {dense: 2}]":                                        "model.layers.1: layer 1 (residual): shortcut: layer 0 (pad): the body gives [1 8 8] and the input is [2 8 8]: pad would drop channels",
		"[{residual: {body: [{dense: 4}]}}, {dense: 2}]":                                                                                  "model.layers.0: layer 0 (residual): the body gives [4] and the shortcut [2 8 8], and they are added: give the shortcut a layer to [4], as in shortcut: [{dense: 4}]",
		"[{residual: {body: []}}, {dense: 2}]":                                                                                            "model.layers.0.residual.body: needs layers",
		"[{residual: {shortcut: pad}}, {dense: 2}]":                                                                                       "model.layers.0.residual.body: needs layers",
		"[{residual: {body: [relu, {residual: {body: [{conv: {filters: 5, kernel: 1}}]}}]}}, {dense: 2}]":                                 "model.layers.0: layer 0 (residual): body: layer 1 (residual): the body gives [5 8 8] and the shortcut [2 8 8]",
		"[{residual: {body: [{dropout: 0.5}, {dense: 3}]}}, {dense: 2}]":                                                                  "model.layers.0.residual.body.0: dropout inside a residual is not supported",
		"[pad, {dense: 2}]": "model.layers.0: layer 0 (pad): stands in the shortcut of a residual alone",
	} {
		_, _, err := config.Parse[network]("model.yaml", []byte("model: {input: [2, 8, 8], layers: "+text+", likelihood: {gaussian: {sd: 1}}}\n"), nil, Layers, Likelihoods)
		if err == nil || !strings.Contains(err.Error()+"\n", want) {
			t.Errorf("%s: %v\nwant %s", text, err, want)
		}
	}
}

// TestDeepNest: ten residuals inside each other are a network like any other.
func TestDeepNest(t *testing.T) {
	var inner Layer = Conv{Filters: 2, Kernel: [2]int{3, 3}, Pad: [2]int{1, 1}}
	for range 10 {
		inner = Residual{Body: []Layer{inner, ReLU}}
	}
	net := mustNet(t, []int{2, 6, 5}, []Layer{inner, Dense{Units: 3}}, Categorical{})
	if name := net.tensors[0].Name; name != "0."+strings.Repeat("body.0.", 10)+"weight" {
		t.Errorf("the tensor is %s", name)
	}
	r := rand.New(rand.NewPCG(10, 10))
	checkGradient(t, net, testSet(net, 20, false, r), testTheta(net, 2, r), r)
}

// FuzzLayers: no layers of a config make parsing, shapes or plans panic, and what is planned has a tape no larger than its estimate.
func FuzzLayers(f *testing.F) {
	for _, text := range []string{
		"[{conv: {filters: 3, kernel: 3, pad: 1}}, relu, {residual: {body: [{conv: {filters: 6, kernel: 3, stride: 2, pad: 1}}, swish], shortcut: pad}}, relu, {dense: 3}]",
		"[{residual: {body: [{residual: {body: [{dense: 4}], shortcut: [{dense: 4}, tanh]}}], shortcut: [flatten, {dense: 4}]}}, {dense: 2}]",
		"[{conv: {filters: 2, kernel: [3, 1], pad: [1000000, 0]}}, {maxpool: {size: 3, stride: 1, pad: 1}}, global_avgpool]",
		"[{residual: {body: [{residual: {body: [{residual: {body: [relu]}}]}}], shortcut: [gelu]}}, {dropout: 0.5}, {dense: 9}]",
		"[{conv: {filters: 99999999, kernel: 1}}, {dense: 4194304}]",
		"[{residual: {}}, {residual: {body: pad}}, pad]",
	} {
		f.Add(text, 2, 8, 8)
		f.Add(text, 4, 1, 1)
	}
	f.Fuzz(func(t *testing.T, layers string, c, h, w int) {
		text := fmt.Sprintf("model: {input: [%d, %d, %d], layers: %s, likelihood: {gaussian: {sd: 1}}}\n", c, h, w, strings.ReplaceAll(layers, "\n", " "))
		read, _, err := config.Parse[network]("fuzz.yaml", []byte(text), nil, Layers, Likelihoods)
		if err != nil {
			if strings.TrimSpace(err.Error()) == "" {
				t.Error("an error without a message")
			}
			return
		}
		a := read.Model
		net, err := a.Random.Network(a.Input, a.Layers, a.Likelihood)
		if err != nil {
			t.Fatalf("%s was accepted: %v", text, err)
		}
		values := 0
		walk(net.nodes, func(n *node) { values += volume(n.out...) })
		if net.features()+values > 1<<16 || net.Flops() > 1<<26 || net.Parameters() > 1<<18 {
			return // plans in the time of a fuzzer
		}
		p := net.program()
		if tape := newTape(p); tape.bytes() > net.Scratch(1) {
			t.Errorf("%s: a tape of %d bytes, the estimate is %d", text, tape.bytes(), net.Scratch(1))
		}
	})
}
