package mcmc

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
)

// quartic is −Σ(θ⁴/4 + θ²/2).
func quartic(theta, grad []float64) (l float64) {
	for i, x := range theta {
		l -= x*x*x*x/4 + x*x/2
		grad[i] = -x*x*x - x
	}
	return l
}

// Golden trajectories, with the target once all likelihood, once shared between a tempered likelihood and a prior, and
// as one particle of three, so that a wrong λ, a lost prior or a wrong row shows.
func TestLeapfrogGolden(t *testing.T) {
	raw, err := os.ReadFile("testdata/leapfrog.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			Name, Kind string
			Inputs     struct {
				Target struct {
					Type      string
					Precision [][]float64
					Mean      []float64
				}
				Theta0, P0 []float64
				Mass       []float64 `json:"mass_diag"`
				H          float64
				S          int
			}
			Expected struct {
				Theta, P, Grad0 []float64
				LogPi0, LogPi   float64
				Increment       float64 `json:"log_weight_increment"`
			}
		}
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	for _, c := range file.Cases {
		if c.Kind == "sghmc_epoch" { // TestEpochGolden has it
			continue
		}
		if c.Kind != "leapfrog" {
			t.Fatalf("unknown kind %q", c.Kind)
		}
		in, want := c.Inputs, c.Expected
		log := density(quartic)
		switch in.Target.Type {
		case "gaussian":
			log = gaussian(in.Target.Precision, in.Target.Mean)
		case "quartic":
		default:
			t.Fatalf("unknown target %q", in.Target.Type)
		}
		// Mass is the identity here: for a mass m, θ√m and p/√m travel as θ and p do.
		d, root := len(in.Theta0), make([]float64, len(in.Theta0))
		for i, m := range in.Mass {
			root[i] = math.Sqrt(m)
		}
		log = stretched(log, root)
		for name, target := range map[string]*Target{
			"likelihood": {Model: &model{d: d, log: log, factor: 1}, Prior: factorPrior{d, log, 0}, Lambda: 1},
			"shared":     {Model: &model{d: d, log: log, factor: 3}, Prior: factorPrior{d, log, 0.25}, Lambda: 0.25},
		} {
			t.Run(c.Name+"/"+name, func(t *testing.T) {
				from, to := NewPopulation(3, d, Needs{Gradient: true}), NewPopulation(3, d, Needs{Gradient: true})
				w := new(Work)
				w.Fit(&from)
				theta, momentum := from.row(from.Theta, 1), from.row(w.momentum, 1)
				for i, r := range root {
					theta[i], momentum[i] = in.Theta0[i]*r, in.P0[i]/r
				}
				if err := target.Evaluate(context.Background(), &from); err != nil {
					t.Fatal(err)
				}
				kinetic := Kinetic(momentum)
				if err := w.leapfrog(context.Background(), target, &from, &to, plain, in.H, in.S); err != nil {
					t.Fatal(err)
				}
				check := func(what string, got, want float64) {
					if !golden.Near(got, want, 1e-10, 1e-11) {
						t.Errorf("%s is %v, want %v", what, got, want)
					}
				}
				gradLP := make([]float64, d)
				target.Prior.LogDensity(from.row(from.Theta, 1), gradLP)
				for i, r := range root {
					check("θ", to.row(to.Theta, 1)[i]/r, want.Theta[i])
					check("p", momentum[i]*r, want.P[i])
					check("gradient", (target.Lambda*from.row(from.GradLL, 1)[i]+gradLP[i])*r, want.Grad0[i])
				}
				before, after := target.LogDensity(&from, 1), target.LogDensity(&to, 1)
				check("log π(θ₀)", before, want.LogPi0)
				check("log π(θ)", after, want.LogPi)
				check("increment", after-before-Kinetic(momentum)+kinetic, want.Increment)
				if got := target.Model.(*model).calls; got != 3*(in.S+1) {
					t.Errorf("%d evaluations of 3 particles in %d steps, want one to begin and one a step", got, in.S)
				}
			})
		}
	}
}

// stretched is the density in the coordinates θ·root.
func stretched(log density, root []float64) density {
	return func(x, grad []float64) float64 {
		theta := make([]float64, len(x))
		for i, r := range root {
			theta[i] = x[i] / r
		}
		l := log(theta, grad)
		for i, r := range root {
			grad[i] /= r
		}
		return l
	}
}

