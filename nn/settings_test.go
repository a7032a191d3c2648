package nn

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/config"
)

// faults lists what the check of settings says, field by field.
func faults(c config.Checker) (all []string) {
	f := config.NewFaults()
	c.Check(f)
	for _, fault := range f.All() {
		all = append(all, strings.TrimPrefix(fault.Path+": "+fault.Message, ": "))
	}
	return all
}

// TestSettings checks what the settings of layers and likelihoods accept. A zero stride means the default in a Go program.
func TestSettings(t *testing.T) {
	pair := func(a, b int) [2]int { return [2]int{a, b} }
	for _, c := range []struct {
		settings config.Checker
		want     []string
	}{
		{Dense{Units: 1}, nil},
		{Dense{Units: 1 << 20, NoBias: true, Name: "fc1"}, nil},
		{Dense{}, []string{"units: needs a size, 1 to 1048576"}},
		{Dense{Units: -1}, []string{"units: want 1 to 1048576, have -1"}},
		{Dense{Units: 1<<20 + 1, Name: "a\nb"}, []string{"units: want 1 to 1048576, have 1048577", `name: "a\nb": want at most 100 bytes without control characters`}},
		{Conv{Filters: 1, Kernel: pair(1, 1)}, nil},
		{Conv{Filters: 1, Kernel: pair(3, 5), Stride: pair(2, 1), Pad: pair(0, 1), Name: strings.Repeat("a", 100)}, nil},
		{Conv{Filters: 1}, []string{"kernel: needs a size, 1 to 1048576"}},
		{Conv{Kernel: pair(0, 3)}, []string{"filters: needs a size, 1 to 1048576", "kernel: want 1 to 1048576, have 0"}},
		{Conv{Filters: -2, Kernel: pair(3, 1<<21), Stride: pair(1, 0), Pad: pair(0, -1), Name: strings.Repeat("a", 101)}, []string{
			"filters: want 1 to 1048576, have -2", "kernel: want 1 to 1048576, have 2097152", "stride: want 1 to 1048576, have 0",
			"pad: want 0 to 1048576, have -1", `name: "` + strings.Repeat("a", 101) + `": want at most 100 bytes without control characters`,
		}},
		{MaxPool{Size: pair(2, 3)}, nil},
		{MaxPool{Size: pair(2, 3), Stride: pair(1, 1), Pad: pair(1, 0)}, nil},
		{MaxPool{Pad: pair(1, 1)}, []string{"size: needs a size, 1 to 1048576"}},
		{AvgPool{Size: pair(0, 3), Stride: pair(-1, 1), Pad: pair(0, -1)}, []string{
			"size: want 1 to 1048576, have 0", "stride: want 1 to 1048576, have -1", "pad: want 0 to 1048576, have -1",
		}},
		{AvgPool{}, []string{"size: needs a size, 1 to 1048576"}},
		{Gaussian{SD: 1e-3}, nil},
		{Gaussian{SD: Learned}, nil},
		{Gaussian{SD: Predicted}, nil},
		{Gaussian{SD: Predicted, Floor: 0.01}, nil},
		{Gaussian{SD: Learned, Floor: 0.01}, []string{"floor: is that of predicted standard deviations: want sd: predicted, or no floor"}},
		{Gaussian{SD: Predicted, Floor: -1}, []string{"floor: want a number from 0 to 1e6, have -1"}},
		{Student{DF: 2.5, SD: Learned}, nil},
		{Student{DF: Learned, SD: Predicted, Floor: 0.1}, nil},
		{Student{DF: 2, SD: Learned}, []string{"df: want a number above 2, at most 1e6, or learned; have 2"}},
		{Student{DF: Learned}, []string{"want an sd above 0, learned or predicted"}},
		{Gaussian{}, []string{"want an sd above 0, learned or predicted"}},
		{Gaussian{SD: -3}, []string{"want an sd above 0, learned or predicted"}},
	} {
		if got := faults(c.settings); !slices.Equal(got, c.want) {
			t.Errorf("%T%+v: faults %q, want %q", c.settings, c.settings, got, c.want)
		}
	}
}

