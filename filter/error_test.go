package filter

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/ssm"
)

// The standard error of a filter's mean is the whole error: over runs and scans (mean − exact)/MCSE has an sd of about 1, for every
// method that gives one, with its defaults but for the number of particles. The models are the growth model, whose posterior has two
// modes and whose filters remember an error for long, against sums on a grid; and one of position and velocity, against the Kalman
// filter. The errors of a run's scans depend on each other, so that a run counts as one draw: mean squares of runs were seen to have
// an expectation from .7 to 1.25 and an sd up to 1.6. The mean of 40 of them, taken for a gamma variable with the shape 25, is outside
// (.2, 3.5) with probability 1e-9. An error that is 1.9 times too small is found, and one that is 2.2 times too large. That of the
// scan's own sampling alone has mean squares of 7 to 29 on the growth model.
func TestWholeError(t *testing.T) {
	testkit.Statistics(t)
	wholeError(t, map[string]exactCase{"growth": growthCase(t, 4, 12), "velocity": velocityCase(t, 12)}, 1000, 40, 0.2, 3.5)
}

// TestWholeErrorTable takes all defaults and more models and runs, and reports roots of mean squares: the table of docs/filtering.md.
func TestWholeErrorTable(t *testing.T) {
	testkit.Takes(t, 30)
	wholeError(t, longCases(t), 0, 50, 0, math.Inf(1))
}

// wholeError runs every method that gives standard errors, with its defaults where particles is 0. Mean squares are between two bounds.
func wholeError(t *testing.T, cases map[string]exactCase, particles, runs int, low, high float64) {
	t.Helper()
	for name, m := range map[string]Method{
		"bootstrap": &Bootstrap{Particles: particles}, "auxiliary": &Auxiliary{Particles: particles}, "smcmc": &SMCMC{Particles: particles},
	} {
		m.(config.Defaulter).Defaults()
		for what, c := range cases {
			t.Run(name+", "+what, func(t *testing.T) {
				t.Parallel()
				squares, unknown := wholeErrors(t, m, c, runs)
				for i, list := range squares {
					mean, sd := meanSD(list)
					t.Logf("coordinate %d: mean square %.2f, its root %.2f, sd of a run's %.2f; unknown %d", i, mean, math.Sqrt(mean), sd, unknown)
					if !(mean > low && mean < high) {
						t.Errorf("coordinate %d: errors of the means have a mean square of %.2f MCSE²", i, mean)
					}
				}
				if unknown > runs*len(c.scans)/20 {
					t.Errorf("%d errors are unknown", unknown)
				}
			})
		}
	}
}

// wholeErrors returns the mean over scans of the squared errors in standard errors: [coordinate][run].
func wholeErrors(t *testing.T, m Method, c exactCase, runs int) (squares [][]float64, unknown int) {
	t.Helper()
	squares = make([][]float64, c.model.Dim())
	for seed := range uint64(runs) {
		sums, known := make([]float64, len(squares)), make([]float64, len(squares))
		filtered(t, m, Job{Model: c.model, Seed: seed, Pool: mcmc.NewPool(1)}, c.scans, func(k int, st *State, info Info) {
			mean, _ := st.Moments()
			for i := range squares {
				if z := (mean[i] - c.mean[k][i]) / info.MCSE[i]; math.IsNaN(z) {
					unknown++
				} else {
					sums[i], known[i] = sums[i]+z*z, known[i]+1
				}
			}
		})
		for i, sum := range sums {
			squares[i] = append(squares[i], sum/known[i])
		}
	}
	return squares, unknown
}

// exactCase is a list of scans with the exact means.
type exactCase struct {
	model ssm.Model
	scans []*ssm.Scan
	mean  [][]float64
}

func growthCase(t *testing.T, seed uint64, n int) (c exactCase) {
	t.Helper()
	m := growth{q: 10, r: 1}
	c.model, c.scans = m, m.simulate(seed, n)
	for _, v := range m.exact(c.scans) {
		c.mean = append(c.mean, []float64{v})
	}
	return c
}

