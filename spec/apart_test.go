package spec

import (
	"strings"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/method"
)

const apartConfig = `
data: {csv: {file: ../testdata/trees.csv, target: kind}}
model: {layers: [{dense: 4}, tanh, {dense: 3}], likelihood: categorical}
prior: {normal: {variance: 1}, anchor: {s: 0.1, per: island}}
`

// An anchor for each island asks for a restart for each, which is the default where nothing else is said. What it cannot have is refused.
func TestAnchorPerIsland(t *testing.T) {
	for method, want := range map[string]int{"{smc: {islands: 12}}": 12, "{mcmc: {chains: 12, together: 4, start: prior}}": 3, "{mcmc: {chains: 12, together: 4}}": 12} {
		s, err := Parse("c.yaml", []byte(apartConfig+"method: "+method))
		if err != nil {
			t.Fatalf("%s: %v", method, err)
		}
		if s.MAP == nil || s.MAP.Restarts != want {
			t.Errorf("%s has the search %+v, want %d restarts", method, s.MAP, want)
		}
		if title := s.Title(); !strings.HasSuffix(title, ", each island anchored at a restart of its own (s = 0.1)") {
			t.Errorf("%s is titled %q", method, title)
		}
		if back, err := Parse("c.yaml", s.YAML()); err != nil || back.Prior.Anchor.Per != bnn.PerIsland {
			t.Errorf("%s reads back as %+v, %v", method, back.Prior.Anchor, err)
		}
	}
	for rest, want := range map[string]string{
		"map: {restarts: 3}\nmethod: {smc: {islands: 4}}":                              "4 islands have a restart each as their anchor, and there are 3: want map.restarts of at least 4, or fewer islands",
		"map: {restarts: 1}\nmethod: {mcmc: {chains: 20, together: 10, start: prior}}": "2 islands have a restart each as their anchor, and there are 1",
		"method: {svgd: {}}":                             "gives each island an anchor, and svgd makes one posterior: leave per out, or take one of the methods mcmc, smc",
		"method: {laplace: {}}":                          "laplace makes one posterior",
		"method: {smc: {islands: 2, combine: evidence}}": "each has a prior of its own: want combine: equal",
		"method: {smc: {islands: 2, pilot: true}}":       "leave pilot out",
	} {
		if _, err := Parse("c.yaml", []byte(apartConfig+rest)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", rest, err, want)
		}
	}
	for set, want := range map[string]string{
		"model.init=net.safetensors": "gives each island a restart as its anchor, and model.init is one network for all: leave per out, or model.init",
		"model.random=first":         "the layers that are not random would be those of another one: leave per out, or model.random",
	} {
		if _, err := Parse("c.yaml", []byte(apartConfig+"method: {smc: {islands: 2}}"), set); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", set, err, want)
		}
	}
}

// An added factor asks for an estimate as an anchor does, is refused where nothing is sampled, and stands in the title.
func TestAddedFactor(t *testing.T) {
	text := strings.Replace(apartConfig, "anchor: {s: 0.1, per: island}", "added: {s: 0.2}", 1)
	s, err := Parse("c.yaml", []byte(text+"method: {smc: {}}"))
	if err != nil || s.MAP == nil || !strings.HasSuffix(s.Title(), ", with a normal factor about the best MAP (s = 0.2)") {
		t.Fatalf("%q, %+v, %v", s.Title(), s.MAP, err)
	}
	if s, err = Parse("c.yaml", []byte(text+"method: {smc: {}}"), "model.init=net.safetensors"); err != nil || s.MAP != nil || s.InitUnused() ||
		!strings.HasSuffix(s.Title(), "about the network of model.init (s = 0.2)") {
		t.Errorf("%q, %+v, %v", s.Title(), s.MAP, err)
	}
	for _, name := range []string{"map", "ensemble", "swa"} {
		if _, err := Parse("c.yaml", []byte(text+"method: "+name)); err == nil || !strings.Contains(err.Error(), "prior.added: is for sampling: method "+name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Parse("c.yaml", []byte(text+"method: {laplace: {precision: evidence}}")); err == nil || !strings.Contains(err.Error(), "on the way to the trained network, and its evidence is the higher the narrower it is: take precision: validation, or leave added out") {
		t.Errorf("an evidence about an added factor: %v", err)
	}
}

// The help tells the temperature of a cold posterior from those of weights and of decisions, and the settings read back.
func TestTemperatures(t *testing.T) {
	for _, m := range []method.Method{method.MCMC{Start: "prior", Temperature: 0.5}, method.SMC{Temperature: 0.5}} {
		s := built(m)
		s.Complete()
		if err := s.Verify(); err != nil {
			t.Errorf("%T: %v", m, err)
		}
	}
	told := 0
	for _, key := range Describe() {
		if key.Path != "method.mcmc.temperature" && key.Path != "method.smc.temperature" {
			continue
		}
		if told++; !strings.Contains(key.Meaning, "cold posterior") || !strings.Contains(key.Meaning, "bootstrap") || !strings.Contains(key.Meaning, "decide") {
			t.Errorf("%s: %q", key.Path, key.Meaning)
		}
	}
	if told != 2 {
		t.Errorf("%d temperatures are described", told)
	}
}
