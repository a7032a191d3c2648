package starling

import (
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/nn"
)

// The config of a run names the start that its descents had: he for a network with a normalisation, prior for others, or what was given. The
// Spec that was fitted is as it was.
func TestRunSaysItsStart(t *testing.T) {
	set := []string{"prior.anchor=null", "method=map", "map={restarts: 1, epochs: 1}"}
	cases := map[string]struct {
		sets []string
		want bnn.Start
	}{
		"usual": {nil, bnn.FromPrior{}},
		"given": {[]string{"map.start=he"}, bnn.He{}},
	}
	if _, there := nn.Layers.Find("frn"); there {
		cases["normalised"] = struct {
			sets []string
			want bnn.Start
		}{[]string{"model={input: [1, 2, 2], layers: [{conv: {filters: 2, kernel: 1}}, frn, {dense: 3}], likelihood: categorical}"}, bnn.He{}}
	}
	for name, c := range cases {
		spec := trees(t, append(set, c.sets...)...)
		was := spec.MAP.Start
		r := fitted(t, spec, Options{})
		if r.Spec.MAP.Start != c.want || spec.MAP.Start != was {
			t.Errorf("%s: the run says %T, want %T; its Spec became %T", name, r.Spec.MAP.Start, c.want, spec.MAP.Start)
		}
	}
}