// TestDefaults checks what is filled in for a setting that a config leaves out, and that a written one stays.
func TestDefaults(t *testing.T) {
	conv, wide := Conv{}, Conv{Stride: [2]int{2, 3}}
	conv.Defaults()
	wide.Defaults()
	if conv.Stride != [2]int{1, 1} || wide.Stride != [2]int{2, 3} {
		t.Errorf("conv: strides %v and %v", conv.Stride, wide.Stride)
	}
	top, mean := MaxPool{Size: [2]int{2, 3}}, AvgPool{Size: [2]int{3, 2}, Stride: [2]int{1, 1}}
	top.Defaults()
	mean.Defaults()
	if top.Stride != top.Size || mean.Stride != [2]int{1, 1} {
		t.Errorf("pools: strides %v and %v", top.Stride, mean.Stride)
	}
}

// TestLikelihoods checks what a likelihood answers for others.
func TestLikelihoods(t *testing.T) {
	ln2, ln3 := math.Log(2), math.Log(3)
	for _, c := range []struct {
		lik        Likelihood
		name       string
		classes    int // of 3 outputs
		parameters int
		mean, sd   []float64 // of the target values for 4 outputs, −1, 2, log 2 and log 3, and a last parameter of 0
	}{
		{Categorical{}, "categorical", 3, 0, nil, nil},
		{Bernoulli{}, "bernoulli", 2, 0, nil, nil},
		{Gaussian{SD: 3}, "gaussian", 0, 0, []float64{-1, 2, ln2, ln3}, []float64{3, 3, 3, 3}},
		{Gaussian{SD: Learned}, "gaussian", 0, 1, []float64{-1, 2, ln2, ln3}, []float64{1, 1, 1, 1}},
		{Gaussian{SD: Predicted}, "gaussian", 0, 0, []float64{-1, 2}, []float64{2, 3}},
		{Student{DF: Learned, SD: Learned}, "student", 0, 2, []float64{-1, 2, ln2, ln3}, []float64{1, 1, 1, 1}},
		{Student{DF: Learned, SD: Predicted}, "student", 0, 1, []float64{-1, 2}, []float64{2, 3}},
		{Student{DF: 5, SD: 3}, "student", 0, 0, []float64{-1, 2, ln2, ln3}, []float64{3, 3, 3, 3}},
		{Gaussian{SD: Predicted, Floor: 4}, "gaussian", 0, 0, []float64{-1, 2}, []float64{math.Sqrt(4 + 16), 5}},
	} {
		if got := c.lik.Classes(3); got != c.classes || c.lik.Regression() != (got == 0) {
			t.Errorf("%s: %d classes, want %d; regression: %v", c.name, got, c.classes, c.lik.Regression())
		}
		if c.lik.String() != c.name || Likelihoods.Name(c.lik) != c.name {
			t.Errorf("%v is called %s in the table, want %s", c.lik, Likelihoods.Name(c.lik), c.name)
		}
		if n := len(c.lik.Parameters()); n != c.parameters {
			t.Errorf("%s: %d parameters, want %d", c.name, n, c.parameters)
		}
		mean, sd := make([]float64, c.lik.Targets(4)), make([]float64, c.lik.Targets(4))
		c.lik.Predicts([]float32{-1, 2, float32(ln2), float32(ln3)}, make([]float64, 2), mean, sd)
		near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-6 }
		if !slices.EqualFunc(mean, c.mean, near) || !slices.EqualFunc(sd, c.sd, near) {
			t.Errorf("%s: means %v, standard deviations %v, want %v and %v", c.name, mean, sd, c.mean, c.sd)
		}
	}
}

// Messages list the likelihoods of the table, whichever it has.
func TestMessagesListTheLikelihoods(t *testing.T) {
	was := Likelihoods
	defer func() { Likelihoods = was }()
	Likelihoods = append(was[:len(was):len(was)], config.Row[Likelihood]{Name: "other", Part: struct{ Bernoulli }{}})
	all := faults(Architecture{Layers: []Layer{Dense{Units: 1}}})
	if want := "needs a likelihood: categorical, bernoulli, {gaussian: {sd: 1}}, {gaussian: {sd: learned}}, {gaussian: {sd: predicted}}, {student: {df: learned, sd: learned}} or other"; !slices.Equal(all, []string{want}) {
		t.Errorf("%+v, want %s", all, want)
	}
	if classes := LikelihoodsWhere(false); !slices.Equal(classes, []string{"categorical", "bernoulli", "other"}) {
		t.Errorf("likelihoods of classes: %v", classes)
	}
}