// Check 1 of data annealing: with the momentum turned round the way leads back. This holds in place too, where a
// trajectory begins and ends in the same population. Nothing is random here: the false-failure rate is 0.
func TestAnnealingCheck1LeapfrogIsReversible(t *testing.T) {
	ctx := context.Background()
	target := &Target{Model: &model{d: 2, log: quartic, factor: 1}, Prior: factorPrior{2, quartic, 0.5}, Lambda: 0.7}
	p := NewPopulation(2, 2, Needs{Gradient: true})
	copy(p.Theta, []float64{0.3, -0.8, 1.2, 0.1})
	start := append([]float64(nil), p.Theta...)
	w := new(Work)
	w.Fit(&p)
	momentum := w.momentum
	copy(momentum, []float64{0.4, 1.1, -0.6, 0.2})
	if err := target.Evaluate(ctx, &p); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := w.leapfrog(ctx, target, &p, &p, plain, 0.15, 7); err != nil {
			t.Fatal(err)
		}
		for i := range momentum {
			momentum[i] = -momentum[i]
		}
	}
	for i, want := range append(start, 0.4, 1.1, -0.6, 0.2) {
		if got := append(p.Theta[:4:4], momentum...)[i]; !golden.Near(got, want, 1e-12, 1e-12) {
			t.Errorf("number %d is %v after there and back, want %v", i, got, want)
		}
	}
}

// Check 1, continued: the map of θ and p has a Jacobian of determinant 1, by central differences of error 1e-9, and at a
// fixed length of the path half the step size divides the largest energy error by about 4.
func TestAnnealingCheck1VolumeAndOrder(t *testing.T) {
	ctx := context.Background()
	target := &Target{Model: &model{d: 2, log: quartic, factor: 1}, Prior: factorPrior{2, quartic, 0.5}, Lambda: 0.7}
	flow := func(x [4]float64, h float64, steps int) (end [4]float64, energy float64) {
		p, w := NewPopulation(1, 2, Needs{Gradient: true}), new(Work)
		w.Fit(&p)
		momentum := w.momentum
		copy(p.Theta, x[:2])
		copy(momentum, x[2:])
		if err := target.Evaluate(ctx, &p); err != nil {
			t.Fatal(err)
		}
		energy = target.LogDensity(&p, 0) - Kinetic(momentum)
		if err := w.leapfrog(ctx, target, &p, &p, plain, h, steps); err != nil {
			t.Fatal(err)
		}
		copy(end[:2], p.Theta)
		copy(end[2:], momentum)
		return end, energy - target.LogDensity(&p, 0) + Kinetic(momentum)
	}
	start := [4]float64{0.3, -0.8, 0.4, 1.1}
	for _, steps := range []int{1, 3, 5} {
		var m [4][4]float64
		for i := range start {
			const e = 1e-4
			right, left := start, start
			right[i] += e
			left[i] -= e
			a, _ := flow(right, 0.3, steps)
			b, _ := flow(left, 0.3, steps)
			for k := range a {
				m[i][k] = (a[k] - b[k]) / (2 * e)
			}
		}
		det := 1.0
		for i := range m { // no pivot vanishes here
			det *= m[i][i]
			for r := i + 1; r < 4; r++ {
				f := m[r][i] / m[i][i]
				for k := range m {
					m[r][k] -= f * m[i][k]
				}
			}
		}
		if !golden.Near(det, 1, 1e-6, 0) {
			t.Errorf("%d steps: determinant %v", steps, det)
		}
	}
	worst := func(h float64, steps int) (most float64) {
		for i := range 40 {
			x := [4]float64{math.Sin(float64(i)), math.Cos(float64(3 * i)), math.Sin(float64(5*i) + 1), math.Cos(float64(7 * i))}
			_, e := flow(x, h, steps)
			most = max(most, math.Abs(e))
		}
		return most
	}
	if ratio := worst(0.1, 8) / worst(0.05, 16); !(ratio > 3.5 && ratio < 4.5) {
		t.Errorf("half the step size divides the energy error by %v, want about 4", ratio)
	}
}
