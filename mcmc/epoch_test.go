package mcmc

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/rng"
)

// linear is a regression y ~ N(xθ, noise) on rows of examples.
type linear struct {
	x     [][]float64
	y     []float64
	noise float64
}

func (m linear) Dim() int      { return len(m.x[0]) }
func (m linear) Examples() int { return len(m.y) }
func (m linear) LogLik(_ context.Context, rows []int32, theta, ll, grad []float64) error {
	if rows == nil {
		for i := range m.y {
			rows = append(rows, int32(i))
		}
	}
	d := m.Dim()
	clear(grad)
	for j := range ll {
		ll[j] = 0
		for _, i := range rows {
			r := m.y[i]
			for k, x := range m.x[i] {
				r -= x * theta[j*d+k]
			}
			ll[j] -= 0.5*r*r/m.noise + 0.5*math.Log(2*math.Pi*m.noise)
			for k, x := range m.x[i] {
				if grad != nil {
					grad[j*d+k] += r * x / m.noise
				}
			}
		}
	}
	return nil
}

// epochCase is the golden trajectory and its target.
func epochCase(t *testing.T) (target *Target, batches [][]int32, h float64, theta, p, wantTheta, wantP []float64) {
	t.Helper()
	raw, err := os.ReadFile("testdata/leapfrog.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			Kind   string
			Inputs struct {
				X          [][]float64
				Y          []float64
				Sigma2     float64
				Variance   float64 `json:"prior_var"`
				Batches    [][]int32
				Eps        float64
				Theta0, R0 []float64
			}
			Expected struct{ Theta, R []float64 }
		}
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	for _, c := range file.Cases {
		if c.Kind == "sghmc_epoch" {
			in, d := c.Inputs, len(c.Inputs.Theta0)
			sd := slices.Repeat([]float64{math.Sqrt(in.Variance)}, d)
			target = &Target{Model: linear{in.X, in.Y, in.Sigma2}, Prior: normal{make([]float64, d), sd}, Lambda: 1}
			return target, in.Batches, in.Eps, in.Theta0, in.R0, c.Expected.Theta, c.Expected.R
		}
	}
	t.Fatal("no golden epoch")
	panic("unreachable")
}

// travelled returns where a trajectory through batches ends.
func travelled(t *testing.T, target *Target, batches [][]int32, h float64, theta, p []float64) (at, momentum []float64) {
	t.Helper()
	d := len(theta)
	w, pop := new(Work), NewPopulation(1, d, Needs{})
	w.Shape(&pop)
	at, momentum = slices.Clone(theta), slices.Clone(p)
	own := &epochWork{gradient: make([]float64, d), ll: make([]float64, 1), logLik: target.Model.LogLik}
	if err := (Epoch{Step: h}).trajectory(t.Context(), w, target, batches, at, momentum, own); err != nil {
		t.Fatal(err)
	}
	return at, momentum
}

