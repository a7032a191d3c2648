package nn

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/pool"
)

// TestFoldedNorm: a convolution with a batch norm behind it is one convolution of the weights s W and the biases s (b − mean) + β. Logits are
// the same, and the gradients by the chain rule.
func TestFoldedNorm(t *testing.T) {
	conv := Conv{Filters: 5, Kernel: [2]int{3, 2}, Stride: [2]int{2, 1}, Pad: [2]int{1, 1}, Name: "conv"}
	net := mustNet(t, []int{2, 9, 6}, []Layer{Tanh, conv, Norm{Batch: Frozen, Eps: 0.01, Name: "bn"}, ReLU, Dense{Units: 3, Name: "fc"}}, Categorical{})
	plain := mustNet(t, []int{2, 9, 6}, []Layer{Tanh, conv, ReLU, Dense{Units: 3, Name: "fc"}}, Categorical{})
	r := rand.New(rand.NewPCG(4, 1))
	set, theta := testSet(net, 70, false, r), testTheta(net, 1, r)
	part := func(net *Net, of []float64, name string) []float64 {
		i := slices.IndexFunc(net.tensors, func(t Tensor) bool { return t.Name == name })
		return of[net.tensors[i].Offset:][:net.tensors[i].Size]
	}
	statistics := widened(net.constants)
	mean, variance := part(net, statistics, "bn.running_mean"), part(net, statistics, "bn.running_var")
	folded, scale := make([]float64, plain.dim), make([]float64, 5)
	for _, name := range []string{"conv.weight", "conv.bias", "fc.weight", "fc.bias"} {
		copy(part(plain, folded, name), part(net, theta, name))
	}
	weight, bias := part(plain, folded, "conv.weight"), part(plain, folded, "conv.bias")
	for ch := range scale {
		scale[ch] = part(net, theta, "bn.weight")[ch] / math.Sqrt(variance[ch]+0.01)
		bias[ch] = scale[ch]*(bias[ch]-mean[ch]) + part(net, theta, "bn.bias")[ch]
		for k := range 12 {
			weight[12*ch+k] *= scale[ch]
		}
	}
	gradient := func(net *Net, theta []float64) (logits []float32, grad []float64) {
		m, err := NewModel(net, set, pool.New(1))
		if err != nil {
			t.Fatal(err)
		}
		logits, grad = make([]float32, 70*3), make([]float64, net.dim)
		if err := m.Outputs(context.Background(), nil, theta, logits); err != nil {
			t.Fatal(err)
		}
		if err := m.LogLik(context.Background(), nil, theta, make([]float64, 1), grad); err != nil {
			t.Fatal(err)
		}
		return logits, grad
	}
	logits, grad := gradient(net, theta)
	wantLogits, by := gradient(plain, folded)
	for i, x := range wantLogits {
		if d := math.Abs(float64(logits[i] - x)); !(d <= 1e-5) {
			t.Fatalf("logit %d is %v, of the folded network %v", i, logits[i], x)
		}
	}
	near := func(name string, i int, want float64) {
		if have := part(net, grad, name)[i]; !(math.Abs(have-want) <= 2e-4) {
			t.Errorf("the gradient of %s[%d] is %v, by the folded network %v", name, i, have, want)
		}
	}
	dw, db := part(plain, by, "conv.weight"), part(plain, by, "conv.bias")
	for ch, s := range scale {
		ofGamma := (part(net, theta, "conv.bias")[ch] - mean[ch]) * db[ch]
		for k := range 12 {
			near("conv.weight", 12*ch+k, s*dw[12*ch+k])
			ofGamma += part(net, theta, "conv.weight")[12*ch+k] * dw[12*ch+k]
		}
		near("conv.bias", ch, s*db[ch])
		near("bn.bias", ch, db[ch])
		near("bn.weight", ch, ofGamma/math.Sqrt(variance[ch]+0.01))
	}
}

