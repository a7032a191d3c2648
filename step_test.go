package starling

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

// Where layers are learned, the step of leapfrogs may be left out or be a word. The trace has the number then, 1/√N or 1/N of the N
// training examples, and the posterior is the one of a config with that number.
func TestStepByRule(t *testing.T) {
	fit := func(step string) (*Result, float64) {
		r := fitted(t, regression(t, "both", "model.random=first",
			"method={smc: {particles: 4, path: {constant: {epochs: 2, batch: 20}}, move: {leapfrog: {steps: 1"+step+"}}}}"), Options{})
		return r, float64(r.Data.Train.Len())
	}
	root := func(n float64) float64 { return 1 / math.Sqrt(n) }
	for words, rule := range map[string]func(n float64) float64{
		"": root, ", step: auto": root, ", step: literal": func(n float64) float64 { return 1 / n },
	} {
		r, n := fit(words)
		given, _ := fit(fmt.Sprintf(", step: %v", rule(n)))
		for i, x := range r.Posterior.Theta {
			if x != given.Posterior.Theta[i] {
				t.Fatalf("%q: θ differs from that with the number written", words)
			}
		}
		for _, line := range r.Trace {
			if got := float64(line.Step); !(math.Abs(got/rule(n)-1) <= 1e-12) {
				t.Errorf("%q, %v examples: the trace has a step of %v, want %v", words, n, got, rule(n))
			}
		}
	}
}

// Where nothing is learned a step must be given, and no word stands for it.
func TestStepByRuleIsRefused(t *testing.T) {
	for step, want := range map[string]string{
		"":                "method.smc.move.leapfrog: needs a step, as in {steps: 3, step: 0.002}: without accept or reject there is nothing to adapt it to",
		", step: auto":    "method.smc.move.leapfrog.step: auto and literal are for layers that are learned (learn): want a number here, as in {steps: 3, step: 0.002}",
		", step: literal": "method.smc.move.leapfrog.step: auto and literal are for layers that are learned (learn): want a number here, as in {steps: 3, step: 0.002}",
		", step: -1":      "method.smc.move.leapfrog.step: want a number, auto or literal, have -1",
	} {
		_, err := ParseSpec("mine.yaml", []byte(`data: {csv: {file: testdata/wave.csv, target: y}}
model: {layers: [{dense: 6}, gelu, {dense: 1}], likelihood: {gaussian: {sd: 1}}}
prior: {normal: {variance: 1}}
method: {smc: {particles: 4, path: {constant: {epochs: 2, batch: 5}}, move: {leapfrog: {steps: 1`+step+`}}}}
`))
		var bad *ConfigError
		if !errors.As(err, &bad) || !strings.HasPrefix(err.Error(), "mine.yaml:4:") || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%q: %v, want %q", step, err, want)
		}
	}
}
