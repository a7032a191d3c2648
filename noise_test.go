package starling

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/testkit"
)

// TestNoiseThatDependsOnTheInput: y = 3000 + 2000 x + noise of standard deviation 300 eˣ. A network that predicts the noise finds
// both in the target's units, and its intervals have the widths that follow. The bound, a factor of 1.5, is some five standard
// errors at the ends; noise that is the same everywhere is off by a factor of 2 there. The seed is fixed.
func TestNoiseThatDependsOnTheInput(t *testing.T) {
	s := rng.Key{Seed: 6, Purpose: rng.Synthetic}.Stream()
	var text strings.Builder
	text.WriteString("x,y\n")
	for range 800 {
		x := 2*s.Float64() - 1
		fmt.Fprintf(&text, "%v,%v\n", x, 3000+2000*x+300*rng.Exp(x)*s.Normal())
	}
	dir := t.TempDir()
	save(t, filepath.Join(dir, "noise.csv"), []byte(text.String()))
	save(t, filepath.Join(dir, "new.csv"), []byte("x\n-0.7\n-0.4\n0.4\n0.7\n"))
	save(t, filepath.Join(dir, "noise.yaml"), []byte(`
data: {csv: {file: `+filepath.Join(dir, "noise.csv")+`, target: y}, split: {train: 0.7, test: 0.2}}
model: {layers: [{dense: 6}, tanh, {dense: 2}], likelihood: {gaussian: {sd: predicted}}}
prior: {normal: {variance: 4}}
method: {smc: {particles: 12, islands: 2, move: {hmc: {steps: 6, mutations: 1}}}}
`))
	_, run := openedRun(t, filepath.Join(dir, "noise.yaml"))
	for i, row := range predicted(t, run, filepath.Join(dir, "new.csv"))[1:] {
		x := []float64{-0.7, -0.4, 0.4, 0.7}[i]
		sd := 300 * math.Exp(x)
		mean, noise, width := testkit.Number(t, row[1]), testkit.Number(t, row[2]), testkit.Number(t, row[6])-testkit.Number(t, row[4])
		within := func(got, want float64) bool { return got > want/1.5 && got < want*1.5 }
		if !(math.Abs(mean-3000-2000*x) < sd/3) || !within(noise, sd) || !within(width, 2*1.645*sd) {
			t.Errorf("x = %v: mean %v, noise %v, width %v; want about %v, %v, %v", x, mean, noise, width, 3000+2000*x, sd, 2*1.645*sd)
		}
	}
}