// longCases are the models of the table in docs/filtering.md.
func longCases(t *testing.T) map[string]exactCase {
	t.Helper()
	one, two := &ssm.Initial{Mean: []float64{0}, SD: []float64{1}}, &ssm.Initial{Mean: []float64{0, 0}, SD: []float64{1, 1}}
	cases := map[string]exactCase{
		"velocity": velocityCase(t, 20),
		"Example 1": linearCase(t, 20, ssm.LinearGaussian{
			A: [][]float64{{0.9}}, Q: [][]float64{{0.08}}, H: [][]float64{{1}}, R: [][]float64{{2}}, Returns: 500, Initial: one,
		}),
		"constant": linearCase(t, 40, ssm.LinearGaussian{
			A: [][]float64{{1}}, Q: [][]float64{{1e-6}}, H: [][]float64{{1}}, R: [][]float64{{1}}, Returns: 1, Initial: one,
		}),
		"fast and slow": linearCase(t, 40, ssm.LinearGaussian{
			A: [][]float64{{0.5, 0}, {0, 0.99}}, Q: [][]float64{{1, 0}, {0, 0.01}}, H: [][]float64{{1, 0}, {0, 1}},
			R: [][]float64{{0.1, 0}, {0, 4}}, Returns: 1, Initial: two,
		}),
	}
	for seed := range uint64(4) {
		cases[fmt.Sprint("growth ", seed+1)] = growthCase(t, seed+1, 20)
	}
	return cases
}

func velocityCase(t *testing.T, n int) exactCase {
	t.Helper()
	return linearCase(t, n, ssm.LinearGaussian{
		A: [][]float64{{1, 1}, {0, 1}}, Q: [][]float64{{0.0083, 0.0125}, {0.0125, 0.025}}, H: [][]float64{{1, 0}},
		R: [][]float64{{1}}, Returns: 4, Initial: &ssm.Initial{Mean: []float64{0, 0}, SD: []float64{1, 1}},
	})
}

// linearCase draws n scans of a linear model.
func linearCase(t *testing.T, n int, m ssm.LinearGaussian) (c exactCase) {
	t.Helper()
	m.Interval = 1
	c.model = m
	scene := ssm.Scene{Model: m, Seed: 3}
	for range n {
		_, scan, err := scene.Next()
		if err != nil {
			t.Fatal(err)
		}
		c.scans = append(c.scans, &scan)
	}
	filtered(t, Kalman{}, Job{Model: m}, c.scans, func(_ int, st *State, _ Info) { c.mean = append(c.mean, st.Mean) })
	return c
}

// A chain that stays in one of two modes is seen by R-hat: the growth model without joint proposals, as long as the filters' own
// samples are worth enough draws to be believed: 10 of 24 scans at least, where 13 to 15 were seen. Chains that reach both modes
// are not accused, nor are chains of a linear model, where R-hat is below 1.2.
func TestRHatSeesModes(t *testing.T) {
	testkit.Statistics(t)
	growing, moving, held := growthCase(t, 1, 12), velocityCase(t, 6), exactCase{}
	cases, _ := kalmanCases(t, "kalman_m500.json")
	held.model, held.scans = cases[0].model(), cases[0].scans()
	stays := &SMCMC{Joint: NoJoint{}}
	stays.Defaults()
	mixes := &SMCMC{}
	mixes.Defaults()
	for _, c := range []struct {
		name     string
		m        Method
		on       exactCase
		few, all int // scans of the two runs whose R-hat is above 3: at least, at most
	}{
		{"growth, joint: none", stays, growing, 10, 24}, {"growth", mixes, growing, 0, 0}, {"velocity", mixes, moving, 0, 0},
		{"Example 1", mixes, held, 0, 0}, {"Example 1, joint: none", stays, held, 0, 0},
	} {
		apart, most := 0, 0.0
		for seed := range uint64(2) {
			filtered(t, c.m, Job{Model: c.on.model, Seed: seed}, c.on.scans, func(_ int, _ *State, info Info) {
				for i, r := range info.RHat {
					if most = max(most, r); r > 3 && info.ESS[i] >= 50 {
						apart++
					}
				}
			})
		}
		t.Logf("%s: %d of %d scans, R-hat up to %.2f", c.name, apart, 2*len(c.on.scans), most)
		if apart < c.few || apart > c.all || !(most > 1) {
			t.Errorf("%s: R-hat is above 3 in %d of %d scans", c.name, apart, 2*len(c.on.scans))
		}
	}
}

