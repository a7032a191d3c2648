package eval

import (
	"bytes"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/decide"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/uq"
)

// lessonsOf is a problem with calibration examples of its own and a group of far inputs, known beforehand and to be scored.
func lessonsOf(t *testing.T, classes bool) *data.Problem {
	t.Helper()
	names := []string{"no", "perhaps", "yes"}
	if !classes {
		names = nil
	}
	p := problem(t, testkit.Table(900, names...), classes, !classes)
	n := p.Train.Len()
	p.Calibrate, p.Train = p.Train.Slice("calibrate", n/2, n), p.Train.Slice("train", 0, n/2)
	far := &data.Set{Name: "far", Shape: p.Train.Shape, F32: make([]float32, 2*60)}
	r := rng.Key{Seed: 12, Purpose: rng.Synthetic}.Stream()
	for i := range far.F32 {
		far.F32[i] = float32(20 * r.Normal())
	}
	p.Foreign, p.Groups = []data.Group{{Name: "far", Set: far.Slice("far", 0, 30)}}, []data.Group{{Name: "far", Set: far.Slice("far", 30, 60)}}
	return p
}

// learned is what an ensemble with restarts learns.
func learned(t *testing.T, p *data.Problem, e *Ensembles, by decide.Settings, workers *pool.Pool) (*Decision, []finding.Finding) {
	t.Helper()
	d, found, err := Decide(t.Context(), e, p.Lessons(), &by, p.Schema, 9, workers)
	if err != nil {
		t.Fatal(err)
	}
	return d, found
}

func classEnsembles(t *testing.T) *Ensembles {
	t.Helper()
	net := network(t, 3, nn.Categorical{})
	return &Ensembles{Posterior: ensemble(t, net, 2, 6, bnn.Equal{}), Restarts: ensemble(t, net, 1, 3, nil), Chosen: 1}
}

