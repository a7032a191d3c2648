package mcmc

import (
	"context"
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

// A move of SVGD is its formula, particle by particle and pair by pair, with the median of an even and of an odd number of distances.
func TestSVGDIsItsFormula(t *testing.T) {
	for _, c := range []struct{ j, d int }{{2, 1}, {3, 2}, {9, 1100}, {19, 5}} {
		target, p := svgdOf(c.j, c.d)
		theta, ll := slices.Clone(p.Theta), make([]float64, c.j)
		grad := make([]float64, c.j*c.d)
		if err := target.Model.LogLik(t.Context(), nil, theta, ll, grad); err != nil {
			t.Fatal(err)
		}
		square := func(i, j int) (s float64) {
			for k := range c.d {
				s += (theta[i*c.d+k] - theta[j*c.d+k]) * (theta[i*c.d+k] - theta[j*c.d+k])
			}
			return s
		}
		var distances []float64
		for i := range c.j {
			for j := range i {
				distances = append(distances, math.Sqrt(square(i, j)))
			}
		}
		slices.Sort(distances)
		n := len(distances)
		median := distances[n/2]
		if n%2 == 0 {
			median = (distances[n/2-1] + distances[n/2]) / 2
		}
		b := median * median / math.Log(float64(c.j)+1)
		var w Work
		const rate = 0.3
		out, err := SVGD{Rate: rate}.Mutate(t.Context(), &w, target, &p, nil, StepContext{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range c.j {
			for k := range c.d {
				x, phi := theta[i*c.d+k], 0.0
				for j := range c.j {
					y, kernel := theta[j*c.d+k], math.Exp(-square(i, j)/b)
					phi += kernel*(0.7*grad[j*c.d+k]-y/4) - 2/b*(y-x)*kernel
				}
				if want := x + rate*phi/float64(c.j); !golden.Near(p.Theta[i*c.d+k], want, 1e-10, 1e-10) {
					t.Fatalf("%+v: θ[%d, %d] becomes %v, want %v", c, i, k, p.Theta[i*c.d+k], want)
				}
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
	for _, rate := range []float64{0, -1, math.NaN(), math.Inf(1)} {
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
	if _, err := (SVGD{Rate: 10}).Mutate(t.Context(), &w, target, &p, nil, StepContext{}); err == nil || !strings.Contains(err.Error(), "SVGD diverged: parameter 0 of particle ") ||
		!strings.HasSuffix(err.Error(), "try a smaller rate than 10") {
		t.Errorf("a particle that leaves the numbers: %v", err)
	}
	if tuned, scratch := (SVGD{}).Memory(100, 7); tuned != 0 || scratch != 100*100+4950 {
		t.Errorf("memory of %d and %d numbers", tuned, scratch)
	}
}
