package method

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/smc"
)

// full are particles on the path of all examples, with so many iterations.
func full(iterations int) SMC {
	return SMC{
		Particles: 4, Islands: 1, Move: mcmc.Unadjusted{Steps: 2, Step: 0.05}, Path: smc.Schedule[smc.Full]{Iterations: iterations},
	}.Settle(Around{}, unheard()).(SMC)
}

// mixture is what Unlearning should say of a state on a set: by the log-likelihoods of single examples, added up here.
func mixture(t *testing.T, job *Job, set *data.Set, st *smc.State) (single, ensemble float64) {
	t.Helper()
	model, err := nn.NewModel(job.Net, set, nil)
	if err != nil {
		t.Fatal(err)
	}
	ll := make([]float64, st.J)
	for i := range set.Len() {
		if err := model.LogLik(t.Context(), []int32{int32(i)}, st.Theta, ll, nil); err != nil {
			t.Fatal(err)
		}
		p, alive := 0.0, 0.0
		for j, l := range ll {
			p += math.Exp(l + st.LogW[j])
			if !math.IsInf(st.LogW[j], -1) {
				alive++
			}
		}
		for j, l := range ll {
			if !math.IsInf(st.LogW[j], -1) {
				single -= l / alive
			}
		}
		ensemble -= math.Log(p)
	}
	return single / float64(set.Len()), ensemble / float64(set.Len())
}

// TestUnlearning: the lines say the mean NLL of the particles, and of their weighted ensemble, on both sets, after the iteration; the
// first line also before it. A dead particle counts for neither. The states are those of a run without these scores.
func TestUnlearning(t *testing.T) {
	m := full(3)
	island := func(m SMC) (*Job, *island) {
		job := newJob(t, 2)
		phases, err := m.Phases(job)
		if err != nil {
			t.Fatal(err)
		}
		return job, phases[0].Parts[0].(*island)
	}
	_, plain := island(m)
	m.Trace.Unlearning = true
	job, p := island(m)
	st, err := p.sampler.Init(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	st.LogW[1] = math.Inf(-1)
	for j, w := range map[int]float64{0: 0.2, 2: 0.5, 3: 0.3} {
		st.LogW[j] = math.Log(w)
	}
	p.state = st
	same := func(k int, u *Unlearning) {
		t.Helper()
		train, trainEnsemble := mixture(t, job, job.Data.Train, p.state)
		val, valEnsemble := mixture(t, job, job.Data.Validate, p.state)
		got := []float64{float64(u.Train), float64(u.TrainEnsemble), float64(*u.Val), float64(*u.ValEnsemble)}
		wantNear(t, "iteration "+string(rune('0'+k)), got, []float64{train, trainEnsemble, val, valEnsemble}, 1e-5)
	}
	u, err := p.unlearned(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	same(0, u)
	before := *u
	for k := 1; k <= 3; k++ {
		line, err := p.Step(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		it := line.Fields.(Iteration)
		same(k, it.Unlearning)
		if *it.Unlearning.ValEnsemble != *it.ValNLL {
			t.Errorf("iteration %d: the ensemble has %v, the line %v", k, *it.Unlearning.ValEnsemble, *it.ValNLL)
		}
		if (it.AtStart != nil) != (k == 1) || k == 1 && (it.AtStart.Train != before.Train || *it.AtStart.ValEnsemble != *before.ValEnsemble) {
			t.Errorf("iteration %d: at the start %+v, want %+v", k, it.AtStart, before)
		}
	}
	if w := p.spent(); w.Values-p.state.Values != 4*4*60 || w.Validation != (3+5)*4*30 {
		t.Errorf("spent %+v", w)
	}

	_, p = island(m)
	for !p.Done() {
		for _, part := range []runs.Part{p, plain} {
			if _, err := part.Step(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !bytes.Equal(packed(t, p), packed(t, plain)) {
		t.Error("the state depends on what the trace says")
	}
}

// Without validation examples the lines say what there is of the training examples. The fields are read back from a run's trace.
func TestUnlearningWithoutValidation(t *testing.T) {
	m, job := full(2), newJob(t, 1)
	m.Trace.Unlearning = true
	job.Data.Validate = nil
	trace := do(t, job, m).Trace
	if u := trace[1].Unlearning; u == nil || u.Val != nil || u.ValEnsemble != nil || !(u.Train > 0) || !(u.TrainEnsemble < u.Train) {
		t.Errorf("the last line says %+v", u)
	}
	if trace[0].AtStart == nil || trace[1].AtStart != nil {
		t.Error("only the first line should say what was before it")
	}
}

// Scores on all training examples are refused where no iteration has them.
func TestUnlearningIsRefused(t *testing.T) {
	around := Around{Partly: true, Judged: true, Prior: bnn.PriorSettings{Family: bnn.NormalPrior{Variance: 1}}}
	for want, change := range map[string]func(*SMC){
		"":                         func(*SMC) {},
		"only path full evaluates": func(m *SMC) { m.Path = smc.Schedule[smc.Linear]{Iterations: 9, Rule: smc.Linear{Batch: 8}} },
		"move after the particles": func(m *SMC) { m.Learn = smc.By[nn.Adam]{Rate: 0.01} },
	} {
		m := full(9)
		m.Trace.Unlearning = true
		change(&m)
		got := strings.Join(faults(func(f *config.Faults) { m.Settle(around, f) }), "\n")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("faults %q, want %q", got, want)
		}
		m.Trace.Unlearning = false
		if f := faults(func(f *config.Faults) { m.Settle(around, f) }); slices.ContainsFunc(f, func(s string) bool { return strings.Contains(s, "unlearning") }) {
			t.Errorf("refused without being asked for: %q", f)
		}
	}
}
