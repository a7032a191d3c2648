package starling

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/sbc"
)

// simulated is a linear regression of 12 rows and 3 parameters, by some method.
func simulated(t *testing.T, method string, sets ...string) Spec {
	t.Helper()
	spec, err := ParseSpec("simulated.yaml", []byte(`
data: {csv: {file: `+drawnRegression(t, 12, 2)+`, target: y}, whole: true}
model: {layers: [{dense: 1}], likelihood: {gaussian: {sd: 1}}}
prior: {normal: {variance: 1}}
method: `+method+`
`), sets...)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// calibrated reports p of a method that draws from the posterior. It is below .01 in at most one of a hundred checks, and the seed is fixed. The
// deliberate faults of the sampler give these methods a p far below.
func calibratedBySBC(t *testing.T, spec Spec, fits int) *SBCResult {
	t.Helper()
	c, err := SBC(t.Context(), spec, fits, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("p %.3g; %d networks, of which %.1f count", c.P, c.Networks, c.Effective)
	if !c.Uniform || !(c.P > sbc.Level) {
		for _, q := range c.Quantities {
			t.Logf("%s: p %.3g, mean rank %.3f, %s", q.Name, q.P, q.Mean, q.Shape)
		}
		t.Errorf("p is %v", c.P)
	}
	return c
}

func TestSBCOfTempering(t *testing.T) {
	c := calibratedBySBC(t, simulated(t, "{smc: {particles: 50}}"), 60)
	if c.IACT != nil || c.Networks != 50 || c.Failed != 0 || len(c.Quantities) != 7 {
		t.Errorf("%+v", c.Summary)
	}
}

// Targets with so much noise say next to nothing: draws are the prior's, and so must parameters be, anew in each fit.
func TestSBCOfThePrior(t *testing.T) {
	calibratedBySBC(t, simulated(t, "{smc: {particles: 50}}", "model.likelihood.gaussian.sd=1000"), 60)
}

// Moves are so short that the weights do the work.
func TestSBCOfWeights(t *testing.T) {
	calibratedBySBC(t, simulated(t, "{smc: {particles: 300, move: {hmc: {steps: 1, step: 0.15, mutations: 1}}}}"), 60)
}

// The step is so long that a quarter of the moves are rejected.
func TestSBCOfHMC(t *testing.T) {
	c := calibratedBySBC(t, simulated(t, "{mcmc: {chains: 2, start: prior, epochs: 400, keep: 40, move: {hmc: {steps: 4, step: 0.45}}}}"), 60)
	if c.IACT == nil || !(*c.IACT > 1) || c.Networks >= 40 {
		t.Errorf("chains are not thinned: %+v", c.Summary)
	}
}

// A prior as strong as the likelihood, in moves that nothing corrects.
func TestSBCOfSGHMC(t *testing.T) {
	calibratedBySBC(t, simulated(t, "{mcmc: {chains: 2, start: prior, epochs: 300, keep: 40, move: {sghmc: {batch: 12, step: 0.005}}}}", "prior.normal.variance=0.1"), 30)
}

// States of waste-free chains are thinned along them, and islands are weighted as combine says.
func TestSBCOfIslands(t *testing.T) {
	c := calibratedBySBC(t, simulated(t, "{smc: {particles: 60, waste_free: 10, islands: 2, combine: evidence}}"), 40)
	if c.IACT == nil || c.Networks >= 120 || !(c.Effective < float64(c.Networks)) {
		t.Errorf("%+v", c.Summary)
	}
}

// A check has the same bytes with any number of threads, and when it was stopped in the middle.
func TestSBCSameBytes(t *testing.T) {
	spec := simulated(t, "{smc: {particles: 10}}")
	check := func(dir string, stop int, o Options) []byte {
		folder, err := ResumeFolder(dir, SBCRuns)
		if err != nil {
			t.Fatal(err)
		}
		defer folder.Close()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		o.Folder, o.Every = folder, time.Nanosecond
		told := 0
		o.Progress = func(e Event) {
			if p, is := e.(*Progress); is && p.Phase == "20 fits" && p.Share > 0 && !p.Resumed {
				if told++; told == stop {
					cancel()
				}
			}
		}
		_, err = SBC(ctx, spec, sbc.Fewest, o)
		if (err != nil) != (stop > 0) {
			t.Fatalf("stopped after %d: %v", stop, err)
		}
		if err != nil {
			return nil
		}
		text, err := os.ReadFile(filepath.Join(dir, sbcFile))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	dir := t.TempDir()
	one := check(filepath.Join(dir, "one"), 0, Options{Threads: 1})
	if four := check(filepath.Join(dir, "four"), 0, Options{Threads: 4}); !bytes.Equal(one, four) {
		t.Error("four threads give other bytes")
	}
	check(filepath.Join(dir, "stopped"), 5, Options{Threads: 2})
	if again := check(filepath.Join(dir, "stopped"), 0, Options{Threads: 3}); !bytes.Equal(one, again) {
		t.Error("a check that was stopped gives other bytes")
	}
	if done := check(filepath.Join(dir, "stopped"), 0, Options{Threads: 1}); !bytes.Equal(one, done) {
		t.Error("a check that is done is not read back")
	}
	if v, err := VerifyRun(filepath.Join(dir, "one")); err != nil || v.Status != "done" || v.Count(runs.OK) != len(v.Files) {
		t.Errorf("verify: %v, %v", v, err)
	}
	folder, err := ResumeFolder(filepath.Join(dir, "one"), SBCRuns)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	if _, err := SBC(t.Context(), spec, sbc.Fewest+1, Options{Folder: folder}); err == nil || !strings.Contains(err.Error(), "--runs 20") {
		t.Errorf("another number of fits goes on: %v", err)
	}
}

// What cannot be checked is refused before any work, with the place and what to do.
func TestSBCRefuses(t *testing.T) {
	const tempering = "{smc: {particles: 10}}"
	for _, c := range []struct {
		spec Spec
		fits int
		want string
	}{
		{simulated(t, tempering), 19, "want 20 to 10,000"},
		{simulated(t, tempering), 10_001, "want 20 to 10,000"},
		{simulated(t, tempering, "map={epochs: 2}", "prior.anchor={s: 0.1}"), 20, "prior.anchor: makes the prior depend on the data"},
		{simulated(t, tempering, "map={epochs: 2}", "prior.added={s: 0.1}"), 20, "prior.added: makes the prior depend on the data"},
		{simulated(t, tempering, "method.smc.temperature=0.5"), 20, "method.smc.temperature: makes the target a cold posterior"},
		{simulated(t, "map", "map={epochs: 2}"), 20, "method.map: draws nothing from a posterior"},
		{simulated(t, "ensemble", "map={epochs: 2}"), 20, "method.ensemble: draws nothing from a posterior"},
		{simulated(t, tempering, "prior.normal.variance=1e80"), 20, "the likelihood cannot be drawn from"},
		{partlyRandom(t)["partly-tempering"], 20, "model.random: leaves layers without a prior"},
		{preset(t, "mnist7", "prior.anchor=null", "map.restarts=8", "data={set: mnist7, standardise: channels, augment: {flip: true}}",
			"method={smc: {particles: 3, start: map, weight: bootstrap, path: {full: {iterations: 3}}, move: {epoch: {step: 0.0005, batch: 300}}, keep: {after: {iterations: 2}}}}"), 20, "data.augment"},
		{asIs(t), 20, "draws nothing from a posterior"},
	} {
		if _, err := SBC(t.Context(), c.spec, c.fits, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
