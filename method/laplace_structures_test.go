package method

import (
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/nn"
)

// Before the run begins a structure says which network it is not for, and what it would take.
func TestLaplaceChecksNetworks(t *testing.T) {
	wide, err := nn.New([]int{5}, []nn.Layer{nn.Dense{Units: 800}, nn.Tanh, nn.Dense{Units: 3}}, nn.Categorical{})
	if err != nil {
		t.Fatal(err)
	}
	normed, err := nn.New([]int{1, 4, 4}, []nn.Layer{nn.Conv{Filters: 2, Kernel: [2]int{3, 3}}, nn.FRN{}, nn.Dense{Units: 3}}, nn.Categorical{})
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := nn.New([]int{4}, []nn.Layer{nn.Embed{Tokens: 3, Width: 2}, nn.Dense{Units: 3}}, nn.Categorical{})
	if err != nil {
		t.Fatal(err)
	}
	wideHead, err := nn.New([]int{2000}, []nn.Layer{nn.Dense{Units: 3}}, nn.Categorical{})
	if err != nil {
		t.Fatal(err)
	}
	updated, err := nn.New([]int{5}, []nn.Layer{nn.Dense{Units: 4}, nn.LoRA{Units: 3, Rank: 2, Alpha: 1}}, nn.Categorical{})
	if err != nil {
		t.Fatal(err)
	}
	tails, err := nn.New([]int{5}, []nn.Layer{nn.Dense{Units: 1}}, nn.Student{DF: 4, SD: 1})
	if err != nil {
		t.Fatal(err)
	}
	const noFactors = "method.laplace.structure: kron has factors for dense layers, convolutions and low-rank updates, and "
	for _, c := range []struct {
		net             *nn.Net
		structure, want string
	}{
		{mlp(t), "kron", ""}, {mlp(t), "full", ""}, {mlp(t), "diagonal", ""}, {wide, "kron", ""}, {wide, "diagonal", ""}, {normed, "diagonal", ""}, {normed, "full", ""},
		{wide, "full", "method.laplace.structure: full is a matrix of D×D for the D = 7,203 random parameters, which takes about 1584 MB of memory: " +
			"want at most 4,000 parameters; take structure: kron or, for the last layer alone, of: last"},
		{tails, "diagonal", "method.laplace: the likelihood student has no Gauss-Newton matrix: −log p of a target may curve downwards in the outputs; take categorical, bernoulli or gaussian"},
		{wideHead, "full", "method.laplace.structure: full is a matrix of D×D for the D = 6,003 random parameters, which takes about 1100 MB of memory: " +
			"want at most 4,000 parameters; take structure: kron"},
		{normed, "kron", noFactors + "1.weight is of another: take structure: diagonal or, for the last layer alone, of: last"},
		{tokens, "kron", noFactors + "0.weight is of another: take structure: diagonal or, for the last layer alone, of: last"},
		{updated, "kron", ""},
	} {
		j := newJob(t, 1)
		j.Net = c.net
		said := faults(func(f *config.Faults) {
			m := Laplace{Structure: c.structure}
			j.Plan(m.Settle(around(m), f), around(m), 0, f)
		})
		if got := strings.Join(said, "\n"); got != c.want {
			t.Errorf("%s of %s: %q, want %q", c.structure, c.net.Title(), got, c.want)
		}
	}
}
