package starling

import (
	"context"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/smc"
)

func preset(t *testing.T, name string, sets ...string) Spec {
	t.Helper()
	spec, err := Preset(name, sets...)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// TestSamplers: what presets and settings mean to the sampler.
func TestSamplers(t *testing.T) {
	type settings struct {
		Number, Particles, Keep int
		Path                    smc.Path
		Move                    mcmc.Move
		Mutations               smc.Mutations
		Resample                smc.Resampler
	}
	never := smc.Resampler{When: smc.Never}
	for _, c := range []struct {
		name string
		sets []string
		want settings
	}{
		{"mnist7", nil, settings{8, 1, 10, smc.Fixed{Epochs: 1600},
			mcmc.HMC{Steps: 80, Accept: 0.75, Jitter: 0.2, Phases: mcmc.ChainPhases(80)}, smc.Mutations{}, never}},
		{"mnist7", []string{"method.mcmc.move={hmc: {steps: 1, accept: 0.5}}", "method.mcmc.keep=last", "method.mcmc.epochs=7"},
			settings{8, 1, 0, smc.Fixed{Epochs: 7}, mcmc.HMC{Steps: 1, Accept: 0.5, Phases: mcmc.HalfPhases(1)}, smc.Mutations{}, never}},
		{"mnist7", []string{"method.mcmc.move={hmc: {steps: 4, step: 0.01}}"},
			settings{8, 1, 10, smc.Fixed{Epochs: 1600}, mcmc.HMC{Steps: 4, Step: 0.01, Jitter: 0.2}, smc.Mutations{}, never}},
		{"mnist7", []string{"method={mcmc: {}}"}, settings{8, 1, 10, smc.Fixed{Epochs: 1600},
			mcmc.HMC{Steps: 80, Accept: 0.75, Jitter: 0.2, Phases: mcmc.ChainPhases(80)}, smc.Mutations{}, never}},
		{"mnist7", []string{"method={mcmc: {move: {hmc: {steps: 20}}}}"}, settings{8, 1, 10, smc.Fixed{Epochs: 1600},
			mcmc.HMC{Steps: 20, Accept: 0.75, Jitter: 0.2, Phases: mcmc.ChainPhases(20)}, smc.Mutations{}, never}},
		{"mnist7", []string{"method.mcmc.move={hmc: {steps: 1}}"}, settings{8, 1, 10, smc.Fixed{Epochs: 1600},
			mcmc.HMC{Steps: 1, Accept: 0.574, Phases: mcmc.HalfPhases(1)}, smc.Mutations{}, never}},
		{"mnist7", []string{"method.mcmc.move={hmc: {steps: 1, jitter: 0.3}}"}, settings{8, 1, 10, smc.Fixed{Epochs: 1600},
			mcmc.HMC{Steps: 1, Accept: 0.574, Jitter: 0.3, Phases: mcmc.HalfPhases(1)}, smc.Mutations{}, never}},
		{"mnist7", []string{"method.mcmc.move={hmc: {jitter: 0}}"}, settings{8, 1, 10, smc.Fixed{Epochs: 1600},
			mcmc.HMC{Steps: 80, Accept: 0.75, Phases: mcmc.ChainPhases(80)}, smc.Mutations{}, never}},
		{"mnist7-smc", []string{"method.smc.move={hmc: {steps: 5}}"}, settings{8, 10, 0, smc.Tempering{ESS: 0.5},
			mcmc.HMC{Steps: 5, Accept: 0.65}, smc.Mutations{Count: 10}, smc.Resampler{Scheme: smc.Multinomial, When: smc.Always}}},
		{"mnist7", []string{"method.mcmc.move={pcn: {}}"},
			settings{8, 1, 10, smc.Fixed{Epochs: 1600}, mcmc.PCN{Accept: 0.25, Freeze: 0.5}, smc.Mutations{}, never}},
		{"mnist7-smc", nil, settings{8, 10, 0, smc.Tempering{ESS: 0.5},
			mcmc.HMC{Steps: 1, Accept: 0.574}, smc.Mutations{Count: 10}, smc.Resampler{Scheme: smc.Multinomial, When: smc.Always}}},
		{"mnist7-smc", []string{"method.smc.move={pcn: {step: 0.3, mutations: {eta: 0.1}}}", "method.smc.resample={scheme: stratified, when: {ess: 0.3}}"},
			settings{8, 10, 0, smc.Tempering{ESS: 0.5}, mcmc.PCN{Step: 0.3}, smc.Mutations{Eta: 0.1, Max: 50},
				smc.Resampler{Scheme: smc.Stratified, When: smc.BelowRatio, Ratio: 0.3}}},
		{"pima", []string{"method.smc.resample.when=never"}, settings{1, 1000, 0, smc.Tempering{ESS: 0.5},
			mcmc.HMC{Steps: 5, Step: 0.1}, smc.Mutations{Count: 10}, smc.Resampler{Scheme: smc.Systematic, When: smc.Never}}},
		{"mnist-lenet5-ctr", nil, settings{1, 10, 0, smc.Schedule{Rule: smc.ConstantToRefine, Iterations: 200, Batch: 500},
			mcmc.Unadjusted{Steps: 3, Step: 0.002}, smc.Mutations{}, smc.Resampler{Ratio: 0.5}}},
		{"mnist-lenet5-full-ld", nil, settings{1, 10, 0, smc.Schedule{Rule: smc.Full, Iterations: 200},
			mcmc.Unadjusted{Steps: 1, Step: 0.002}, smc.Mutations{}, smc.Resampler{Ratio: 0.5}}},
		{"mnist-lenet5-sda", []string{"method.smc.path={automated: {batch: 7}}", "method.smc.start=tempered"},
			settings{1, 10, 0, smc.Warm{Then: smc.Schedule{Rule: smc.Automated, Iterations: 200, Batch: 7, Grow: 7}},
				mcmc.Unadjusted{Steps: 3, Step: 0.002}, smc.Mutations{}, smc.Resampler{Ratio: 0.5}}},
		{"mnist-lenet5-linear", []string{"method.smc.path={sda: {exact: true}}"},
			settings{1, 10, 0, smc.SDA{Iterations: 200, Batch: 500, Grow: 500, Exact: true},
				mcmc.Unadjusted{Steps: 3, Step: 0.002}, smc.Mutations{}, smc.Resampler{Ratio: 0.5}}},
	} {
		spec := preset(t, c.name, c.sets...)
		var samplers []*smc.Sampler
		if m := spec.Method.MCMC; m != nil {
			samplers = m.samplers()
		} else {
			samplers = spec.Method.SMC.samplers()
		}
		for _, s := range samplers {
			got := settings{len(samplers), s.Particles, s.Keep, s.Path, s.Move, s.Mutations, s.Resample}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Fatalf("%s %q (-want +got):\n%s", c.name, c.sets, d)
			}
		}
	}
}