// The genealogy's estimate of four particles, by its sums: two resamplings, after which two and then one ancestor are left of those that
// carry weight.
func TestGenealogy(t *testing.T) {
	st := &State{Dim: 1, X: []float64{1, 2, 4, 7}, LogW: even(4)}
	st.Genealogy = descend(st.Genealogy, []int32{3, 0, 1, 2})
	st.Genealogy = descend(st.Genealogy, []int32{1, 1, 3, 3})
	if want := []int32{1, 1, 3, 3, 0, 0, 2, 2}; !slices.Equal(st.Genealogy, want) {
		t.Errorf("genealogy %v, want %v", st.Genealogy, want)
	}
	for range 2 * lag {
		st.Genealogy = descend(st.Genealogy, []int32{0, 1, 2, 3})
	}
	if len(st.Genealogy) != 4*lag {
		t.Errorf("a genealogy of %d numbers", len(st.Genealogy))
	}
	// Many particles: pairs of brothers that stand in the same place. Independent, they would be worth twice as many draws.
	const n = 400
	st = &State{Dim: 2, X: make([]float64, 2*n), LogW: even(n)}
	from, square := make([]int32, n), 0.0
	for j := range n {
		from[j] = int32(j / 2)
		v := float64(j/2*37%200) - 99.5
		st.X[2*j], st.X[2*j+1] = v, 5
		square += v * v / n
	}
	alone := errorsOf(st)
	st.Genealogy = descend(st.Genealogy, from)
	pairs := errorsOf(st)
	fourth := 0.0
	for j := range n {
		fourth += math.Pow(st.X[2*j], 4) / n
	}
	for what, c := range map[string]struct{ got, copies float64 }{"alone": {alone[0], 1}, "pairs": {pairs[0], 2}} {
		groups := square * square / fourth * n / c.copies
		if want := math.Sqrt(square * c.copies / n * (groups - 1) / (groups - 3)); !(math.Abs(c.got-want) < 1e-12) {
			t.Errorf("%s: error %v, want %v", what, c.got, want)
		}
	}
	if !math.IsNaN(pairs[1]) {
		t.Errorf("a coordinate that is the same in all particles has the error %v", pairs[1])
	}
}

// errorsOf are the standard errors of a state's means.
func errorsOf(st *State) []float64 {
	var info Info
	info.sampled(st, 1)
	return info.MCSE
}

// An error of which few particles know is unknown: a particle that has nearly all the weight, and the offspring of two particles.
func TestErrorOfFew(t *testing.T) {
	const n = 300
	st := &State{Dim: 1, X: make([]float64, n), LogW: make([]float64, n)}
	from := make([]int32, n)
	for j := range n {
		st.X[j], st.LogW[j] = float64(j%7), math.Log(1e-9)
	}
	st.X[0], st.LogW[0] = 50, math.Log(1-1e-9*(n-1))
	if got := errorsOf(st); !math.IsNaN(got[0]) {
		t.Errorf("one particle: error %v", got[0])
	}
	st.LogW = even(n)
	for j := range n {
		from[j] = int32(j % 2)
		st.X[j] = 10*float64(j%2) + 0.1*float64(j%7)
	}
	st.Genealogy = descend(st.Genealogy, from)
	if got := errorsOf(st); !math.IsNaN(got[0]) {
		t.Errorf("two ancestors: error %v", got[0])
	}
	for j := range n { // they have forgotten where they come from
		st.X[j] = float64(j % 7)
	}
	if got := errorsOf(st); !(got[0] > 0.1 && got[0] < 0.14) { // 2/√300, as of independent draws
		t.Errorf("forgotten ancestors: error %v", got[0])
	}
}