func near(t *testing.T, what string, got, want []float64, tol float64) {
	t.Helper()
	for i := range want {
		if !golden.Near(got[i], want[i], tol, tol) {
			t.Errorf("%s: number %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

func TestEpochGolden(t *testing.T) {
	target, batches, h, theta, p, wantTheta, wantP := epochCase(t)
	at, momentum := travelled(t, target, batches, h, theta, p)
	near(t, "θ", at, wantTheta, 1e-12)
	near(t, "p", momentum, wantP, 1e-12)
}

// Check 1: one batch of all examples is a leapfrog of the target; kicks and drifts of the same list backwards lead back to the start.
func TestEpochCheck1(t *testing.T) {
	target, batches, h, theta, p, _, _ := epochCase(t)
	all := slices.Concat(batches...)
	d := len(theta)
	from, to := NewPopulation(1, d, Needs{Gradient: true}), NewPopulation(1, d, Needs{Gradient: true})
	var w Work
	w.Fit(&from)
	copy(from.Theta, theta)
	copy(w.momentum, p)
	if err := target.Evaluate(t.Context(), &from); err != nil {
		t.Fatal(err)
	}
	if err := w.leapfrog(t.Context(), target, &from, &to, plain, h, 1); err != nil {
		t.Fatal(err)
	}
	at, momentum := travelled(t, target, [][]int32{all}, h, theta, p)
	near(t, "θ of a leapfrog", at, to.Theta, 1e-12)
	near(t, "p of a leapfrog", momentum, w.momentum, 1e-12)

	h = 0.1
	at, momentum = travelled(t, target, batches, h, theta, p)
	for i := range momentum {
		momentum[i] = -momentum[i]
	}
	own := &epochWork{gradient: make([]float64, d), ll: make([]float64, 1), logLik: target.Model.LogLik}
	kick := func(rows []int32, h float64) {
		if err := w.kickBy(t.Context(), target, rows, h, at, momentum, own); err != nil {
			t.Fatal(err)
		}
	}
	last := len(batches) - 1
	kick(batches[last], h/2)
	for i := last; i >= 0; i-- {
		for k, v := range momentum {
			at[k] += h * v
		}
		if kick(batches[i], h); i == 0 {
			kick(batches[0], -h/2)
		}
	}
	near(t, "θ after the way back", at, theta, 1e-12)
	for i := range momentum {
		momentum[i] = -momentum[i]
	}
	near(t, "p after the way back", momentum, p, 1e-12)
}

// Check 2: the mean score of the batches of a partition into equal sizes is the score of all; a shorter batch counts by its own size.
func TestEpochCheck2(t *testing.T) {
	target, batches, _, theta, _, _, _ := epochCase(t)
	target.Lambda = 0.7
	d := len(theta)
	w, pop := new(Work), NewPopulation(1, d, Needs{})
	w.Shape(&pop)
	score := func(rows []int32) []float64 {
		s, own := make([]float64, d), &epochWork{gradient: make([]float64, d), ll: make([]float64, 1), logLik: target.Model.LogLik}
		if err := w.kickBy(t.Context(), target, rows, 1, theta, s, own); err != nil {
			t.Fatal(err)
		}
		return s
	}
	sum := make([]float64, d)
	for _, b := range batches {
		for i, s := range score(b) {
			sum[i] += s / float64(len(batches))
		}
	}
	near(t, "mean score", sum, score(slices.Concat(batches...)), 1e-12)
	cut := cutBatches(slices.Concat(batches...), 5)
	if len(cut) != 3 || len(cut[2]) != 2 {
		t.Fatalf("batches %v", cut)
	}
	clear(sum)
	for _, b := range cut {
		for i, s := range score(b) {
			sum[i] += s * float64(len(b)) / 12
		}
	}
	near(t, "weighted mean of unequal batches", sum, score(slices.Concat(batches...)), 1e-12)
}

// Check 4: the Jacobian of the map has determinant 1 for any list of batches.
func TestEpochCheck4(t *testing.T) {
	target, _, _, theta, p, _, _ := epochCase(t)
	stream := rng.Key{Seed: 3}.Stream()
	for range 5 {
		order := stream.Subset(nil, 12, 12)
		batches := cutBatches(order, 1+int(stream.Float64()*6))
		d, eps := len(theta), 1e-4
		at := slices.Concat(theta, p)
		jacobian := make([][]float64, 2*d)
		for i := range at {
			way := func(sign float64) []float64 {
				x := slices.Clone(at)
				x[i] += sign * eps
				a, b := travelled(t, target, batches, 0.15, x[:d], x[d:])
				return slices.Concat(a, b)
			}
			up, down := way(1), way(-1)
			for k := range up {
				jacobian[i] = append(jacobian[i], (up[k]-down[k])/(2*eps))
			}
		}
		if det := determinant(jacobian); !golden.Near(det, 1, 1e-8, 0) {
			t.Errorf("%d batches: determinant %v", len(batches), det)
		}
	}
}

// determinant eliminates with pivots. It changes m.
func determinant(m [][]float64) float64 {
	det := 1.0
	for i := range m {
		best := i
		for r := i; r < len(m); r++ {
			if math.Abs(m[r][i]) > math.Abs(m[best][i]) {
				best = r
			}
		}
		if best != i {
			m[i], m[best] = m[best], m[i]
			det = -det
		}
		det *= m[i][i]
		for r := i + 1; r < len(m); r++ {
			f := m[r][i] / m[i][i]
			for c := i; c < len(m); c++ {
				m[r][c] -= f * m[i][c]
			}
		}
	}
	return det
}

// However many particles move at the same time, their bytes are the same; with orders of their own particles differ in their batches.
func TestEpochTogether(t *testing.T) {
	target, _, _, _, _, _, _ := epochCase(t)
	run := func(m Epoch, few int) ([]float64, Outcome) {
		p := NewPopulation(5, 3, Needs{})
		rng.Key{Seed: 8}.Stream().Normals(p.Theta)
		if err := target.Evaluate(t.Context(), &p); err != nil {
			t.Fatal(err)
		}
		var w Work
		out, err := m.mutate(t.Context(), &w, target, &p, at(4, 2), few)
		if err != nil {
			t.Fatal(err)
		}
		return p.Theta, out
	}
	want, wantOut := run(Epoch{Batch: 5, Step: 0.1}, 5)
	if !all(wantOut.Gradients, 12+2) || !all(wantOut.Values, 12) || wantOut.Leapfrogs != 3 {
		t.Errorf("%+v", wantOut)
	}
	for few := 1; few < 5; few++ {
		got, out := run(Epoch{Batch: 5, Step: 0.1}, few)
		if !slices.Equal(got, want) || !slices.Equal(out.Energy, wantOut.Energy) {
			t.Errorf("%d at a time: %v, want %v", few, got, want)
		}
	}
	own, _ := run(Epoch{Batch: 5, Step: 0.1, Order: ownOrder}, 1)
	if !slices.Equal(own[:3], want[:3]) || slices.Equal(own[3:6], want[3:6]) {
		t.Errorf("orders of their own: %v, shared: %v", own, want)
	}
}

// recorded is a model that notes the mini-batches whose gradients it computes.
type recorded struct {
	linear
	batches *[][]int32
}

func (m recorded) LogLik(ctx context.Context, rows []int32, theta, ll, grad []float64) error {
	if grad != nil {
		*m.batches = append(*m.batches, slices.Clone(rows))
	}
	return m.linear.LogLik(ctx, rows, theta, ll, grad)
}

// An epoch takes each of the target's examples exactly once, where all examples belong to the target and where a part of them does. Another
// iteration has another order, and so has another particle if particles have orders of their own; if they share it, all have the same.
// 12 examples have 12! orders, 7 have 7!: with fair orders two of them are equal by chance with a probability of at most 2e-4, for the one
// seed that is fixed here.
func TestEpochOrder(t *testing.T) {
	target, _, _, _, _, _, _ := epochCase(t)
	for _, rows := range [][]int32{nil, {10, 2, 3, 5, 7, 8, 11}} {
		n := 12
		if rows != nil {
			n = len(rows)
		}
		want := make([]int32, n)
		for i := range want {
			if want[i] = int32(i); rows != nil {
				want[i] = rows[i]
			}
		}
		slices.Sort(want)
		// orders are those of the particles of an iteration, put together from the batches of the S+1 gradients of each.
		orders := func(m Epoch, iteration int) (orders [][]int32) {
			var batches [][]int32
			one := *target
			one.Rows, one.Model = rows, recorded{target.Model.(linear), &batches}
			p := NewPopulation(3, 3, Needs{})
			rng.Key{Seed: 8}.Stream().Normals(p.Theta)
			if err := one.Evaluate(t.Context(), &p); err != nil {
				t.Fatal(err)
			}
			var w Work
			if _, err := m.mutate(t.Context(), &w, &one, &p, at(4, iteration), 1); err != nil {
				t.Fatal(err)
			}
			gradients := (n-1)/m.Batch + 2
			if len(batches) != 3*gradients {
				t.Fatalf("%d gradients, want %d of each particle", len(batches), gradients)
			}
			for part := range slices.Chunk(batches, gradients) {
				if !slices.Equal(part[gradients-1], part[gradients-2]) {
					t.Errorf("the closing half kick is by %v, the last batch is %v", part[gradients-1], part[gradients-2])
				}
				order := slices.Concat(part[:gradients-1]...)
				if orders = append(orders, order); !slices.Equal(slices.Sorted(slices.Values(order)), want) {
					t.Errorf("the order %v is not one of %v", order, want)
				}
			}
			return orders
		}
		shared, own := Epoch{Batch: 5, Step: 0.1}, Epoch{Batch: 5, Step: 0.1, Order: ownOrder}
		first, second := orders(shared, 1), orders(shared, 2)
		if slices.Equal(first[0], second[0]) {
			t.Errorf("iterations 1 and 2 have the same order %v", first[0])
		}
		if !slices.Equal(first[0], first[1]) || !slices.Equal(first[0], first[2]) {
			t.Errorf("a shared order differs between particles: %v", first)
		}
		first, second = orders(own, 1), orders(own, 2)
		all := slices.Concat(first, second)
		for i, a := range all {
			for _, b := range all[:i] {
				if slices.Equal(a, b) {
					t.Errorf("of three particles and two iterations with orders of their own two have the same: %v", a)
				}
			}
		}
	}
}

// After a move the population has the log-likelihood of all examples at the place of each particle. Weights read it: that of a
// mini-batch would be another number.
func TestEpochLikelihood(t *testing.T) {
	target, _, _, _, _, _, _ := epochCase(t)
	for _, order := range []string{sharedOrder, ownOrder} {
		p := NewPopulation(4, 3, Needs{})
		rng.Key{Seed: 8}.Stream().Normals(p.Theta)
		if err := target.Evaluate(t.Context(), &p); err != nil {
			t.Fatal(err)
		}
		before := slices.Clone(p.LL)
		var w Work
		if _, err := (Epoch{Batch: 5, Step: 0.1, Order: order}).Mutate(t.Context(), &w, target, &p, nil, at(4, 2)); err != nil {
			t.Fatal(err)
		}
		want, m := make([]float64, p.J), target.Model.(linear)
		for j := range want { // the sum over examples by hand
			for i, y := range m.y {
				r := y
				for k, x := range m.x[i] {
					r -= x * p.Theta[j*p.D+k]
				}
				want[j] -= 0.5*r*r/m.noise + 0.5*math.Log(2*math.Pi*m.noise)
			}
			if want[j] == before[j] {
				t.Errorf("particle %d has not moved", j)
			}
		}
		near(t, "log-likelihood, order "+order, p.LL, want, 1e-12)
	}
}

// The energy error is that of all examples, and a trajectory that diverges leaves the particle where it was, dead.
func TestEpochEnergy(t *testing.T) {
	target, _, _, _, _, _, _ := epochCase(t)
	p := NewPopulation(2, 3, Needs{})
	rng.Key{Seed: 9}.Stream().Normals(p.Theta)
	if err := target.Evaluate(t.Context(), &p); err != nil {
		t.Fatal(err)
	}
	before := slices.Clone(p.Theta)
	start := [2]float64{target.LogDensity(&p, 0), target.LogDensity(&p, 1)}
	var w Work
	small := Epoch{Batch: 12, Step: 1e-9}
	out, err := small.Mutate(t.Context(), &w, target, &p, nil, at(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "ΔH of no step", out.Energy, []float64{0, 0}, 1e-6)
	if out, err = (Epoch{Batch: 4, Step: 1e200}).Mutate(t.Context(), &w, target, &p, nil, at(1, 1)); err != nil || out.Divergent != 2 || !math.IsInf(out.Energy[0], 1) {
		t.Fatalf("%+v, %v", out, err)
	}
	near(t, "θ of a dead particle", p.Theta, before, 1e-6)
	if math.Abs(target.LogDensity(&p, 0)-start[0]) > 1e-6 {
		t.Error("values of a dead particle are not those of its place")
	}
}

func TestEpochSettings(t *testing.T) {
	for _, c := range []struct {
		move Epoch
		want string
	}{
		{Epoch{Batch: 5}, "step: needs a step"}, {Epoch{Batch: 5, Step: -1}, "step: want a number above 0, have -1"},
		{Epoch{Batch: 5, Step: math.NaN()}, "step: want a number above 0, have NaN"}, {Epoch{Step: 1}, "batch: needs a batch"},
		{Epoch{Batch: -2, Step: 1}, "batch: want at least 1, have -2"}, {Epoch{Batch: 2, Step: 1, Order: "onw"}, `order: unknown name "onw": did you mean "own"?`},
	} {
		if err := config.Check(c.move); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s", c.move, err, c.want)
		}
	}
	f := config.NewFaults()
	if (Epoch{Batch: 13, Step: 1}).CheckWith(12, 3, f); len(f.All()) != 1 {
		t.Error("a batch above the examples is taken")
	}
	if len((Epoch{Batch: 12}).Findings(12)) != 1 || len((Epoch{Batch: 11}).Findings(12)) != 0 {
		t.Error("one batch is not said")
	}
}
