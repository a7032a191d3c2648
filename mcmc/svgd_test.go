package mcmc

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/rng"
)

// slope is the log-likelihood −½ Σ_i c_i (θ_i − i/d)², for any D.
type slope struct{ d int }

func (m slope) Dim() int    { return m.d }
func (slope) Examples() int { return 3 }
func (m slope) LogLik(_ context.Context, _ []int32, theta, ll, grad []float64) error {
	clear(ll)
	for at, x := range theta {
		i := at % m.d
		c, r := 1+float64(i%3), x-float64(i)/float64(m.d)
		ll[at/m.d] -= 0.5 * c * r * r
		if grad != nil {
			grad[at] = -c * r
		}
	}
	return nil
}

func svgdOf(j, d int) (*Target, Population) {
	prior := normal{make([]float64, d), make([]float64, d)}
	for i := range prior.sd {
		prior.sd[i] = 2
	}
	p := NewPopulation(j, d, Needs{})
	rng.Key{Seed: 4, Purpose: rng.Synthetic}.Stream().Normals(p.Theta)
	return &Target{Model: slope{d}, Prior: prior, Lambda: 0.7}, p
}

// stein returns J φ of every particle, pair by pair, and the median distance.
func stein(t *testing.T, target *Target, theta []float64, n, d int) (phi []float64, median float64) {
	t.Helper()
	grad := make([]float64, n*d)
	if err := target.Model.LogLik(t.Context(), nil, theta, make([]float64, n), grad); err != nil {
		t.Fatal(err)
	}
	square := func(i, j int) (s float64) {
		for k := range d {
			s += (theta[i*d+k] - theta[j*d+k]) * (theta[i*d+k] - theta[j*d+k])
		}
		return s
	}
	var distances []float64
	for i := range n {
		for j := range i {
			distances = append(distances, math.Sqrt(square(i, j)))
		}
	}
	slices.Sort(distances)
	pairs := len(distances)
	median = distances[pairs/2]
	if pairs%2 == 0 {
		median = (distances[pairs/2-1] + distances[pairs/2]) / 2
	}
	b := median * median / math.Log(float64(n)+1)
	phi = make([]float64, n*d)
	for i := range n {
		for k := range d {
			x := theta[i*d+k]
			for j := range n {
				y, kernel := theta[j*d+k], math.Exp(-square(i, j)/b)
				phi[i*d+k] += kernel*(0.7*grad[j*d+k]-y/4) - 2/b*(y-x)*kernel
			}
		}
	}
	return phi, median
}

// A move of SVGD is its formula, particle by particle and pair by pair, with the median of an even and of an odd number of distances.
func TestSVGDIsItsFormula(t *testing.T) {
	for _, c := range []struct{ j, d int }{{2, 1}, {3, 2}, {9, 1100}, {19, 5}} {
		target, p := svgdOf(c.j, c.d)
		theta := slices.Clone(p.Theta)
		phi, _ := stein(t, target, theta, c.j, c.d)
		var w Work
		const rate = 0.3
		out, err := SVGD{Rate: rate}.Mutate(t.Context(), &w, target, &p, nil, StepContext{})
		if err != nil {
			t.Fatal(err)
		}
		for at, x := range theta {
			if want := x + rate*phi[at]/float64(c.j); !golden.Near(p.Theta[at], want, 1e-10, 1e-10) {
				t.Fatalf("%+v: θ[%d, %d] becomes %v, want %v", c, at/c.d, at%c.d, p.Theta[at], want)
			}
		}
		fresh := p.Blank()
		copy(fresh.Theta, p.Theta)
		if err := target.Evaluate(t.Context(), &fresh); err != nil || !slices.Equal(fresh.LL, p.LL) || !slices.Equal(fresh.LP, p.LP) {
			t.Errorf("%+v: values are not those of where the particles went: %v", c, err)
		}
		if out.Gradients[0] != 3 || out.Values[0] != 3 || out.Shown != 3 || out.Step != rate || out.Energy[0] != 0 || !math.IsNaN(out.Probability[0]) {
			t.Errorf("%+v: outcome %+v", c, out)
		}
	}
}