// TestChainsStart: with steps that hardly move, chain c stays at restart c, or at different draws of the prior.
func TestChainsStart(t *testing.T) {
	r := fit(t, trees(t, "method={mcmc: {chains: 3, epochs: 2, keep: last, move: {hmc: {steps: 1, step: 1e-9}}}}"), Options{})
	for i, x := range r.Posterior.Theta {
		if y := r.Restarts.Theta[i]; !(math.Abs(float64(x-y)) <= 1e-5) {
			t.Fatalf("parameter %d of the chains is %v, of the restarts %v", i, x, y)
		}
	}
	r = fit(t, trees(t, "method={mcmc: {chains: 3, epochs: 2, keep: last, start: prior, move: {hmc: {steps: 1, step: 1e-9}}}}"), Options{})
	d := r.Net.Dim()
	for i := range d {
		if r.Posterior.Theta[i] == r.Restarts.Theta[i] || r.Posterior.Theta[i] == r.Posterior.Theta[d+i] {
			t.Fatalf("parameter %d of chain 0 is that of restart 0 or of chain 1", i)
		}
	}
}

// TestCombine: what is shown, saved and served is weighed as the method says; both ways are computed.
func TestCombine(t *testing.T) {
	for _, by := range []string{"equal", "evidence"} {
		r := fit(t, trees(t, "method.smc.combine="+by), Options{})
		want := r.Metrics.Combined.Equal
		if by == "evidence" {
			want = r.Metrics.Combined.Evidence
		}
		if d := cmp.Diff(want, r.Metrics.Evaluation); d != "" {
			t.Errorf("%s: metrics are not those of combined.%s:\n%s", by, by, d)
		}
		if d := cmp.Diff(r.Metrics.Combined.Equal, r.Metrics.Combined.Evidence); d == "" {
			t.Error("equal weights and evidence give the same figures")
		}
		omega := make([]float64, len(r.Posterior.LogEvidence))
		for j, l := range r.Posterior.LogWeights {
			omega[r.Posterior.Island[j]] += math.Exp(l)
		}
		combined, err := smc.Combine(r.Posterior.LogEvidence)
		if err != nil {
			t.Fatal(err)
		}
		for p, w := range omega {
			want := combined.Omega[p]
			if by == "equal" {
				want = 1 / float64(len(omega))
			}
			if !(math.Abs(w-want) <= 1e-12) {
				t.Errorf("%s: island %d has weight %v, want %v", by, p, w, want)
			}
		}
	}
}

