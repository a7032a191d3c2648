package method

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/smc"
)

// The search of a partly random network runs over all its parameters, with the prior on θ alone: from the same start, its restarts
// are those of the whole network with such a prior.
func TestPartlySearch(t *testing.T) {
	for name, role := range roles {
		job := partly(t, 2, role)
		job.Search = around(MAP{}).Search
		job.Search.Epochs, job.Search.Patience, job.Search.Restarts = 60, 0, 2
		job.Search.Batch, job.Search.Rate = 60, 0.2
		prior, err := bnn.Isotropic(job.Net.Random(), 0.003) // so strong that what has it stays small
		if err != nil {
			t.Fatal(err)
		}
		job.Prior, job.Data.Validate = prior, nil
		if err := job.search(t.Context(), newOutcome()); err != nil {
			t.Fatal(err)
		}
		p := job.Net.Parameters()
		if len(job.Points.Theta) != 2*p || job.Points.Net.Dim() != p {
			t.Fatalf("%s: %d parameters of 2 restarts of %d", name, len(job.Points.Theta), p)
		}
		theta, _ := job.Net.Split(job.Points.Best())
		var others []float64
		for x, part := range job.Net.Places(job.Points.Best()) {
			if x.Role != nn.RoleRandom {
				others = append(others, part...)
			}
		}
		length := func(x []float64) (squares float64) {
			for _, v := range x {
				squares += v * v / float64(len(x))
			}
			return math.Sqrt(squares)
		}
		if name != "all" && !(length(theta) < 0.1 && length(others) > 0.25) {
			t.Errorf("%s: a strong prior on θ leaves θ of size %v and the others of %v", name, length(theta), length(others))
		}
	}
}

// Islands and chains begin at θ of their place, and have its ψ: that of the best restart, of a restart of their own, of model.init,
// of the network that the prior is anchored at; or a draw, another one for each island.
func TestPartlyStarts(t *testing.T) {
	for name, role := range roles {
		job := partly(t, 1, role)
		p := job.Net.Parameters()
		whole := make([]float64, 4*p)
		for i := range whole {
			whole[i] = float64(i)
		}
		part := func(k int) (theta, psi []float64) { return job.Net.Split(whole[k*p : (k+1)*p]) }
		check := func(s start, island, particles, at int) {
			t.Helper()
			theta, psi := part(at)
			begun, shared := s.begin(job, island, particles)
			if s.at != nil {
				wantNear(t, name+", "+s.name, begun, slices.Repeat(theta, particles), 0)
			} else if begun != nil {
				t.Errorf("%s, %s: begins at a place", name, s.name)
			}
			wantNear(t, name+", ψ of "+s.name, shared, psi, 0)
		}
		one, two := job.shared(0), job.shared(1)
		if n := job.Net.Learned(); len(one) != n || n > 0 && slices.Equal(one, two) {
			t.Errorf("%s: islands share %d and %d parameters, want two draws of %d", name, len(one), len(two), n)
		}
		job.Init = whole[:p]
		check(SMC{Start: FromInit{}}.start(), 1, 3, 0)
		check(chainStarts.find("init"), 1, 1, 0)
		check(SMC{}.start(), 1, 3, 0)
		if theta, _ := part(0); !slices.Equal(job.anchor(), theta) {
			t.Errorf("%s: anchored at %v", name, job.anchor())
		}
		job.Points = &Points{Net: job.Net.Whole(), Theta: whole, Chosen: 3}
		check(SMC{Start: FromMAP{}}.start(), 0, 3, 3)
		check(SMC{Start: FromTempered{}}.start(), 0, 3, 3)
		check(chainStarts.find("map"), 2, 1, 2)
		if theta, _ := part(3); !slices.Equal(job.anchor(), theta) {
			t.Errorf("%s: anchored at %v, not at the best restart", name, job.anchor())
		}
	}
}