// The rate that is found is its formula, move by move, in coordinates where one bound holds and in those where the other does.
func TestSVGDFindsItsRate(t *testing.T) {
	const n, d = 19, 5
	target, p := svgdOf(n, d)
	for j := range n { // one coordinate is far away, so that its gradient is large
		p.Theta[j*d+4] += 40
	}
	tuned, err := SVGD{}.Tuning(target, p.J)
	if err != nil {
		t.Fatal(err)
	}
	var w Work
	squares, held := make([]float64, d), [2]int{}
	for move := range 60 {
		theta := slices.Clone(p.Theta)
		phi, median := stein(t, target, theta, n, d)
		out, err := SVGD{}.Mutate(t.Context(), &w, target, &p, tuned, StepContext{})
		if err != nil {
			t.Fatal(err)
		}
		mean := 0.0
		for k := range d {
			square := 0.0
			for j := range n {
				square += phi[j*d+k] * phi[j*d+k] / n / n / n
			}
			if move > 0 {
				square = 0.9*squares[k] + 0.1*square
			}
			squares[k] = square
			rate, bound := float64(n)/(10*3), 0.1/math.Sqrt(1+float64(move)/50)*median/math.Sqrt(2*d)/math.Sqrt(square)
			if bound < rate {
				held[0]++
			} else {
				held[1]++
			}
			eta := min(rate, bound)
			mean += eta / d
			for j := range n {
				at := j*d + k
				if want := theta[at] + eta*phi[at]/n; !golden.Near(p.Theta[at], want, 1e-10, 1e-10) {
					t.Fatalf("move %d: θ[%d, %d] becomes %v, want %v", move, j, k, p.Theta[at], want)
				}
			}
		}
		if !golden.Near(out.Step, mean, 1e-10, 0) {
			t.Errorf("move %d: rate %v, want %v", move, out.Step, mean)
		}
	}
	if held[0] < 20 || held[1] < 20 {
		t.Errorf("the bounds hold %v times: the test is too weak", held)
	}
}

// stiff is a log-likelihood of normal noise, −½ Σ_i c (θ_i − 1)², whose curvature c is far above what a fixed rate of J/(10 N) bears.
type stiff struct {
	slope
	c float64
}

func (m stiff) LogLik(_ context.Context, _ []int32, theta, ll, grad []float64) error {
	clear(ll)
	for at, x := range theta {
		ll[at/m.d] -= 0.5 * m.c * (x - 1) * (x - 1)
		if grad != nil {
			grad[at] = -m.c * (x - 1)
		}
	}
	return nil
}

// The rate that is found reaches posteriors that are narrower than the prior by factors of up to 200, by its mean within a tenth of the
// posterior's standard deviation and with a spread as in TestSVGDFindsTheTarget. With J/(10 N) alone all but the first diverge.
func TestSVGDDoesNotDiverge(t *testing.T) {
	for _, c := range []float64{0.5, 100, 1e4} {
		target, p := svgdOf(30, 2)
		target.Model, target.Lambda = stiff{slope{2}, c}, 1
		tuned, err := SVGD{}.Tuning(target, p.J)
		if err != nil {
			t.Fatal(err)
		}
		var w Work
		for range 1000 {
			if _, err := (SVGD{}).Mutate(t.Context(), &w, target, &p, tuned, StepContext{}); err != nil {
				t.Fatalf("curvature %v: %v", c, err)
			}
		}
		mean, square := c/(c+0.25), 0.0
		sd, centre := 1/math.Sqrt(c+0.25), 0.0
		for _, x := range p.Theta {
			centre += x / float64(len(p.Theta))
		}
		for _, x := range p.Theta {
			square += (x - centre) * (x - centre) / float64(len(p.Theta))
		}
		t.Logf("curvature %v: mean off by %.3f sd, sd ratio %.3f", c, (centre-mean)/sd, math.Sqrt(square)/sd)
		if !(math.Abs(centre-mean) < 0.1*sd) || !(math.Abs(math.Sqrt(square)/sd-0.95) < 0.15) {
			t.Errorf("curvature %v: mean %v, want %v; standard deviation %v, want about %v", c, centre, mean, math.Sqrt(square), sd)
		}
	}
}

