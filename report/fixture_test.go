package report

import (
	"cmp"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/smc"
	"github.com/starling-smc/starling/uq"
)

// A fixture is a run made up without training: what its network predicts is drawn at random.
type fixture struct {
	run *starling.Run
	a   *eval.Assessment
}

// find makes the findings of the run as Fit does, from its trace and its posterior.
func (f fixture) find() {
	f.run.Findings = nil
	if s := f.run.Spec.Way().Sampling(); s != nil {
		f.run.Findings = s.Findings(f.run.Trace, f.run.Posterior, f.a.Problem.Train.Len())
	}
	if c := f.a.Metrics.Chains; c != nil {
		f.run.Findings = append(f.run.Findings, c.Findings()...)
	}
}

// view is that of the run with its findings.
func (f fixture) view(t testing.TB) *view {
	t.Helper()
	f.find()
	v, err := newView(f.run, f.a)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// shape says what a fixture is like; the zero value is a small run on a table of two classes.
type shape struct {
	name      string
	input     []int // default [3]
	n         int   // test examples; default 60
	names     []string
	groups    []string
	islands   int // default 3
	lines     int // of each island's trace; default 6
	particles int // of an island; default 4
	chains    bool
	batches   bool // on a path of batches, followed on the test examples every second iteration
	outputs   int  // of a regression; 0: classes
	single    bool // as it is: nothing was sampled
	restarts  bool
	validate  bool
	undefined bool // figures that are NaN or infinite
	decides   bool // a temperature, sets or intervals, a rule to abstain
}

func (s shape) make(t testing.TB) fixture {
	t.Helper()
	if s.input == nil {
		s.input = []int{3}
	}
	n, islands, lines, particles := cmp.Or(s.n, 60), cmp.Or(s.islands, 3), cmp.Or(s.lines, 6), cmp.Or(s.particles, 4)
	classes := max(len(s.names), 2)
	if s.name == "" {
		s.name = "made-up"
	}
	method := fmt.Sprintf("{smc: {islands: %d, particles: %d, move: {hmc: {steps: 2, mutations: 3}}}}", islands, particles)
	switch {
	case s.single:
		islands, particles, lines = 1, 1, 0
		method = "as-is"
	case s.batches:
		method = fmt.Sprintf("{smc: {islands: %d, particles: %d, path: {linear: {iterations: %d, batch: 9}}, "+
			"move: {leapfrog: {step: 0.1, gradient: {batch: 5}}}}}", islands, particles, lines)
	case s.chains:
		particles = 1
		method = fmt.Sprintf("{mcmc: {chains: %d, start: prior, epochs: %d, move: {hmc: {steps: 10}}}}", islands, 10*lines)
	}
	likelihood, units := "categorical", classes
	if s.outputs > 0 {
		likelihood, units = "{gaussian: {sd: 1}}", s.outputs
	}
	const rows = "name: made-up\nseed: 7\ndata: {csv: {file: rows.csv, target: y}}\n"
	text := fmt.Sprintf(rows+"model: {input: %s, layers: [{dense: %d}], likelihood: %s}\nprior: {normal: {variance: 1}}\nmethod: %s\n",
		yamlList(s.input), units, likelihood, method)
	if s.single {
		text = fmt.Sprintf(rows+"model: {input: %s, layers: [{dense: %d}], likelihood: %s, init: w.safetensors}\nmethod: as-is\n",
			yamlList(s.input), units, likelihood)
	}
	spec, err := starling.ParseSpec("config.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	spec.Name = s.name // a config could not call it just anything
	net, err := nn.New(spec.Model.Input, spec.Model.Layers, spec.Model.Likelihood)
	if err != nil {
		t.Fatal(err)
	}
	draw := rng.Key{Seed: 1, Purpose: rng.Split}.Stream()
	run := &starling.Run{Dir: "runs/" + s.name, Spec: spec, Net: net, Trace: s.trace(draw, islands, lines, particles)}
	run.Posterior = ensemble(net, islands, particles, draw)
	run.Manifest = starling.Manifest{
		Version: "1.2.3", Revision: "abcdef", Go: "go1.26", Platform: "linux/amd64", Kernel: "avx2", Data: map[string]string{},
		Started: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Finished: time.Date(2026, 3, 1, 12, 1, 5, 0, time.UTC), Status: "done",
	}
	if s.outputs == 0 {
		run.Schema = &data.Schema{Shape: s.input, Classes: classes, Names: s.names}
	} else {
		run.Schema = &data.Schema{Shape: s.input, Outputs: s.outputs}
	}
	problem := &data.Problem{Name: "rows.csv", Schema: run.Schema, Train: s.set(draw, "train", n), Test: s.set(draw, "test", n)}
	for _, g := range s.groups {
		problem.Groups = append(problem.Groups, data.Group{Name: g, Set: s.set(draw, g, n/2)})
	}
	for _, p := range problem.Parts() {
		run.Manifest.Data[p.Name] = p.Set.Checksum()
	}
	a := &eval.Assessment{Problem: problem, Metrics: &eval.Metrics{}}
	a.Metrics.On, a.Metrics.N = "test", n
	if s.outputs > 0 {
		s.values(draw, a, problem.Test)
	} else {
		s.predict(draw, a, problem, classes)
	}
	if lines > 0 && !s.chains {
		z, sd, effective := uq.Number(-20), uq.Number(1.5), uq.Number(2)
		a.Metrics.LogEvidence, a.Metrics.LogEvidenceSD, a.Metrics.EffectiveIslands = &z, &sd, &effective
		a.Metrics.Combined = eval.Combined{{Name: "equal", Evaluation: a.Metrics.Evaluation}, {Name: "evidence", Evaluation: a.Metrics.Evaluation}}
	}
	if s.chains {
		r := uq.Number(1.02)
		a.Metrics.Chains = &eval.Chains{
			Chains: islands, Moves: lines / 2, States: 10, RHatLogLikelihood: &r, RHatLogLikelihoodInterval: &[2]uq.Number{0.95, 1.09}, On: "validation", N: 20,
			RHatPredictions: &eval.PredictionRHat{Median: 1.01, Q95: 1.09, MedianInterval: &[2]uq.Number{0.97, 1.05}, Q95Interval: &[2]uq.Number{1, 1.18}},
			Reason:          "a chain keeps 10 states, and an ESS needs 50",
		}
	}
	if s.restarts {
		run.Restarts, run.NLL = ensemble(net, 1, 3, draw), []float64{.5, .4, .6}
		run.Chosen = 1
		m := a.Metrics.Evaluation
		deep := m
		m.NLL, deep.NLL = m.NLL*1.1, m.NLL*.9
		a.Metrics.MAP, a.Metrics.DeepEnsemble = &m, &deep
		for i := range n { // all differences are about the same
			around := .01 * float64(1-2*(i%2))
			a.Losses.Posterior = append(a.Losses.Posterior, float64(a.Metrics.NLL))
			a.Losses.DeepEnsemble, a.Losses.MAP = append(a.Losses.DeepEnsemble, float64(deep.NLL)+around), append(a.Losses.MAP, float64(m.NLL)+around)
		}
	}
	if s.decides {
		decides(a)
	}
	if s.undefined {
		nan, inf := uq.Number(math.NaN()), uq.Number(math.Inf(1))
		a.Metrics.NLL, a.Metrics.ECE, a.Metrics.LogEvidence, a.Metrics.LogEvidenceSD = inf, &nan, &nan, &nan
		for k := range run.Trace {
			run.Trace[k].LogLikelihood, run.Trace[k].ValNLL, run.Trace[k].Step = numeral.Number(math.Inf(-1)), &nan, 0
		}
	}
	f := fixture{run, a}
	f.find()
	return f
}

func yamlList(shape []int) string {
	s := "["
	for i, d := range shape {
		if i > 0 {
			s += ", "
		}
		s += fmt.Sprint(d)
	}
	return s + "]"
}

func ensemble(net *nn.Net, islands, particles int, draw *rng.Stream) *bnn.Ensemble {
	e := &bnn.Ensemble{Net: net}
	for i := range islands {
		e.LogEvidence = append(e.LogEvidence, -20+draw.Normal())
		for range particles {
			e.LogWeights, e.Island = append(e.LogWeights, -math.Log(float64(islands*particles))), append(e.Island, int32(i))
		}
	}
	e.Theta = make([]float32, islands*particles*net.Dim())
	return e
}

func (s shape) trace(draw *rng.Stream, islands, lines, particles int) (trace []starling.TraceLine) {
	for i := range islands {
		for k := range lines {
			l := starling.TraceLine{Iteration: method.Iteration{Info: smc.Info{
				Island: i, K: k + 1, Progress: float64(k+1) / float64(lines), Epochs: float64(10 * (k + 1)), Lambda: math.Pow(10, -3*float64(lines-1-k)/float64(lines)),
				ESS: float64(particles) / 2, Ancestors: max(particles-k, 1), Parents: particles, Mutations: 3,
				Acceptance: numeral.Number(.5 + .1*math.Sin(float64(k))), Displacement: .5, Step: .1, LogLikelihood: numeral.Number(-100 + 10*draw.Normal()), Gradients: 100 * (k + 1),
			}}}
			if s.chains {
				l.Lambda, l.Mutations = 1, 1
			}
			if s.batches {
				l.Examples, l.Lambda, l.Acceptance, l.EnergySD = 9*(k+1), 1+float64(lines-1-k), 0, 3
				l.LogWeightVar = numeral.Number(float64(k * k))
				if nll, accuracy := uq.Number(.5-.01*float64(k)), uq.Number(.9+.01*float64(k)); k%2 == 1 {
					l.TestNLL, l.TestAccuracy = &nll, &accuracy
				}
			}
			if s.validate {
				v := uq.Number(.5 + .01*draw.Normal())
				l.ValNLL = &v
			}
			trace = append(trace, l)
		}
	}
	return trace
}

// set draws inputs: pixels as bytes for images, otherwise normal; and targets.
func (s shape) set(draw *rng.Stream, name string, n int) *data.Set {
	set := &data.Set{Name: name, Shape: s.input, Names: s.names}
	for range n * set.Features() {
		if len(s.input) == 3 {
			set.U8 = append(set.U8, uint8(draw.IntN(256)))
		} else {
			set.F32 = append(set.F32, float32(draw.Normal()))
		}
	}
	if s.outputs > 0 {
		set.Outputs = s.outputs
		for range n * s.outputs {
			set.Values = append(set.Values, float32(draw.Normal()))
		}
		return set
	}
	set.Classes = max(len(s.names), 2)
	for i := range n {
		set.Labels = append(set.Labels, int32(i%set.Classes))
	}
	return set
}

// predict draws three networks' probabilities: mostly right for the test examples, anything for the groups.
func (s shape) predict(draw *rng.Stream, a *eval.Assessment, problem *data.Problem, classes int) {
	say := func(set *data.Set, known bool) *uq.Predictive {
		n := set.Len()
		m := uq.NewMixture(n, classes)
		networks := 3
		if s.single {
			networks = 1
		}
		for range networks {
			logits := make([]float64, n*classes)
			for i := range logits {
				logits[i] = draw.Normal()
				if known && int(set.Labels[i/classes]) == i%classes {
					logits[i] += 2
				}
			}
			one := uq.NewMember(n, classes)
			uq.Softmax(one, logits)
			m.Add(1, one)
		}
		return m.Predictive()
	}
	a.Test = say(problem.Test, true)
	var ood []uq.OOD
	for _, g := range problem.Groups {
		a.Groups = append(a.Groups, say(g.Set, false))
		ood = append(ood, uq.OOD{Name: g.Name, Predictive: a.Groups[len(a.Groups)-1]})
	}
	e := uq.Evaluate(a.Test, problem.Test.Labels, ood)
	m := &a.Metrics.Evaluation
	m.Accuracy, m.NLL, m.Brier, m.ECE, m.Groups = &e.Accuracy, e.NLL, &e.Brier, &e.ECE, e.Groups
}

// values draws calibrated predictions.
func (s shape) values(draw *rng.Stream, a *eval.Assessment, set *data.Set) {
	v := &eval.Regression{Outputs: s.outputs}
	squares := 0.0
	for range set.Len() * s.outputs {
		mean, sd := 10*draw.Normal(), 1+draw.Float64()
		z := draw.Normal()
		v.Targets, v.Mean = append(v.Targets, mean+sd*z), append(v.Mean, mean)
		v.Aleatoric, v.Epistemic = append(v.Aleatoric, sd*.8), append(v.Epistemic, sd*.6)
		v.Q05, v.Q50, v.Q95 = append(v.Q05, mean-1.645*sd), append(v.Q50, mean), append(v.Q95, mean+1.645*sd)
		v.PIT = append(v.PIT, math.Erfc(-z/math.Sqrt2)/2)
		squares += sd * z * sd * z
	}
	rmse := uq.Number(math.Sqrt(squares / float64(len(v.Mean))))
	a.Metrics.RMSE, a.Metrics.NLL, a.Regression = &rmse, 2, v
}

// standard is a standardisation of p inputs of mean 5 and sd 2.
func standard(p int) *data.Standard {
	s := &data.Standard{To: 1}
	for range p {
		s.Mean, s.SD = append(s.Mean, 5), append(s.SD, 2)
	}
	return s
}