// TestStatistics: they are no parameters. Nothing is partly random by them, no vector of parameters has them, and models have them all.
func TestStatistics(t *testing.T) {
	layers := []Layer{Conv{Filters: 3, Kernel: [2]int{1, 1}}, Norm{Batch: Frozen, Name: "bn"}, Dense{Units: 1}}
	net := mustNet(t, []int{2, 4, 4}, layers, Gaussian{SD: Learned})
	if net.Partly() || net.Learned() != 0 || net.Whole() != net || net.Dim() != 9+6+49+1 || net.Parameters() != net.Dim() {
		t.Errorf("partly random: %v, %d learned, %s", net.Partly(), net.Learned(), net.Size())
	}
	if len(net.Constants()) != 2 || len(net.Held()) != 6 || net.Constants()[1].Name != "bn.running_var" {
		t.Errorf("constants: %+v, %v", net.Constants(), net.Held())
	}
	again, err := NewPartly([]int{2, 4, 4}, layers, Gaussian{SD: Learned}, allRandom)
	if err != nil || again.Learned() != 0 {
		t.Errorf("%d parameters are learned where all are random (%v)", again.Learned(), err)
	}
	whole := make([]float64, net.Parameters())
	for i := range whole {
		whole[i] = float64(i)
	}
	theta, psi := net.Split(whole)
	if !slices.Equal(theta, whole) || len(psi) != 0 || !slices.Equal(net.Join(theta, psi), whole) {
		t.Errorf("split: %v and %v", theta, psi)
	}
	if name := net.RandomName(net.Dim() - 1); name != "log_sd[0]" {
		t.Errorf("the last parameter is %s", name)
	}
	partly, err := NewPartly([]int{2, 4, 4}, layers, Gaussian{SD: 1}, func(module string) Role {
		return map[string]Role{"0": RoleFrozen, "bn": RoleLearned, "3": RoleRandom}[module]
	})
	if err != nil {
		t.Fatal(err)
	}
	frozen := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}
	partly, err = partly.With(append(frozen, widened(net.constants)...))
	if err != nil {
		t.Fatal(err)
	}
	if partly.Parameters() != 9+6+49 || partly.Learned() != 6 || !slices.Equal(partly.Whole().Held(), net.Held()) {
		t.Errorf("%d parameters, %d learned, constants %v", partly.Parameters(), partly.Learned(), partly.Whole().Held())
	}
	if name := partly.SharedName(5); name != "bn.bias[2]" {
		t.Errorf("the last shared parameter is %s", name)
	}
}

// TestNormFaults: batch norms that cannot be are refused, with place and mend.
func TestNormFaults(t *testing.T) {
	bn := Norm{Batch: Frozen, Name: "bn"}
	for want, layers := range map[string][]Layer{
		`layer 1 (norm): needs an input of shape [channels, height, width], has [3]: put it behind a convolution, or fold it into the dense layer before it: multiply that layer's weights and bias by γ/√(var + ε), and add β`: {Dense{Units: 3}, bn},
		`layer 0 (norm): batch: want frozen, as in {norm: {batch: frozen}}, have "batch": statistics of the batch are not offered`:                                                                                              {Norm{Batch: "batch"}, Dense{Units: 1}},
		`layer 1 (norm): the name "bn" is taken by an earlier layer`: {bn, bn, Dense{Units: 1}},
	} {
		if _, err := New([]int{2, 4, 4}, layers, Categorical{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	net, err := New([]int{2, 4, 4}, []Layer{bn, Dense{Units: 3}}, Categorical{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewModel(net, testSet(net, 3, false, rand.New(rand.NewPCG(1, 1))), nil); err == nil || err.Error() != needsStatistics {
		t.Errorf("a model without statistics: %v", err)
	}
	for want, statistics := range map[string][]float64{
		"bn.running_var[1] is 0, and a variance":    {0, 0, 1, 0},
		"bn.running_var[0] is -1, and a variance":   {0, 0, -1, 1},
		"bn.running_var[0] is NaN, and a variance":  {0, 0, math.NaN(), 1},
		"bn.running_var[1] is +Inf, and a variance": {0, 0, 1, math.Inf(1)},
		"bn.running_var[1] is 1e-60, and a":         {0, 0, 1, 1e-60}, // 0 in float32
		"bn.running_mean[1] is 1e+39: want numbers": {0, 1e39, 1, 1},
	} {
		if _, err := net.With(statistics); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("statistics %v: %v, want %s", statistics, err, want)
		}
	}
	if net.constants != nil {
		t.Error("With changed the network")
	}
}
