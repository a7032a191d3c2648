package starling

import (
	"context"
	"math"
	"os"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/nn"
)

// Networks that PyTorch trained, with names of their own, give PyTorch's outputs. testdata/pytorch/make.py made them;
// its outputs are in float64, ours in float32: the bounds are those that users are promised.
func TestPyTorchOutputs(t *testing.T) {
	t.Chdir("testdata/pytorch")
	for name, c := range map[string]struct {
		parameters int
		bound      float64 // on the difference of any output
	}{
		"lenet5":     {61706, 1e-4}, // logits to 31
		"gelu":       {1379, 1e-5},  // erf GELU, logits to 22
		"yes":        {160, 1e-6},   // tanh, bernoulli, a layer without bias
		"numbers":    {819, 5e-6},   // SiLU, two values, log_sd
		"windows":    {1658, 1e-6},  // strides, paddings, oblong windows, pools that overlap, the order of flattening
		"sequential": {281, 1e-6},   // names that are ours, the flatten counted
		"tokens":     {345, 1e-5},   // an embedding, and a head with a low-rank update (tokens.py made it)
		"average":    {625, 1e-6},   // padding="same", global average
		"bottleneck": {630, 1e-4},   // batch norms with statistics, residuals with and without a projection (norms.py made it)
	} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(name + ".yaml")
			if err != nil {
				t.Fatal(err)
			}
			spec, err := ParseSpec(name+".yaml", text)
			if err != nil {
				t.Fatal(err)
			}
			inputs, want := readNPY(t, name+"-inputs.npy"), readNPY(t, name+"-outputs.npy")
			set, err := data.NewInputs(name, inputs)
			if err != nil {
				t.Fatal(err)
			}
			net, err := nn.New(set.Shape, spec.Model.Layers, spec.Model.Likelihood)
			if err != nil {
				t.Fatal(err)
			}
			file, err := os.ReadFile(spec.Model.Init)
			if err != nil {
				t.Fatal(err)
			}
			w, err := bnn.ReadNetwork(file, net)
			if err != nil {
				t.Fatal(err)
			}
			net, theta := w.Net, w.Whole
			if net.Dim() != c.parameters {
				t.Errorf("%d parameters, want %d", net.Dim(), c.parameters)
			}
			model, err := nn.NewModel(net, set, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := make([]float32, set.Len()*net.Outputs())
			if err := model.Outputs(context.Background(), nil, theta, got); err != nil {
				t.Fatal(err)
			}
			values := want.Values.([]float64)
			if len(values) != len(got) {
				t.Fatalf("%d outputs, PyTorch has %d", len(got), len(values))
			}
			worst := 0.0
			for i, x := range values {
				if d := math.Abs(float64(got[i]) - x); !(d <= c.bound) {
					t.Fatalf("output %d is %v, PyTorch's %v", i, got[i], x)
				} else {
					worst = max(worst, d)
				}
			}
			t.Logf("outputs differ by at most %.1e", worst)
		})
	}
}