// Particles of a normal target in one dimension find its mean and nearly its variance. Nothing is random.
func TestSVGDFindsTheTarget(t *testing.T) {
	target, p := svgdOf(60, 1)
	var w Work
	for range 400 {
		if _, err := (SVGD{Rate: 0.5}).Mutate(t.Context(), &w, target, &p, nil, StepContext{}); err != nil {
			t.Fatal(err)
		}
	}
	mean, square := 0.0, 0.0
	for _, x := range p.Theta {
		mean += x / 60
	}
	for _, x := range p.Theta {
		square += (x - mean) * (x - mean) / 60
	}
	if v := 1 / (0.7 + 0.25); !(math.Abs(mean) < 0.02) || !(math.Abs(square/v-1) < 0.15) {
		t.Errorf("mean %v, variance %v, want 0 and about %v", mean, square, v)
	}
}

// Threads do not change a bit, and particles at one place stay together.
func TestSVGDBits(t *testing.T) {
	move := func(workers *Pool, same bool) []float64 {
		target, p := svgdOf(37, 700)
		target.Pool = workers
		if same {
			for j := range 37 {
				copy(p.Theta[j*700:(j+1)*700], p.Theta[:700])
			}
		}
		var w Work
		for range 3 {
			if _, err := (SVGD{Rate: 0.01}).Mutate(t.Context(), &w, target, &p, nil, StepContext{}); err != nil {
				t.Fatal(err)
			}
		}
		return p.Theta
	}
	want := move(nil, false)
	for _, threads := range []int{1, 2, 7} {
		if !slices.Equal(move(pool.New(threads), false), want) {
			t.Errorf("%d threads: other bits", threads)
		}
	}
	together := move(nil, true)
	for at, x := range together {
		if x != together[at%700] || math.IsNaN(x) {
			t.Fatalf("particle %d leaves the others: %v", at/700, x)
		}
	}
}

// What SVGD refuses: one particle, examples of several powers, rates that are none, and particles that leave the numbers.
func TestSVGDRefuses(t *testing.T) {
	for _, rate := range []float64{-1, math.NaN(), math.Inf(1)} {
		target, _ := svgdOf(3, 2)
		if _, err := (SVGD{Rate: rate}).Tuning(target, 1); err == nil || !strings.Contains(err.Error(), "SVGD: rate: want a number above 0, have ") {
			t.Errorf("rate %v: %v", rate, err)
		}
	}
	target, p := svgdOf(1, 2)
	var w Work
	if _, err := (SVGD{Rate: 1}).Mutate(t.Context(), &w, target, &p, nil, StepContext{}); err == nil || !strings.Contains(err.Error(), "at least 2 particles") {
		t.Errorf("one particle: %v", err)
	}
	target.Annealed = []int32{0}
	if _, err := (SVGD{Rate: 1}).Tuning(target, 1); err == nil || !strings.Contains(err.Error(), "anneals no examples in") {
		t.Errorf("examples of several powers: %v", err)
	}
	target, p = svgdOf(3, 2)
	p.Theta[4] = 1e308
	if got := p.Broken(target.Model); got != "" {
		t.Errorf("finite parameters: %s", got)
	}
	w = Work{}
	if _, err := (SVGD{Rate: 10}).Mutate(t.Context(), &w, target, &p, nil, StepContext{}); !errors.As(err, new(*Diverged)) || !strings.Contains(err.Error(), "SVGD diverged: parameter 0 of particle ") ||
		!strings.HasSuffix(err.Error(), "try a smaller rate than 10") {
		t.Errorf("a particle that leaves the numbers: %v", err)
	}
	// A gradient whose square is no number is no gradient to bound: the run ends with a word.
	target, p = svgdOf(3, 2)
	target.Model = stiff{slope{2}, 1e200}
	w = Work{}
	if _, err := (SVGD{}).Mutate(t.Context(), &w, target, &p, make([]float64, 3), StepContext{}); !errors.As(err, new(*Diverged)) || !strings.Contains(err.Error(), "SVGD diverged: ") {
		t.Errorf("a gradient that is too large for numbers: %v", err)
	}
	if tuned, _ := (SVGD{}).Memory(100, 7); tuned != 8 {
		t.Errorf("a rate that is found holds %d numbers", tuned)
	}
	if tuned, scratch := (SVGD{Rate: 1}).Memory(100, 7); tuned != 0 || scratch != 100*100+4950 {
		t.Errorf("memory of %d and %d numbers", tuned, scratch)
	}
}