// TestEvaluatedOn: figures are of the test part, or of the training part where nothing is held out.
func TestEvaluatedOn(t *testing.T) {
	r := fit(t, trees(t), Options{})
	if m := r.Metrics; m.On != "test" || m.N != 9 || m.MAP.N != 9 || r.Data.Train.Len() != 72 {
		t.Errorf("judged on %s, %d examples, of %d to train", m.On, m.N, r.Data.Train.Len())
	}
}

// TestRegressionScores: a likelihood of numbers gives scores of numbers.
func TestRegressionScores(t *testing.T) {
	r := fit(t, regression(t, "inputs"), Options{})
	m := r.Metrics
	if m.Accuracy != nil || m.RMSE == nil || !(float64(*m.RMSE) > 0 && float64(*m.RMSE) < 1) {
		t.Errorf("metrics %+v", m)
	}
}

// TestSamplerSeed: where only the sampler is random, another seed gives another posterior; so it is with the search.
func TestSamplerSeed(t *testing.T) {
	const method = "method={mcmc: {chains: 1, start: prior, epochs: 2, keep: last, move: {pcn: {}}}}"
	spec := func(seed string) Spec {
		s := preset(t, "mnist7", "model.layers=[{dense: 8}]", method, "seed="+seed)
		s.MAP = nil
		return s
	}
	a, b := fit(t, spec("1"), Options{}), fit(t, spec("2"), Options{})
	if a.Posterior.Theta[0] == b.Posterior.Theta[0] {
		t.Error("seeds 1 and 2 give the same posterior")
	}
	if a.Restarts != nil {
		t.Error("point estimates that nobody asked for")
	}
	search := func(seed string) float32 {
		s := preset(t, "mnist7", "model.layers=[{dense: 8}]", method, "map={restarts: 1, epochs: 1}", "seed="+seed)
		return fit(t, s, Options{}).Restarts.Theta[0]
	}
	if search("1") == search("2") {
		t.Error("seeds 1 and 2 give the same point estimates")
	}
}

