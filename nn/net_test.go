package nn

import (
	"fmt"
	"math"
	"testing"
)

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		input  []int
		layers []Layer
		lik    Likelihood
	}{
		{[]int{1, 2}, []Layer{Dense{Units: 2}}, Categorical{}},
		{[]int{0}, []Layer{Dense{Units: 2}}, Categorical{}},
		{[]int{3}, []Layer{Dense{}}, Categorical{}},
		{[]int{3}, []Layer{Conv{Filters: 1, Kernel: [2]int{1, 1}}}, Categorical{}},
		{[]int{1, 4, 4}, []Layer{Conv{Filters: 1, Kernel: [2]int{5, 5}}, Dense{Units: 2}}, Categorical{}},
		{[]int{1, 4, 4}, []Layer{MaxPool{Size: [2]int{2, 2}, Pad: [2]int{2, 2}}, Dense{Units: 2}}, Categorical{}},
		{[]int{3}, []Layer{Dense{Units: 2, Name: "a"}, Dense{Units: 2, Name: "a"}}, Categorical{}},
		{[]int{3}, []Layer{Dense{Units: 1}}, Categorical{}},
		{[]int{3}, []Layer{Dense{Units: 2}}, Bernoulli{}},
		{[]int{3}, []Layer{Dense{Units: 2}}, Gaussian{}},
		{[]int{3}, []Layer{ReLU}, Categorical{}},
		{[]int{3}, []Layer{nil}, Categorical{}},
		{[]int{3}, []Layer{Dense{Units: 2}}, nil},
		{[]int{3}, []Layer{Dense{Units: 1}}, Gaussian{SD: -2}},
		{[]int{3}, []Layer{Dense{Units: 1}}, Gaussian{SD: 1e-30}},
		{[]int{3}, []Layer{Dense{Units: 1}}, Gaussian{SD: math.Inf(1)}},
		{[]int{1 << 20, 1 << 20, 1 << 20}, []Layer{Dense{Units: 2}}, Categorical{}},
		{[]int{3}, []Layer{Dense{Units: 1 << 40}, Dense{Units: 2}}, Categorical{}},
		{[]int{1 << 20}, []Layer{Dense{Units: 1 << 20}, Dense{Units: 2}}, Categorical{}},
		{[]int{1, 4, 4}, []Layer{Conv{Filters: 1, Kernel: [2]int{1, 1}, Pad: [2]int{1 << 40, 0}}, Dense{Units: 2}}, Categorical{}},
	} {
		if _, err := New(c.input, c.layers, c.lik); err == nil {
			t.Error(fmt.Sprintf("%v %v %v", c.input, c.layers, c.lik), "was accepted")
		}
	}
}

func TestParameterCounts(t *testing.T) {
	pair := func(a int) [2]int { return [2]int{a, a} }
	for _, c := range []struct {
		name   string
		layers []Layer
		want   int
		flops  float64 // 0: not stated
	}{
		{"LeNet-5", lenet5, 61_706, 2.264e6},
		{"FashionMNIST CNN", []Layer{Conv{Filters: 8, Kernel: pair(3), Pad: pair(1)}, ReLU, MaxPool{Size: pair(2)}, Conv{Filters: 16, Kernel: pair(3), Pad: pair(1)}, ReLU, MaxPool{Size: pair(2)}, Dense{Units: 120}, ReLU, Dense{Units: 10}}, 96_658, 0},
		{"MNIST7", mnist7, 6_320, .1505e6},
	} {
		if net := mustNet(t, []int{1, 28, 28}, c.layers, Categorical{}); net.Dim() != c.want {
			t.Errorf("%s has %d parameters, want %d", c.name, net.Dim(), c.want)
		} else if c.flops > 0 && math.Abs(net.Flops()/c.flops-1) > 1e-3 {
			t.Errorf("%s: %g floating-point operations an example, want %g", c.name, net.Flops(), c.flops)
		}
	}
}

// A title names the layers that change shapes, in order.
func TestTitle(t *testing.T) {
	net, err := New([]int{1, 8, 8}, []Layer{
		Conv{Filters: 4, Kernel: [2]int{3, 3}}, ReLU, MaxPool{Size: [2]int{2, 2}}, AvgPool{Size: [2]int{1, 1}}, GlobalAvgPool{}, Flatten{}, Tanh, GELU,
		Swish, Dense{Units: 8},
	}, Categorical{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := net.Title(), "conv 4 → 3 × pool → dense 8"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
