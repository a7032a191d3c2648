package nn

import (
	"context"
	"strings"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/pool"
)

// TestModelRefuses checks the errors for a set that does not fit the network and a batch that does not fit the set.
func TestModelRefuses(t *testing.T) {
	x := make([]float32, 12)
	labels := func(classes int) *data.Set {
		return &data.Set{Name: "x", Shape: []int{3}, F32: x, Labels: []int32{0, 1, 0, 1}, Classes: classes}
	}
	values := func(outputs int) *data.Set {
		return &data.Set{Name: "x", Shape: []int{3}, F32: x, Values: make([]float32, 4*outputs), Outputs: outputs}
	}
	net := func(inputs, units int, lik Likelihood) *Net {
		return mustNet(t, []int{inputs}, []Layer{Dense{Units: units}}, lik)
	}
	for _, c := range []struct {
		net  *Net
		set  *data.Set
		want string // "" is accepted
	}{
		{net(3, 2, Categorical{}), labels(2), ""},
		{net(3, 3, Categorical{}), labels(2), ""},
		{net(3, 2, Categorical{}), labels(3), "3 classes"},
		{net(3, 2, Categorical{}), values(2), "no class labels"},
		{net(4, 2, Categorical{}), labels(2), "examples of shape [3]"},
		{net(3, 1, Bernoulli{}), labels(2), ""},
		{net(3, 1, Bernoulli{}), labels(3), "2 classes"},
		{net(3, 1, Bernoulli{}), values(1), "2 classes"},
		{net(3, 2, Gaussian{SD: 1}), values(2), ""},
		{net(3, 2, Gaussian{SD: 1}), values(1), "1 target values"},
		{net(3, 2, Gaussian{SD: 1}), labels(2), "target values"},
		{net(3, 2, Gaussian{SD: Predicted}), values(1), ""},
		{net(3, 4, Gaussian{SD: Predicted}), values(2), ""},
		{net(3, 4, Gaussian{SD: Predicted}), values(1), "1 target values an example, the network 4 outputs: sd: predicted takes two for each value, want 2"},
		{net(3, 2, Gaussian{SD: Predicted}), values(2), "2 target values an example, the network 2 outputs: sd: predicted takes two for each value, want 4"},
	} {
		_, err := NewModel(c.net, c.set, pool.New(1))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%T of %d outputs, %d classes, %d values: error %v, want %q", c.net.lik, c.net.Outputs(), c.set.Classes, c.set.Outputs, err, c.want)
		}
	}

	n := net(3, 2, Categorical{})
	ll, theta := make([]float64, 1), make([]float64, n.dim)
	logLik := func(set *data.Set, rows ...int32) error {
		m, err := NewModel(n, set, pool.New(1))
		if err != nil {
			t.Fatal(err)
		}
		return m.LogLik(context.Background(), rows, theta, ll, nil)
	}
	for _, row := range []int32{-1, 4} {
		if err := logLik(labels(2), 0, row); err == nil || !strings.Contains(err.Error(), "row 1") {
			t.Errorf("row %d of 4 examples: error %v", row, err)
		}
	}
	if err := logLik(&data.Set{Name: "x", Shape: []int{3}, F32: x}); err == nil || !strings.Contains(err.Error(), "no targets") {
		t.Errorf("no targets: error %v", err)
	}
}
