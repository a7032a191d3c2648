package starling

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Runs of ep on a model that suits it have nothing to tell; each setting or scan that makes it of no use is told, in a warning where the answer suffers.
func TestFilterTellsOfNodes(t *testing.T) {
	const text = `seed: 3
model: {linear_gaussian: {a: [[0.9]], q: [[1]], h: [[1]], r: [[4]], returns: 40}}
scans: {simulate: 12}
method: {ep: {nodes: 4, particles: 1200, joint: prior}}
`
	for _, c := range []struct {
		set  []string
		want []string // kinds, of which warnings end in !
	}{
		{},
		{[]string{"method.ep.passes=3", "method.ep.repair=softabs", "method.ep.correct=true"}, nil},
		{[]string{"method.ep.nodes=1"}, []string{"one-node"}},
		{[]string{"method.ep.passes=1"}, []string{"one-pass!"}},
		{[]string{"model.linear_gaussian.returns=3"}, []string{"more-nodes-than-measurements"}},
		{[]string{"method.ep.particles=8"}, []string{"few-draws!", "lone-ancestor!", "empty-sites!"}},
		{[]string{"model.linear_gaussian.r=[[40000]]", "method.ep.particles=400"}, []string{"empty-sites!"}}, // measurements tell less than the noise of samples
		{[]string{`model={linear_gaussian: {a: [[0.9, 0], [0, 0.9]], q: [[1, 0], [0, 1]], h: [[1, 0], [0, 0.001]], r: [[4, 0], [0, 4]], returns: 40}}`}, []string{"repaired-sites!"}},
	} {
		s := filteringOf(t, text, c.set...)
		r, err := Filter(t.Context(), s, FilterOptions{})
		if err != nil {
			t.Fatalf("%v: %v", c.set, err)
		}
		var got []string
		for _, f := range r.Findings {
			kind := f.Kind
			if f.Warning() {
				kind += "!"
			}
			got = append(got, kind)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v\n%s", c.set, got, c.want, strings.Join(r.Notes(), "\n"))
		}
		if n := r.Metrics.Nodes; (n == nil) != (len(c.set) == 1 && c.set[0] == "method.ep.nodes=1") {
			t.Errorf("%v: %+v", c.set, n)
		} else if n != nil {
			t.Log(c.set, fmt.Sprintf("%+v", *n))
		}
	}
}
