package nn

import (
	"fmt"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/config"
)

// TestRandomLayers: the words and names of Random give these layers their roles.
func TestRandomLayers(t *testing.T) {
	layers := []Layer{Dense{Units: 4, Name: "in"}, GELU, Dense{Units: 3}, GELU, Residual{[]Layer{Dense{Units: 3}, Tanh, Dense{Units: 3, Name: "end"}}, nil}, Dense{Units: 1, Name: "out"}}
	for _, c := range []struct {
		random Random
		want   string
	}{
		{nil, "in 2 4.body.0 end out"},
		{Random{"all"}, "in 2 4.body.0 end out"},
		{Random{"first"}, "in"},
		{Random{"last"}, "out"},
		{Random{"2"}, "2"},
		{Random{"out", "in"}, "in out"},
		{Random{"4"}, "4.body.0 end"},
		{Random{"end", "2", "2"}, "2 end"},
	} {
		net, err := c.random.Network([]int{2}, layers, Gaussian{SD: Learned})
		if err != nil {
			t.Errorf("%v: %v", c.random, err)
			continue
		}
		var names []string
		for _, x := range net.Random() {
			if name, ok := strings.CutSuffix(x.Name, ".weight"); ok {
				names = append(names, name)
			}
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%v: %s are random, want %s", c.random, got, c.want)
		}
	}
}

// TestRandomFaults: what Random cannot mean is refused, with place and mend.
func TestRandomFaults(t *testing.T) {
	for want, random := range map[string]Random{
		`random.0: "fcl" is no layer with parameters: did you mean "fc1"? (there are fc1, 2)`: {"fcl"},
		`random.1: "1" is no layer with parameters: did you mean "fc1"? (there are fc1, 2)`:   {"fc1", "1"},
		`random.1: "first" is no layer with parameters (there are fc1, 2)`:                    {"2", "first"},
		`random: names no layer, so that nothing is random: take some of fc1, 2`:              {},
		`random: names all layers with parameters (fc1, 2): leave random out`:                 {"fc1", "2"},
	} {
		f := config.NewFaults()
		a := Architecture{Input: []int{3}, Layers: []Layer{Dense{Units: 4, Name: "fc1"}, GELU, Dense{Units: 1}}, Random: random, Likelihood: Gaussian{SD: 1}}
		a.Check(f)
		got := ""
		for _, fault := range f.All() {
			got += fmt.Sprintf("%s: %s", fault.Path, fault.Message)
		}
		if got != want {
			t.Errorf("%v: %s\nwant %s", random, got, want)
		}
	}
	var many []Layer
	for range 39 {
		many = append(many, Dense{Units: 3})
	}
	const want = `"x" is no layer with parameters (there are 0, 1, 2, 3, 4, 5, 6, 7, … 37, 38, 39 in all)`
	if _, err := (Random{"x"}).Network([]int{3}, many, Gaussian{SD: 1}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("of many layers: %v\nwant %s", err, want)
	}
}
