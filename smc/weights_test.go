package smc

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/weights"
	"github.com/starling-smc/starling/mcmc"
)

// Golden weights: normalisation, the momentum increment, islands, resampling.
func TestWeightsGolden(t *testing.T) {
	elsewhere := map[string]string{"ensemble": "weighted predictions are bnn's and uq's"}
	kinds := map[string]func(*testing.T, golden.Case){
		"normalise": goldenNormalise, "eq12": goldenEq12, "islands": goldenIslands,
		"resample": goldenResample, "resample_residual": goldenResidual,
	}
	for _, c := range golden.Read(t, "weights.json") {
		if why, ok := elsewhere[c.Kind]; ok {
			t.Logf("not here: %s: %s", c.Name, why)
			continue
		}
		test, ok := kinds[c.Kind]
		if !ok {
			t.Fatalf("unknown kind %q", c.Kind)
		}
		t.Run(c.Name, func(t *testing.T) { test(t, c) })
	}
}

// expect compares by the tolerances of the golden file: logarithms 1e-12 and 1e-9, weights 1e-9 and 1e-13.
func expectLog(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !golden.Near(got, want, 1e-12, 1e-9) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func expectWeights(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	for i := range want {
		if !golden.Near(got[i], want[i], 1e-9, 1e-13) {
			t.Errorf("%s %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

func goldenNormalise(t *testing.T, c golden.Case) {
	var in struct{ LogW []number }
	var want struct {
		Error      string
		LogSum     number   `json:"logsumexp"`
		Weights    []number `json:"weights"`
		LogWeights []number `json:"log_weights"`
		ESS        number
		Resample   *bool `json:"resample_below_half"`
	}
	decode(t, c.Inputs, &in)
	decode(t, c.Expected, &want)
	logw := floats(in.LogW)
	sum, ess, err := weights.Normalise(logw, "particle")
	if want.Error != "" {
		if err == nil {
			t.Errorf("no error, want %s", want.Error)
		}
		for j, l := range in.LogW { // a rejected input is left alone
			if float64(l) != logw[j] && !math.IsNaN(float64(l)) {
				t.Errorf("log-weight %d became %v", j, logw[j])
			}
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	expectLog(t, "log sum", sum, float64(want.LogSum))
	for j, l := range want.LogWeights {
		expectLog(t, "log-weight", logw[j], float64(l))
	}
	w := make([]float64, len(logw))
	weights.Exp(logw, w)
	expectWeights(t, "weight", w, floats(want.Weights))
	expectWeights(t, "ESS", []float64{ess}, []float64{float64(want.ESS)})
	if want.Resample != nil {
		if got := BelowHalf.Due(ess, len(logw)); got != *want.Resample {
			t.Errorf("resampling at ESS %v of %d: %v", ess, len(logw), got)
		}
	}
}

// Data-annealing-smc, eq. (12): minus the energy error between momenta P_old and −P_new, plus the change of target, add
// up to the golden weight, however much of log π_k(θ') − log π_{k−1}(θ) is the change of target at θ. The literal weight
// lacks it.
func goldenEq12(t *testing.T, c golden.Case) {
	var in struct {
		Prev []float64   `json:"logw_prev"`
		New  []float64   `json:"logpi_new"`
		Old  []float64   `json:"logpi_old"`
		PNew [][]float64 `json:"P_new"`
		POld [][]float64 `json:"P_old"`
		Mass [][]float64 `json:"mass_matrix"`
	}
	var want struct {
		LogW, Weights []float64
		ESS           float64
	}
	decode(t, c.Inputs, &in)
	decode(t, c.Expected, &want)
	kinetic := func(p []float64) float64 { // for a mass m that of p/√m, as mass is the identity here
		x := slices.Clone(p)
		for i, row := range in.Mass {
			for k, m := range row {
				if i == k {
					x[i] /= math.Sqrt(m)
				} else if m != 0 {
					t.Fatal("only diagonal mass matrices exist")
				}
			}
		}
		return mcmc.Kinetic(x)
	}
	logw, change, energy := make([]float64, len(in.Prev)), make([]float64, len(in.Prev)), make([]float64, len(in.Prev))
	for j := range logw {
		change[j] = 3.5 - 2*float64(j)
		energy[j] = kinetic(in.PNew[j]) - in.New[j] - (kinetic(in.POld[j]) - (in.Old[j] + change[j]))
	}
	moved := Moved{Change: change, Energy: energy}
	literal := Momentum{Literal: true}.After(moved)
	for j, increment := range (Momentum{}).After(moved) {
		logw[j] = in.Prev[j] + increment
		expectLog(t, "log-weight", logw[j], want.LogW[j])
		expectLog(t, "literal log-weight", in.Prev[j]+literal[j], want.LogW[j]-change[j])
	}
	_, ess, err := weights.Normalise(logw, "particle")
	if err != nil {
		t.Fatal(err)
	}
	w := make([]float64, len(logw))
	weights.Exp(logw, w)
	expectWeights(t, "weight", w, want.Weights)
	expectWeights(t, "ESS", []float64{ess}, []float64{want.ESS})
}

// goldenIslands accumulates the evidence as Step does, stage by stage from equal weights, and combines.
func goldenIslands(t *testing.T, c golden.Case) {
	var in struct {
		Increments [][][]float64 `json:"log_increments"`
		Phi        [][]float64
	}
	var want struct {
		LogZ, Omega []float64
		Estimate    float64
	}
	decode(t, c.Inputs, &in)
	decode(t, c.Expected, &want)
	logZ := evidences(t, in.Increments)
	for p := range logZ {
		expectLog(t, "log Z", logZ[p], want.LogZ[p])
	}
	combined, err := Combine(logZ)
	if err != nil {
		t.Fatal(err)
	}
	expectWeights(t, "ω", combined.Omega, want.Omega)
	var estimate, effective float64
	for p, phi := range in.Phi {
		effective += combined.Omega[p] * combined.Omega[p]
		for _, f := range phi {
			estimate += combined.Omega[p] * f / float64(len(phi))
		}
	}
	expectWeights(t, "estimate", []float64{estimate}, []float64{want.Estimate})
	expectWeights(t, "effective islands", []float64{combined.Effective}, []float64{1 / effective})
}

// evidences runs the increments [island][stage][particle] through states that are resampled after each stage.
func evidences(t *testing.T, increments [][][]float64) []float64 {
	t.Helper()
	logZ := make([]float64, len(increments))
	for p, stages := range increments {
		st := State{LogW: make([]float64, len(stages[0]))}
		for _, inc := range stages {
			for j := range st.LogW {
				st.LogW[j] = -math.Log(float64(len(inc)))
			}
			if _, err := st.reweight(inc, 0); err != nil {
				t.Fatal(err)
			}
		}
		logZ[p] = st.LogZ
	}
	return logZ
}

func goldenResample(t *testing.T, c golden.Case) {
	var in struct {
		Scheme   string
		Weights  []float64
		N        int `json:"n_out"`
		Uniforms []float64
	}
	var want struct{ Ancestors []int32 }
	decode(t, c.Inputs, &in)
	decode(t, c.Expected, &want)
	scheme, ok := Schemes.Find(in.Scheme)
	if !ok {
		t.Fatalf("unknown scheme %q", in.Scheme)
	}
	ancestors := make([]int32, in.N)
	scheme.Ancestors(in.Weights, list(in.Uniforms), ancestors)
	for i, a := range ancestors {
		if a != want.Ancestors[i] {
			t.Fatalf("ancestors %v, want %v", ancestors, want.Ancestors)
		}
	}
}

// list hands out the given numbers.
func list(x []float64) func() float64 {
	return func() float64 {
		u := x[0]
		x = x[1:]
		return u
	}
}

func goldenResidual(t *testing.T, c golden.Case) {
	var in struct {
		Weights []float64
		N       int `json:"n_out"`
	}
	var want struct {
		Counts []int     `json:"deterministic_counts"`
		Left   int       `json:"n_residual"`
		Rest   []float64 `json:"residual_probs"`
	}
	decode(t, c.Inputs, &in)
	decode(t, c.Expected, &want)
	copies, rest := residual(in.Weights, in.N)
	left := in.N
	for j, n := range copies {
		left -= n
		if n != want.Counts[j] {
			t.Errorf("copies %v, want %v", copies, want.Counts)
		}
	}
	if left != want.Left {
		t.Errorf("%d left to draw, want %d", left, want.Left)
	}
	expectWeights(t, "residual probability", rest, want.Rest)
}

// Golden temperatures, and the adaptive number of mutations on scripted positions.
func TestTemperingGolden(t *testing.T) {
	for _, c := range golden.Read(t, "tempering.json") {
		switch c.Kind {
		case "tempering":
			t.Run(c.Name, func(t *testing.T) { goldenTempering(t, c.Inputs, c.Expected) })
		case "mutation_steps":
			t.Run(c.Name, func(t *testing.T) { goldenMutations(t, c.Inputs, c.Expected) })
		default:
			t.Fatalf("unknown kind %q", c.Kind)
		}
	}
}

// A particle of weight k/n counts as k of n particles of equal weight, and a dead one as none.
func TestTemperingCountsWeights(t *testing.T) {
	equal, weighted, each := make([]float64, 8), []float64{4, 1, 0, 2, 1}, []float64{-3, -40, 900, -11, -25}
	var ll []float64
	for j, w := range weighted {
		for range int(w) {
			ll = append(ll, each[j])
		}
		weighted[j] = math.Log(w / 8)
	}
	for j := range equal {
		equal[j] = -math.Log(8)
	}
	for _, ratio := range []float64{0.55, 0.7, 0.9} {
		want, err := Tempering{ESS: ratio}.next(0.01, 1, equal, ll)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Tempering{ESS: ratio}.next(0.01, 1, weighted, each)
		if err != nil || !golden.Near(got, want, 1e-9, 0) || want == 1 {
			t.Errorf("ESS %v: λ = %v, error %v; particles of equal weight have %v", ratio, got, err, want)
		}
	}
}

// Where no step in temperature that a float64 can tell leaves enough particles, tempering says so and does not stand still.
func TestTemperingDoesNotStandStill(t *testing.T) {
	third := math.Log(1. / 3)
	_, err := Tempering{}.next(0.5, 1, []float64{third, third, third}, []float64{0, -1e30, -2e30})
	if err == nil || !strings.Contains(err.Error(), "too far apart") {
		t.Errorf("error %v", err)
	}
}

// A particle of weight 0, dead or fallen below the smallest number, has no say, however likely it is.
func TestTemperingIgnoresParticlesWithoutWeight(t *testing.T) {
	half := -math.Ln2
	for _, gone := range []float64{math.Inf(-1), -800} {
		ll := []float64{0, -2000, -2001} // at h = 1 the two that live have an ESS of 2.47 of 3
		lambda, err := Tempering{}.next(0, 1, []float64{gone, half, half}, ll)
		if err != nil || lambda != 1 {
			t.Errorf("log-weight %v: λ = %v, error %v, want 1", gone, lambda, err)
		}
		for place := range ll { // wherever it stands
			logw := []float64{half, half, half}
			logw[place], ll[place] = gone, 0
			ll[(place+1)%3], ll[(place+2)%3] = -2000, -2003
			got, err := Tempering{ESS: 0.9}.next(0, 1, logw, ll)
			want, _ := Tempering{ESS: 0.9}.next(0, 1, []float64{half, half}, []float64{-2000, -2003})
			if err != nil || want == 1 || !golden.Near(got, want, 1e-9, 0) {
				t.Errorf("log-weight %v at %d: λ = %v, error %v, want %v", gone, place, got, err, want)
			}
		}
	}
}

func goldenTempering(t *testing.T, inputs, expected json.RawMessage) {
	var in struct {
		LogLik []number
		Lambda float64 `json:"lambda_prev"`
		ESS    float64 `json:"ess_fraction"`
	}
	var want struct {
		Lambda, Increment float64
		ESS               float64 `json:"ess_at_lambda"`
		Final             bool
		None              bool `json:"no_solution"`
	}
	decode(t, inputs, &in)
	decode(t, expected, &want)
	ll, logw := floats(in.LogLik), make([]float64, len(in.LogLik))
	for j := range logw {
		logw[j] = -math.Log(float64(len(ll)))
	}
	lambda, err := Tempering{ESS: in.ESS}.next(in.Lambda, 1, logw, ll)
	if want.None {
		if err == nil || !strings.Contains(err.Error(), "positive likelihood") {
			t.Errorf("λ = %v, error %v: there is none", lambda, err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if want.Final != (lambda == 1) || !golden.Near(lambda, want.Lambda, 1e-6, 1e-12) {
		t.Errorf("λ = %v, want %v, final %v", lambda, want.Lambda, want.Final)
	}
	if !want.Final && !golden.Near(lambda-in.Lambda, want.Increment, 1e-6, 0) {
		t.Errorf("increment %v, want %v", lambda-in.Lambda, want.Increment)
	}
	w := make([]float64, len(ll))
	weights.Exp(logw, w)
	if ess := conditionalESS(lambda-in.Lambda, w, ll); !golden.Near(ess, want.ESS, 1e-6, 0) {
		t.Errorf("ESS %v, want %v", ess, want.ESS)
	}
}

func goldenMutations(t *testing.T, inputs, expected json.RawMessage) {
	var in struct {
		Start [][]float64   `json:"theta_after_resampling"`
		Steps [][][]float64 `json:"theta_after_m_steps"`
		Eta   float64
		Max   int `json:"max_steps"`
	}
	var want struct {
		Dist       []float64
		M          int
		Stabilised bool
	}
	decode(t, inputs, &in)
	decode(t, expected, &want)
	flat := func(rows [][]float64) (x []float64) {
		for _, r := range rows {
			x = append(x, r...)
		}
		return x
	}
	d := len(in.Start[0])
	flatModel := density{d, func([]float64, []float64) float64 { return 0 }}
	s := Sampler{
		Model: flatModel, Prior: normal{d: d, sd: 1},
		Path: Ladder{[]float64{1}}, Particles: len(in.Start), Start: flat(in.Start), Resample: Resampler{When: Never{}},
	}
	move := scripted(func(m int, theta []float64) { copy(theta, flat(in.Steps[m])) })
	s.Move = repeated{move, mcmc.Mutations{Eta: in.Eta, Max: in.Max}}
	st, info := step(t, &s)
	if got := s.displacement(st); info.Mutations != want.M || !golden.Near(got, want.Dist[want.M-1], 1e-12, 0) {
		t.Errorf("%d mutations to displacement %v, want %d to %v", info.Mutations, got, want.M, want.Dist[want.M-1])
	}
	for m, dist := range want.Dist { // every displacement, by a fixed number of moves
		s.Move = repeated{move, mcmc.Mutations{Count: m + 1}}
		st, info := step(t, &s)
		if got := s.displacement(st); info.Mutations != m+1 || !golden.Near(got, dist, 1e-12, 0) {
			t.Errorf("displacement %v after %d mutations, want %v", got, info.Mutations, dist)
		}
	}
}

// approximate is a program's own move that does not leave its target invariant.
type approximate struct{ mcmc.Kernel }

func (m approximate) Traits() mcmc.Traits {
	t := m.Kernel.Traits()
	t.Corrected = mcmc.ByWeight
	return t
}

// A program's own move says whether it leaves its target invariant, and gets the weighting for that.
func TestOwnMovesGetTheirWeighting(t *testing.T) {
	var own mcmc.Kernel = approximate{mcmc.HMC{}}
	if w := DefaultWeighting(own); w != (Momentum{}) {
		t.Errorf("a move that is not invariant gets %T", w)
	}
	if w := DefaultWeighting(struct{ mcmc.Kernel }{mcmc.Unadjusted{}}); w != (Momentum{}) {
		t.Errorf("a wrapped move without accept or reject gets %T", w)
	}
	if err := SuitsMove(Reversal{}, own); err == nil || !strings.HasPrefix(err.Error(), "reversal leaves out") {
		t.Errorf("%v", err)
	}
	if err := SuitsWeighting(TemperedStart{}, &Momentum{Literal: true}); err == nil || !strings.HasPrefix(err.Error(), "literal leaves out") {
		t.Errorf("%v", err)
	}
}

// Given starts that nothing has weighted are not resampled before their first move: each begins a line of its own.
func TestGivenStartsAreNotResampledFirst(t *testing.T) {
	for _, w := range []Weigher{Bootstrap{Temperature: Temperature{Both: 1}}, Equal{}} {
		s := kinds()["weights kept"](0)
		s.Weighting, s.Keep, s.Resample = w, nil, Resampler{When: Always{}}
		s.Start = make([]float64, s.Particles*s.Model.Dim())
		for i := range s.Start {
			s.Start[i] = float64(i%7) / 10
		}
		st, err := s.Init(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Step(t.Context(), st); err != nil {
			t.Fatal(err)
		}
		for j, r := range st.Roots {
			if int(r) != j {
				t.Fatalf("%T: particle %d descends from %d after one iteration", w, j, r)
			}
		}
	}
}

// A temperature of the warm-up wants one.
func TestSuitsWarmUp(t *testing.T) {
	two := Bootstrap{Temperature: Temperature{Warmup: 3, Sampling: 1}}
	for _, c := range []struct {
		w  Weigher
		k  Keeper
		ok bool
	}{{two, nil, false}, {two, Last{}, false}, {two, After{}, false}, {two, After{Iterations: 1}, true}, {Bootstrap{}, nil, true}, {Momentum{}, nil, true}, {nil, nil, true}} {
		if err := SuitsWarmUp(c.w, c.k); (err == nil) != c.ok {
			t.Errorf("%+v with %+v: %v", c.w, c.k, err)
		}
	}
}
