package starling

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRandomRefused: what model.random cannot mean is refused where it was written, also where only the data say how large the
// network's inputs are.
func TestRandomRefused(t *testing.T) {
	for _, input := range []string{"", "input: [2], "} {
		for random, want := range map[string]string{
			"[]":         `model.random: names no layer, so that nothing is random: take some of fc1, 2`,
			"fcl":        `model.random.0: "fcl" is no layer with parameters: did you mean "fc1"? (there are fc1, 2)`,
			"[fc1, '1']": `model.random.1: "1" is no layer with parameters: did you mean "fc1"? (there are fc1, 2)`,
			"[fc1, '2']": `model.random: names all layers with parameters (fc1, 2): leave random out`,
		} {
			spec, err := ParseSpec("mine.yaml", []byte(`data: {csv: {file: testdata/wave.csv, target: y}}
model: {`+input+`layers: [{dense: 6, name: fc1}, gelu, {dense: 1}], likelihood: {gaussian: {sd: 1}},
  random: `+random+`}
prior: {normal: {variance: 1}}
method: {smc: {particles: 4, path: {constant: {epochs: 2, batch: 5}}, move: {leapfrog: {steps: 1, step: 0.1}}}}
`))
			if input == "" && err == nil {
				_, err = Fit(t.Context(), spec, Options{})
			}
			var bad *ConfigError
			if !errors.As(err, &bad) || !strings.HasPrefix(err.Error(), "mine.yaml:3:") || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("random: %s, %q: %v, want %q", random, input, err, want)
			}
		}
	}
}

// TestPartlyDiverges: where particles, or the layers that they share, become NaN or infinite, the error names the iteration and the
// parameter. The last good state is kept: resuming ends at the same place.
func TestPartlyDiverges(t *testing.T) {
	for name, c := range map[string]struct {
		spec Spec
		want []string
	}{
		"smc, learn": {regression(t, "both", "model.random=first",
			"method={smc: {particles: 4, path: {constant: {epochs: 9, batch: 20}}, move: {leapfrog: {steps: 1, step: 0.01}}, learn: {adamw: {rate: 1.0e+308, decay: 100}}}}"),
			[]string{"island 0, iteration 1: the learned parameter ", " became NaN: take a smaller rate in learn (AdamW"}},
		"smc, all dead": {regression(t, "both", "model.random=first",
			"method={smc: {particles: 4, path: {constant: {epochs: 9, batch: 20}}, move: {leapfrog: {steps: 1, step: 0.01}}, learn: {sgd: {rate: 1.0e+200}}}}"),
			[]string{"island 0, iteration 2: all 4 particles are dead: every log-weight is -Inf; all parameters are finite, the largest of those that are learned is 2.",
				"e+19", ": take a smaller step than 0.01 of ", ", or a smaller rate in learn (SGD, rate 1e+200)"}},
		"smc, θ": {regression(t, "both", "model.random=first",
			"method={smc: {particles: 4, path: {constant: {epochs: 9, batch: 20}}, move: {leapfrog: {steps: 3, step: 1.0e+200}}}}"),
			[]string{"island 0, iteration 1: all 4 particles are dead: every log-weight is -Inf; all parameters are finite, ", ": take a smaller step than 1e+200 of "}},
		"smc, θ infinite": {regression(t, "both", "model.random=first",
			"method={smc: {particles: 4, path: {constant: {epochs: 9, batch: 20}}, move: {walk: {sd: 1.0e+308}}, weight: bootstrap}}"), []string{"island 0, iteration 1: "}},
		"vi":    {regression(t, "both", "model.random=first", "method={vi: {rate: 1.0e+300, epochs: 9, batch: 20, draws: 5}}"), []string{"VI, epoch 1: the mean of 0.weight[0, 0] is ", "; try a rate below 1e+300"}},
		"svgd":  {regression(t, "both", "model.random=last", "method={svgd: {particles: 4, epochs: 9, batch: 20, rate: 1.0e+300}}"), []string{"island 0, iteration 1: SVGD diverged: ", "try a smaller rate than 1e+300"}},
		"sghmc": {regression(t, "both", "model.random=first", "method={mcmc: {chains: 2, start: prior, epochs: 8, keep: 4, move: {sghmc: {batch: 9, step: 1.0e+100}}}}"), []string{"all 2 chains were lost", "take a smaller step (method.mcmc.move.sghmc.step) or learn more slowly (method.mcmc.learn)", ", iteration 1: SGHMC diverged in iteration 1: particle 0 ends at", "try a smaller step than 1e+100"}},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		f, err := TakeFolder(dir, FitRuns)
		if err != nil {
			t.Fatal(err)
		}
		_, first := Fit(context.Background(), c.spec, Options{Folder: f, Every: 1})
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if first == nil {
			t.Errorf("%s: ended", name)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(first.Error(), want) {
				t.Errorf("%s: %v, want %q", name, first, want)
			}
		}
		if _, err := os.Stat(dir); err != nil {
			continue // nothing was done, so nothing is left
		}
		if _, again := resume(context.Background(), dir, c.spec, Options{}); again == nil || again.Error() != first.Error() {
			t.Errorf("%s: resumed: %v, was %v", name, again, first)
		}
	}
}