// ψ is that of the islands' target and of their ensembles: with a move that goes nowhere, chains end as the network that they began
// at, whose log-likelihood and NLL they have; and so does a trained network as it is.
func TestPartlyEnsembles(t *testing.T) {
	for name, role := range roles {
		job := partly(t, 2, role)
		whole := make([]float64, job.Net.Parameters())
		for i := range whole {
			whole[i] = math.Sin(float64(i * i))
		}
		job.Init = whole
		same, err := bnn.Combine(job.Net.Whole(), []bnn.Island{{Theta: whole}}, bnn.Equal{})
		if err != nil {
			t.Fatal(err)
		}
		nll := func(e *bnn.Ensemble) float64 {
			value, _, err := eval.Validation(t.Context(), e, job.Data.Validate, job.Data, job.Pool)
			if err != nil {
				t.Fatal(err)
			}
			return float64(value)
		}
		model, err := nn.NewModel(job.Net.Whole(), job.Data.Train, job.Pool)
		if err != nil {
			t.Fatal(err)
		}
		ll := make([]float64, 1)
		if err := model.LogLik(t.Context(), nil, whole, ll, nil); err != nil {
			t.Fatal(err)
		}
		still := mcmc.HMC{Steps: 1, Step: 1e-9}
		for _, m := range []Method{
			AsIs{}, MCMC{Chains: 2, Start: "init", Epochs: 4, Keep: 2, Move: still},
			SMC{Particles: 3, Islands: 2, Start: FromInit{}, Path: smc.Schedule[smc.Full]{Iterations: 2}, Move: still},
		} {
			job.Run = without(t)
			out := do(t, job, m.Settle(Around{Init: true}, unheard()))
			if got := nll(out.Posterior); !(math.Abs(got-nll(same)) <= 1e-5) {
				t.Errorf("%s, %s: NLL %v, want %v", name, m.Title(), got, nll(same))
			}
			if n := len(out.Trace); n > 0 && !(math.Abs(float64(*out.Trace[n-1].ValNLL)-nll(same)) <= 1e-5) {
				t.Errorf("%s, %s: the trace has NLL %v, want %v", name, m.Title(), *out.Trace[n-1].ValNLL, nll(same))
			} else if n > 0 && !(math.Abs(float64(out.Trace[n-1].LogLikelihood)-ll[0]) <= 1e-3) {
				t.Errorf("%s, %s: log-likelihood %v, want %v", name, m.Title(), out.Trace[n-1].LogLikelihood, ll[0])
			}
		}
	}
}

// Particles of a partly random network share ψ: a restart for each is refused.
func TestPartlySGD(t *testing.T) {
	m := SMC{Start: FromRestarts{}, Path: smc.Schedule[smc.Full]{Iterations: 3}}
	for _, partly := range []bool{false, true} {
		around := Around{Partly: partly}
		m := m.Settle(around, unheard())
		said := faults(func(f *config.Faults) { m.Settle(around, f) })
		if partly != (len(said) == 1 && strings.HasPrefix(said[0], "method.smc.start: sgd gives each particle a restart of its own") && strings.HasSuffix(said[0], "leave model.random out")) {
			t.Errorf("partly %v: %q", partly, said)
		}
	}
	if got := MethodsWhere(func(n Needs) bool { return n.Partly }); !slices.Equal(got, []string{"swag", "laplace", "vi", "svgd", "as-is", "mcmc", "smc"}) {
		t.Errorf("partly random networks are for %q", got)
	}
}

// The Gaussian of SWAG is over θ alone: every draw of a member has its mean of ψ over the snapshots, and the draws of θ differ.
func TestPartlySWAG(t *testing.T) {
	for _, name := range []string{"first", "last"} {
		m := SWAG{Averaging: Averaging{Members: 2, Rate: 0.05, Warmup: 1, Snapshots: 6}, Draws: 3}.Settle(Around{}, unheard()).(SWAG)
		job := partly(t, 2, roles[name])
		job.Search = around(m).Search
		job.Search.Restarts = 2
		if err := job.search(t.Context(), newOutcome()); err != nil {
			t.Fatal(err)
		}
		parts := averages(t, job, m)
		phases, err := m.Phases(job)
		if err != nil {
			t.Fatal(err)
		}
		if err := job.Run.Phase(t.Context(), job.Pool, phases[0]); err != nil {
			t.Fatal(err)
		}
		e, _, err := m.Gather(job, phases, nil)
		if err != nil {
			t.Fatal(err)
		}
		for k, draw := range networks(e) {
			theta, phi := job.Net.Split(draw)
			mean, shared := job.Net.Split(parts[k/m.Draws].Mean)
			wantNear(t, name+": ψ", phi, shared, 1e-6)
			apart := 0.0
			for i, x := range theta {
				apart = max(apart, math.Abs(x-mean[i]))
			}
			if !(apart > 1e-3) {
				t.Errorf("%s: draw %d is %v from the mean", name, k, apart)
			}
		}
	}
}

// networks are the particles of an ensemble as whole networks.
func networks(e *bnn.Ensemble) (whole [][]float64) {
	wide := func(rows []float32, row, of int) []float64 {
		one := make([]float64, of)
		for i, x := range rows[row*of : (row+1)*of] {
			one[i] = float64(x)
		}
		return one
	}
	for j := range e.Size() {
		var psi []float64
		if n := e.Net.Learned(); n > 0 {
			psi = wide(e.Shared, int(e.Row[j]), n)
		}
		whole = append(whole, e.Net.Join(wide(e.Theta, j, e.Net.Dim()), psi))
	}
	return whole
}

// Where layers are learned by default, a step that is left out has its rule at once.
func TestPartlyStepByRule(t *testing.T) {
	m := SMC{Path: smc.Schedule[smc.Constant]{Epochs: 1, Rule: smc.Constant{Batch: 5}}, Move: mcmc.Unadjusted{Steps: 1}}
	for partly, want := range map[bool]float64{false: 0, true: mcmc.AutoStep} {
		if got := m.Settle(Around{Partly: partly}, unheard()).(SMC).Move; got != (mcmc.Unadjusted{Steps: 1, Step: want}) {
			t.Errorf("partly random %v: %+v, want a step of %v", partly, got, want)
		}
	}
}