// TestValidation: restarts are chosen, and the trace's figures taken, on the validation examples; the MAP that is judged
// is the chosen one.
func TestValidation(t *testing.T) {
	r := fit(t, trees(t), Options{})
	score := func(e *bnn.Ensemble, set *data.Set) float64 {
		s, err := e.Evaluate(context.Background(), set, nil, pool.New(1))
		if err != nil {
			t.Fatal(err)
		}
		return float64(s.NLL)
	}
	for k, nll := range r.NLL {
		if got := score(member(r.Restarts, k), r.Data.Validate); !(math.Abs(got-nll) <= 1e-5) {
			t.Errorf("restart %d has validation NLL %v, kept as %v", k, got, nll)
		}
	}
	if r.Chosen == 0 {
		t.Error("restart 0 is chosen: take a seed that shows more")
	}
	if got := score(member(r.Restarts, r.Chosen), r.Data.Test); float64(r.Metrics.MAP.NLL) != got {
		t.Errorf("the MAP is judged at %v, the chosen restart is worth %v", r.Metrics.MAP.NLL, got)
	}
	islands, err := split(r.Posterior)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range r.Trace {
		if line.Temperature == 1 {
			if got := score(islands[line.Island], r.Data.Validate); !(math.Abs(got-float64(*line.ValNLL)) <= 1e-9) {
				t.Errorf("island %d ends at validation NLL %v, the trace has %v", line.Island, got, *line.ValNLL)
			}
		}
	}
}

// member is particle j as an ensemble of one.
func member(e *bnn.Ensemble, j int) *bnn.Ensemble {
	d := e.Net.Dim()
	return &bnn.Ensemble{
		Net: e.Net, Theta: e.Theta[j*d : (j+1)*d],
		LogWeights: []float64{0}, Island: []int32{0}, LogEvidence: []float64{0},
	}
}

// split takes an ensemble's islands apart.
func split(e *bnn.Ensemble) ([]*bnn.Ensemble, error) {
	parts := make([]bnn.Island, len(e.LogEvidence))
	d := e.Net.Dim()
	for j, w := range e.LogWeights {
		p := &parts[e.Island[j]]
		p.LogWeights = append(p.LogWeights, w)
		p.Theta = append(p.Theta, wide(e.Theta[j*d:(j+1)*d])...)
	}
	ensembles := make([]*bnn.Ensemble, len(parts))
	for i, p := range parts {
		var err error
		if ensembles[i], err = bnn.Combine(e.Net, []bnn.Island{p}, bnn.Equal{}); err != nil {
			return nil, err
		}
	}
	return ensembles, nil
}

// TestRegressionNLL against the density of the mixture written out: particles disagree, and each has noise of its own.
func TestRegressionNLL(t *testing.T) {
	r := fit(t, regression(t, "inputs"), Options{})
	set, d, p := r.Data.Test, r.Net.Dim(), pool.New(1)
	density, square, mean := make([]float64, set.Len()), 0.0, make([]float64, set.Len())
	for j := range r.Posterior.Size() {
		one, err := member(r.Posterior, j).PredictRegression(t.Context(), set, nil, p)
		if err != nil {
			t.Fatal(err)
		}
		w, sd := math.Exp(r.Posterior.LogWeights[j]), math.Exp(float64(r.Posterior.Theta[(j+1)*d-1]))
		for i, mu := range one.Mean {
			z := (float64(set.Values[i]) - mu) / sd
			density[i] += w * math.Exp(-z*z/2) / (sd * math.Sqrt(2*math.Pi))
			mean[i] += w * mu
		}
	}
	nll := 0.0
	for i, y := range set.Values {
		nll -= math.Log(density[i]) / float64(set.Len())
		square += (float64(y) - mean[i]) * (float64(y) - mean[i]) / float64(set.Len())
	}
	if m := r.Metrics; !(math.Abs(float64(m.NLL)-nll) <= 1e-9) || !(math.Abs(float64(*m.RMSE)-math.Sqrt(square)) <= 1e-9) {
		t.Errorf("NLL %v, want %v; RMSE %v, want %v", m.NLL, nll, *m.RMSE, math.Sqrt(square))
	}
}