// TestLearnClasses: each ensemble has the temperature of its own predictions of the validation examples; sets and threshold are those of the
// calibration examples, whose probabilities are tempered for sets alone. Decisions are the same for any number of threads, and read back.
func TestLearnClasses(t *testing.T) {
	p, e := lessonsOf(t, true), classEnsembles(t)
	by := decide.Settings{Temperature: true, Sets: &decide.Sets{Score: decide.APS{}, Rate: 0.9}, Abstain: &decide.Abstain{By: decide.Entropy{}, At: decide.Coverage(0.7)}}
	d, found := learned(t, p, e, by, pool.New(1))
	if found != nil {
		t.Errorf("%v", found)
	}
	predicted := func(e *bnn.Ensemble, set *data.Set) *uq.Predictive {
		v, err := e.Predict(t.Context(), set, nil)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	temperature := func(e *bnn.Ensemble) float64 {
		v, err := decide.Temperature(predicted(e, p.Validate).Probs, 3, p.Validate.Labels)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	want := PerEnsemble{Posterior: temperature(e.Posterior), MAP: new(temperature(member(e.Restarts, 1))), DeepEnsemble: new(temperature(e.Restarts))}
	if !reflect.DeepEqual(*d.Temperature, want) || want.Posterior == *want.MAP || *want.MAP == *want.DeepEnsemble {
		t.Errorf("temperatures %+v, want %+v", d.Temperature, want)
	}
	c := predicted(e.Posterior, p.Calibrate)
	sets, err := by.Sets.Conformal(decide.Temper(c.Probs, 3, want.Posterior), 3, p.Calibrate.Labels, uniform(p.Calibrate.Len(), 0))
	if err != nil || float64(d.Sets.Thresholds[0]) != sets.Thresholds[0] || d.Sets.Examples != p.Calibrate.Len() {
		t.Errorf("sets %+v, want %+v (%v)", d.Sets, sets, err)
	}
	if sorted := slices.Sorted(slices.Values(c.Total)); float64(d.Abstain.Threshold) != sorted[(7*len(sorted)+9)/10-1] {
		t.Errorf("threshold %v", d.Abstain.Threshold)
	}
	for _, threads := range []int{2, 5} {
		if again, _ := learned(t, p, e, by, pool.New(threads)); !reflect.DeepEqual(again, d) {
			t.Errorf("%d threads learn %+v", threads, again.Learnt)
		}
	}
	var text bytes.Buffer
	if err := jsontext.Write(&text, d); err != nil {
		t.Fatal(err)
	}
	if again, err := ReadDecision(text.Bytes()); err != nil || !reflect.DeepEqual(again, d) {
		t.Errorf("read back: %+v, %v", again, err)
	}
	if err := d.Fits(e.Posterior); err != nil {
		t.Error(err)
	}
	if err := d.Fits(e.Restarts); err == nil {
		t.Error("a decision that was learnt for another posterior is taken")
	}
}

// uniform are the numbers u of the rows of a part, by the seed of learned.
func uniform(n, part int) (u []float64) {
	for i := range n {
		u = append(u, decide.Uniform(9, part, i))
	}
	return u
}

// TestLearnByAThird: without validation examples a third of the calibration examples teaches the temperature, and nothing else.
func TestLearnByAThird(t *testing.T) {
	p, e := lessonsOf(t, true), classEnsembles(t)
	p.Validate = nil
	by := decide.Settings{Temperature: true, Sets: &decide.Sets{Score: decide.LAC{}, Rate: 0.8}, Abstain: &decide.Abstain{By: decide.Confidence{}, At: decide.Risk(0.8)}}
	was, _ := learned(t, p, e, by, nil)
	n := p.Calibrate.Len()
	if was.Foreign != nil || was.Sets.Examples != n-n/3 || was.Abstain.Examples != n-n/3 {
		t.Errorf("%+v of %d examples", was.Learnt, n)
	}
	for i, third := range decide.Third(n, 9) {
		if third {
			p.Calibrate.Labels[i] = (p.Calibrate.Labels[i] + 1) % 3
		}
	}
	now, _ := learned(t, p, e, by, nil)
	if now.Temperature.Posterior == was.Temperature.Posterior || now.Abstain.Threshold != was.Abstain.Threshold {
		t.Errorf("other labels of the third: %+v, was %+v", now.Learnt, was.Learnt)
	}
	by.Temperature = false
	if all, _ := learned(t, p, e, by, nil); all.Sets.Examples != n || all.Temperature != nil {
		t.Errorf("without a temperature: %+v", all.Learnt)
	}
}

// TestLearnRefusesAPiece: what cannot be learnt is a finding, and the rest is learnt.
func TestLearnRefusesAPiece(t *testing.T) {
	p, e := lessonsOf(t, true), classEnsembles(t)
	by := decide.Settings{Temperature: true, Sets: &decide.Sets{Score: decide.LAC{}, Rate: 0.9}, Abstain: &decide.Abstain{By: decide.Classifier{}, At: decide.F1{}}}
	if d, found := learned(t, p, e, by, nil); d.Classifier == nil || d.Abstain == nil || found != nil {
		t.Fatalf("%+v, %v", d.Learnt, found)
	}
	p.Foreign = nil
	d, found := learned(t, p, e, by, nil)
	if d.Sets == nil || d.Temperature == nil || d.Abstain != nil || d.Classifier != nil || !finding.Has(found, finding.NotDecided{}) {
		t.Errorf("without foreign inputs: %+v, %v", d.Learnt, found)
	}
	by.Abstain = &decide.Abstain{At: decide.Risk(0.05)}
	if d, found := learned(t, p, e, by, nil); d.Abstain == nil || d.Abstain.Kept || !finding.Has(found, finding.RiskNotKept{}) {
		t.Errorf("a risk that random networks cannot keep: %+v, %v", d.Abstain, found)
	}
	by.Abstain = &decide.Abstain{By: decide.Epistemic{}, At: decide.Coverage(0.5)}
	if d, found := learned(t, p, &Ensembles{Posterior: member(e.Posterior, 2)}, by, nil); d.Abstain != nil || !finding.Has(found, finding.NotDecided{}) {
		t.Errorf("one network abstains by its epistemic uncertainty: %+v, %v", d.Abstain, found)
	}
}

// TestGivenThreshold: a threshold that is given needs no calibration examples, for classes and for numbers.
func TestGivenThreshold(t *testing.T) {
	p := lessonsOf(t, true)
	p.Calibrate, p.Foreign = nil, nil
	by := decide.Settings{Abstain: &decide.Abstain{By: decide.Confidence{}, At: decide.Threshold(0.5)}}
	if d, found := learned(t, p, classEnsembles(t), by, nil); d.Abstain == nil || d.Abstain.Threshold != 0.5 || found != nil {
		t.Errorf("%+v, %v", d.Learnt, found)
	}
	p = lessonsOf(t, false)
	p.Calibrate, p.Foreign = nil, nil
	by.Abstain = &decide.Abstain{At: decide.Threshold(3)}
	e := &Ensembles{Posterior: ensemble(t, network(t, 1, nn.Gaussian{SD: nn.Learned}), 2, 6, bnn.Equal{})}
	if d, found := learned(t, p, e, by, nil); d.Abstain == nil || d.Abstain.Threshold != 3 || found != nil {
		t.Errorf("of numbers: %+v, %v", d.Learnt, found)
	}
}

// TestJudgeClasses: the scores of sets and of the rule are those of their definitions, row by row, and so are the tempered scores.
func TestJudgeClasses(t *testing.T) {
	p, e := lessonsOf(t, true), classEnsembles(t)
	by := decide.Settings{Temperature: true, Sets: &decide.Sets{Score: decide.LAC{}, Rate: 0.9}, Abstain: &decide.Abstain{By: decide.Classifier{}, At: decide.F1{}}}
	e.Decision, _ = learned(t, p, e, by, nil)
	a, err := Evaluate(t.Context(), e, p, nil, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	temper := e.Decision.Temperature.Posterior
	nll, covered, size := 0.0, 0, 0
	right := make([]bool, p.Test.Len())
	for i, y := range p.Test.Labels {
		row := a.Test.Probs[3*i : 3*i+3]
		sum := 0.0
		for _, v := range row {
			sum += math.Pow(v, 1/temper)
		}
		nll -= math.Log(math.Pow(row[y], 1/temper)/sum) / float64(len(right))
		for c, v := range row {
			if in := 1-math.Pow(v, 1/temper)/sum <= float64(e.Decision.Sets.Thresholds[0]) || c == uq.Argmax(row); in {
				size++
				if c == int(y) {
					covered++
				}
			}
		}
		right[i] = uq.Argmax(row) == int(y)
	}
	n := float64(len(right))
	m := a.Metrics
	if got := m.Tempered; !(math.Abs(float64(got.NLL)-nll) <= 1e-12) || float64(*got.Temperature) != temper || m.MAP.Tempered == nil || float64(*m.DeepEnsemble.Tempered.Temperature) != *e.Decision.Temperature.DeepEnsemble {
		t.Errorf("tempered %+v, NLL %v", got, nll)
	}
	if s := m.Sets; float64(s.Coverage) != float64(covered)/n || float64(*s.Size) != float64(size)/n || s.Rate != 0.9 || len(s.Others) == 0 {
		t.Errorf("sets %+v: %d of %v covered, %d classes", s, covered, n, size)
	}
	byClass, n0 := 0.0, 0
	for _, c := range m.Sets.ByClass {
		byClass, n0 = byClass+float64(c.Coverage)*float64(c.N), n0+c.N
		if c.Coverage < m.Sets.Least().Coverage {
			t.Errorf("class %s is covered less than the least of all", c.Class)
		}
	}
	if m.Sets.ByClass[2].Class != "yes" || n0 != p.Test.Len() || math.Round(byClass) != float64(covered) {
		t.Errorf("by class %+v: %v of %d are covered, want %d", m.Sets.ByClass, byClass, n0, covered)
	}
	wrong := func(set *data.Set) []float64 {
		v, err := e.Posterior.PredictUnder(t.Context(), set, [][]float64{e.Posterior.LogWeights}, true, nil)
		if err != nil {
			t.Fatal(err)
		}
		x, err := e.Decision.Classifier.network().Wrong(t.Context(), decide.FeaturesOf(v[0]), nil)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	var answered, refused decide.Outcome
	for i, x := range wrong(p.Test) {
		o := &answered
		if x > float64(e.Decision.Abstain.Threshold) {
			o = &refused
		}
		if right[i] {
			o.Right++
		} else {
			o.Wrong++
		}
	}
	for _, x := range wrong(p.Groups[0].Set) {
		if x > float64(e.Decision.Abstain.Threshold) {
			refused.Foreign++
		} else {
			answered.Foreign++
		}
	}
	s := m.Abstention
	if s.Answered != answered || s.Refused != refused || s.By != "classifier" || refused == (decide.Outcome{}) || answered == (decide.Outcome{}) {
		t.Errorf("abstention %+v, want %+v, %+v", s, answered, refused)
	}
	if want := float64(answered.Right+answered.Wrong) / n; float64(s.Share) != want {
		t.Errorf("%v are answered, want %v", s.Share, want)
	}

	// Of some members what was learnt for all of them says nothing.
	some := *e
	some.Last = 3
	if a, err := Evaluate(t.Context(), &some, p, nil, false, nil); err != nil || a.Metrics.Tempered != nil || a.Metrics.Abstention != nil || a.Metrics.Groups[2].ByEnergy == nil {
		t.Errorf("of three members: %+v, %v", a.Metrics.Abstention, err)
	}
}

// TestLearnNumbers: the factor minimises the penalised loss of the stretched laws of the validation examples; intervals hold the share that they
// promise of the examples that they were learnt from, and their scores are those of their definition. Targets are standardised.
func TestLearnNumbers(t *testing.T) {
	p := lessonsOf(t, false)
	e := &Ensembles{Posterior: ensemble(t, network(t, 1, nn.Gaussian{SD: nn.Learned}), 2, 6, bnn.Equal{})}
	by := decide.Settings{Temperature: true, Sets: &decide.Sets{Rate: 0.8}, Abstain: &decide.Abstain{At: decide.F1{}, Tolerance: 8}}
	d, found := learned(t, p, e, by, pool.New(2))
	if found != nil || d.Foreign != nil || d.Temperature != nil {
		t.Errorf("%+v, %v", d, found)
	}
	loss := func(c float64) float64 {
		l, err := e.Posterior.Stretched(c).LogDensity(t.Context(), p.Validate, nil)
		if err != nil {
			t.Fatal(err)
		}
		return -float64(len(l))*uq.Mean(l) + math.Log(c)*math.Log(c)/(2*decide.WidthSpread*decide.WidthSpread)
	}
	c := d.Factor.Posterior
	for _, step := range []float64{0.5, 0.9, 0.999, 1.001, 1.1, 2} {
		if !(loss(c*step) >= loss(c)) {
			t.Errorf("the loss at %v is %v, at the factor %v it is %v", c*step, loss(c*step), c, loss(c))
		}
	}
	e.Decision = d
	of := func(set *data.Set) *Assessment {
		own := *p
		own.Test = set
		a, err := Evaluate(t.Context(), e, &own, nil, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	n := p.Calibrate.Len()
	if got, want := float64(of(p.Calibrate).Metrics.Sets.Coverage), math.Ceil(0.8*float64(n+1))/float64(n); got != want {
		t.Errorf("of the calibration examples %v are covered, want %v", got, want)
	}
	a := of(p.Test)
	v, err := e.Posterior.Stretched(c).PredictRegression(t.Context(), p.Test, []float64{0.1, 0.9}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := p.Schema.Targets
	width := 0.0
	for i := range v.Mean {
		width += s.SD[0]/s.To*(v.Quantiles[2*i+1]-v.Quantiles[2*i]) + 2*d.Intervals.Widen
	}
	if got, want := float64(*a.Metrics.Sets.Width), width/float64(len(v.Mean)); !(math.Abs(got-want) <= 1e-9*want) {
		t.Errorf("mean width %v, want %v", got, want)
	}
	far := 0
	for i, y := range a.Regression.Targets {
		if math.Abs(a.Regression.Mean[i]-y) > 8 {
			far++
		}
	}
	if x := a.Metrics.Abstention; x.Answered.Wrong+x.Refused.Wrong != far || far == 0 || far == p.Test.Len() || x.Foreign != 30 || x.By != "sd" {
		t.Errorf("abstention %+v, %d answers are off by more than 8", x, far)
	}
	if m := a.Metrics.Tempered; float64(*m.Factor) != c || m.Coverage == nil || m.CRPS == nil {
		t.Errorf("tempered %+v", m)
	}
}