// What several filters say together, by its formulas; one filter gives no error and no R-hat. Particles need not be divided evenly.
func TestFiltersTogether(t *testing.T) {
	var info Info
	info.compare([][]summary{{{mean: 1, variance: 2, ess: 10}}, {{mean: 2, variance: 3, ess: 20}}, {{mean: 4, variance: 2, ess: 30}}, {{mean: 5, variance: 1, ess: 40}}}, 100)
	between := (4 + 1 + 1 + 4) / 3.
	if want := math.Sqrt(3 * between / 4); !(math.Abs(info.MCSE[0]-want) < 1e-15) || info.ESS[0] != 100 { // Student's variance of 3 degrees is 3
		t.Errorf("error %v, want %v; ESS %v", info.MCSE[0], want, info.ESS[0])
	}
	if want := math.Sqrt(0.99 + between/2); !(math.Abs(info.RHat[0]-want) < 1e-15) {
		t.Errorf("R-hat %v, want %v", info.RHat[0], want)
	}
	info = Info{}
	info.compare([][]summary{{{mean: 1, variance: 2, ess: 10}}}, 100)
	if info.MCSE != nil || info.RHat != nil || info.ESS[0] != 10 {
		t.Errorf("one filter: %+v", info)
	}
	for n, want := range map[int]int{2: 1, 999: 1, 1000: 4, 1999: 7, 2000: 8, 1 << 19: 8} {
		if got := usualRepeat(n); got != want {
			t.Errorf("%d particles: %d filters, want %d", n, got, want)
		}
	}
	c := velocityCase(t, 3)
	filtered(t, SMCMC{Particles: 1003, Burn: 50, Repeat: 5, Joint: PriorJoint{}}, Job{Model: c.model}, c.scans, func(_ int, st *State, info Info) {
		if st.N() != 1003 || info.Ancestors < 1 || info.Ancestors > 201 || !(info.MCSE[0] > 0) || !(info.RHat[1] > 0.99) {
			t.Errorf("%d particles, %+v", st.N(), info)
		}
	})
}

// The chains of several filters have random numbers of their own: the states of two filters after as many steps are not correlated.
// States of a chain by joint proposals are worth a third of as many draws or more, so that a correlation of 1,000 states has an sd of at
// most .06, and one of six is above .3 with probability 3e-6. Common random numbers make it .6 or more.
func TestFiltersAreIndependent(t *testing.T) {
	testkit.Statistics(t)
	scan := &ssm.Scan{Time: 1, Width: 1, Values: []float64{0.3}}
	model := scalar{a: 0.1, q: 1, h: 1, r: 2, m0: 0, p0: 1} // a draw is hardly the particle before, and mostly its noise
	st := filtered(t, SMCMC{Particles: 4000, Burn: 100, Repeat: 4, Joint: PriorJoint{}}, Job{Model: model, Seed: 4}, []*ssm.Scan{scan}, nil)
	for r := range 4 {
		for s := range r {
			a, b := st.X[1000*r:1000*(r+1)], st.X[1000*s:1000*(s+1)]
			ma, sa := meanSD(a)
			mb, sb := meanSD(b)
			sum := 0.0
			for i := range a {
				sum += (a[i] - ma) * (b[i] - mb) / (sa * sb * 1000)
			}
			if !(math.Abs(sum) < 0.3) {
				t.Errorf("filters %d and %d: correlation %.2f", r, s, sum)
			}
		}
	}
}

// Filters with few particles each are warned of, and neither those of the defaults nor a single one.
func TestSmallFilters(t *testing.T) {
	for _, c := range []struct {
		particles, repeat int
		warns             bool
	}{
		{0, 0, false}, {40, 0, false}, {1000, 0, false}, {1999, 0, false}, {40, 1, false}, {1000, 15, false}, {1000, 16, true}, {1000, 50, true},
		{255, 8, true}, {256, 8, false}, {8, 4, true},
	} {
		m := SMCMC{Particles: c.particles, Repeat: c.repeat}
		m.Defaults()
		if found := m.Findings(); (len(found) == 1 && found[0].Warning()) != c.warns || len(found) > 1 {
			t.Errorf("%d particles by %d filters: %+v", c.particles, c.repeat, found)
		}
	}
}
