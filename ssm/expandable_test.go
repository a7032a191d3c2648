package ssm

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/rng"
)

// withoutSeries names the models of the table whose likelihood is not Expandable: a filter evaluates all their measurements.
var withoutSeries []string

// expansionCase is a likelihood and a state near which its series is taken.
type expansionCase struct {
	name  string
	like  Expandable
	at    []float64
	scale []float64 // the size of a step, for each coordinate
}

// expansionCases has the examples of all models, and clutter with returns outside of its region and targets near to each other.
func expansionCases(t *testing.T) (list []expansionCase) {
	add := func(name string, like Likelihood, x []float64) {
		e, ok := like.(Expandable)
		if !ok {
			t.Fatalf("%s: the likelihood has no series: give it the methods of Expandable, or name it in withoutSeries", name)
		}
		list = append(list, expansionCase{name, e, x, slices.Repeat([]float64{1}, len(x))})
	}
	for _, m := range examples(60) {
		if slices.Contains(withoutSeries, Models.Name(m)) {
			continue
		}
		x, _, l := first(t, m)
		add(fmt.Sprintf("%T", m), l, x)
		if Models.Name(m) == "student" {
			list[len(list)-1].scale[1] = 0.2
		}
	}
	parts, x := partsCase(t)
	add("parts", parts, x)
	m := clutter3(0)
	m.Returns.Rate, m.Background.Rate = 40, 100
	x, values := sceneOf(t, m, 3)
	x[4], x[5] = x[0]+2.5, x[1]-1 // the second target beside the first
	for i := range 60 {
		values = append(values, x[4*(i%2)]+float64(i%7)/2-1.5, x[4*(i%2)+1]+float64(i%11)/4-1)
	}
	values = append(values, 101, 3, -104, 60, x[0], 130)
	add("clutter", bound(t, m, values), x)
	return list
}

// partsCase is a linear likelihood of measurements with one of two numbers.
func partsCase(t *testing.T) (Likelihood, []float64) {
	m := examples(1)[1].(LinearGaussian)
	s := rng.Key{Seed: 31, Purpose: rng.Synthetic}.Stream()
	scan := Scan{Width: 2, Parts: []Part{{Columns: []int{0}, Values: make([]float64, 20)}, {Columns: []int{1}, Values: make([]float64, 30)}}}
	for _, p := range scan.Parts {
		s.Normals(p.Values)
	}
	l, err := BindParts(m, &scan)
	if err != nil {
		t.Fatal(err)
	}
	return l, []float64{0.3, -0.5, 1}
}

// TestEveryModelHasASeries: a new model of the table has a series or is named as one without, and starts with known moments.
func TestEveryModelHasASeries(t *testing.T) {
	for _, m := range every(20) {
		name := Models.Name(m)
		_, _, l := first(t, m)
		_, expandable := l.(Expandable)
		_, informed := l.(Informed)
		if want := !slices.Contains(withoutSeries, name); expandable != want || informed != want {
			t.Errorf("%s: Expandable %v, Informed %v, want %v", name, expandable, informed, want)
		}
		g, ok := m.(GaussianStart)
		if !ok {
			t.Errorf("%s has no StartMoments", name)
			continue
		}
		mean, cov := g.StartMoments()
		if len(mean) != m.Dim() || len(cov) != m.Dim()*m.Dim() {
			t.Fatalf("%s: a mean of %d and a covariance of %d numbers", name, len(mean), len(cov))
		}
		if tr, err := m.Transition(Interval(m)); err != nil {
			t.Error(err)
		} else if _, ok := tr.(Gaussian); !ok {
			t.Errorf("%s: the transition is not Gaussian", name)
		}
		checkSamples(t, startLaw{m, cov}, mean, 20_000)
	}
}

// startLaw is the start as a step from its mean: N(I·mean, cov).
type startLaw struct {
	Model
	cov []float64
}

func (l startLaw) Sample(s *Stream, _, x []float64)  { l.Start(s, x) }
func (l startLaw) LogDensity(_, _ []float64) float64 { panic("not called") }
func (l startLaw) Gaussian() (a, q []float64) {
	d := l.Dim()
	a = make([]float64, d*d)
	for i := range d {
		a[i*d+i] = 1
	}
	return a, l.cov
}

// all returns the rows of a likelihood.
func all(l Likelihood) []int32 {
	rows := make([]int32, l.Len())
	for i := range rows {
		rows[i] = int32(i)
	}
	return rows
}

// shifted is x with h added to coordinate i.
func shifted(x []float64, i int, h float64) []float64 {
	y := slices.Clone(x)
	y[i] += h
	return y
}

// TestExpand: the value is the log-likelihood, the gradient its finite difference, in float64, and the Hessian that of the gradient.
func TestExpand(t *testing.T) {
	const h = 1e-4
	for _, c := range expansionCases(t) {
		rows := all(c.like)
		e, ok := c.like.Expand(c.at, 2)
		first, _ := c.like.Expand(c.at, 1)
		if !ok || e.Value != c.like.LogLik(c.at, nil) || first.Value != e.Value || !slices.Equal(first.Gradient, e.Gradient) || first.Hessian != nil {
			t.Errorf("%s: ok is %v, values %v and %v, gradients %v and %v", c.name, ok, e.Value, first.Value, e.Gradient, first.Gradient)
		}
		if e.Terms < int64(c.like.Len()-e.Bounded) || e.Terms > int64(2*c.like.Len()) {
			t.Errorf("%s: %d terms of %d", c.name, e.Terms, c.like.Len())
		}
		d := len(c.at)
		for i := range d {
			up, down := shifted(c.at, i, h), shifted(c.at, i, -h)
			slope := (c.like.LogLik(up, rows) - c.like.LogLik(down, rows)) / (2 * h)
			if !golden.Near(e.Gradient[i], slope, 1e-6, 2e-4) {
				t.Errorf("%s: gradient %d is %v, finite differences give %v", c.name, i, e.Gradient[i], slope)
			}
			eu, _ := c.like.Expand(up, 1)
			ed, _ := c.like.Expand(down, 1)
			for j := range d {
				bend := (eu.Gradient[j] - ed.Gradient[j]) / (2 * h)
				if !golden.Near(e.Hessian[i*d+j], bend, 1e-5, 1e-4) {
					t.Errorf("%s: second derivative %d, %d is %v, finite differences give %v", c.name, i, j, e.Hessian[i*d+j], bend)
				}
			}
		}
	}
}

// TestResiduals compares them with those of the log-likelihoods of rows, row by row in rising order, since the two number the rows in ways of
// their own, and with the difference of all rows, which the sums of the expansion and of the residuals make up.
func TestResiduals(t *testing.T) {
	const h = 1e-3
	s := rng.Key{Seed: 41, Purpose: rng.Synthetic}.Stream()
	for _, c := range expansionCases(t) {
		rows, d := all(c.like), len(c.at)
		for order := 1; order <= 2; order++ {
			e, _ := c.like.Expand(c.at, order)
			for k := range 5 {
				size := []float64{1e-3, 0.1, 0.5, 1, 3}[k]
				from, to := slices.Clone(c.at), slices.Clone(c.at)
				for i := range d {
					from[i] += size * c.scale[i] * s.Normal()
					to[i] += size * c.scale[i] * s.Normal()
				}
				if k == 1 {
					copy(to[d/2:], from[d/2:])
				}
				have := make([]float64, len(rows))
				c.like.Residuals(from, to, rows, have)
				sum, total := 0.0, 0.0
				for _, v := range have {
					sum += v
				}
				total = c.like.LogLik(to, rows) - c.like.LogLik(from, rows) - (proxyAt(e, c.at, to) - proxyAt(e, c.at, from))
				if !golden.Near(sum, total, 1e-9, 1e-5) {
					t.Errorf("%s, order %d, step %v: residuals sum to %v, want %v", c.name, order, size, sum, total)
				}
				want := make([]float64, len(rows))
				for i := range rows {
					one := rows[i : i+1]
					l := func(x []float64) float64 { return c.like.LogLik(x, one) }
					want[i] = l(to) - l(from)
					for a := range d {
						up, down := l(shifted(c.at, a, h)), l(shifted(c.at, a, -h))
						want[i] -= (up - down) / (2 * h) * (to[a] - from[a])
						if order == 1 {
							continue
						}
						for b := range d {
							bend := (up - 2*l(c.at) + down) / (h * h)
							if a != b {
								bend = (l(shifted(shifted(c.at, a, h), b, h)) - l(shifted(shifted(c.at, a, h), b, -h)) -
									l(shifted(shifted(c.at, a, -h), b, h)) + l(shifted(shifted(c.at, a, -h), b, -h))) / (4 * h * h)
							}
							want[i] -= bend / 2 * ((to[a]-c.at[a])*(to[b]-c.at[b]) - (from[a]-c.at[a])*(from[b]-c.at[b]))
						}
					}
				}
				slices.Sort(have)
				slices.Sort(want)
				for i, v := range have {
					if !golden.Near(v, want[i], 1e-4, 2e-5*(1+size*size)) {
						t.Fatalf("%s, order %d, step %v: residual %d is %v, want %v", c.name, order, size, i, v, want[i])
					}
				}
			}
		}
	}
}

// proxyAt is g·δ + δᵀHδ/2, the last for order 2.
func proxyAt(e Expansion, at, x []float64) float64 {
	sum, d := 0.0, len(at)
	for i, g := range e.Gradient {
		sum += g * (x[i] - at[i])
		for j := range d {
			if e.Hessian != nil {
				sum += (x[i] - at[i]) * e.Hessian[i*d+j] * (x[j] - at[j]) / 2
			}
		}
	}
	return sum
}

// TestCurvature is check 6 of sequential-mcmc-massive-data: what the series leaves of the term of a bounded row is at most Y r²/2, and of order 2
// Y r³/6, at distances r of all sizes.
func TestCurvature(t *testing.T) {
	s := rng.Key{Seed: 43, Purpose: rng.Synthetic}.Stream()
	for _, c := range expansionCases(t) {
		checkCurvature(t, s, c.name, c, slices.Repeat([]float64{1}, len(c.at)), c.like.Curvature)
		if l, ok := c.like.(Scaled); ok {
			l.Expand(c.at, 1)
			checkCurvature(t, s, c.name+", scaled", c, l.Scales(), l.ScaledCurvature)
		}
	}
}

// checkCurvature compares with a bound for distances in such lengths.
func checkCurvature(t *testing.T, s *Stream, name string, c expansionCase, lengths []float64, curvature func(order int, radius float64) float64) {
	t.Helper()
	informed := c.like.(Informed).Informed()
	for order := 1; order <= 2; order++ {
		e, _ := c.like.Expand(c.at, order)
		rows := all(c.like)[:e.Bounded]
		d, closest := make([]float64, len(rows)), 0.0
		for range 400 {
			x := slices.Clone(c.at)
			r, size := 0.0, math.Exp(6*s.Float64()-4)
			for _, i := range informed {
				step := size * s.Normal()
				x[i] += step * lengths[i]
				r += step * step
			}
			r = math.Sqrt(r)
			y := curvature(order, r)
			most := y * r * r / 2
			if order == 2 {
				most = y * r * r * r / 6
			}
			c.like.Residuals(c.at, x, rows, d)
			for i, v := range d {
				if !(math.Abs(v) <= most+1e-9) {
					t.Fatalf("%s, order %d: row %d leaves %v at %v, bound %v", name, order, i, v, r, most)
				}
				if most > 1e-9 {
					closest = max(closest, math.Abs(v)/most)
				}
			}
		}
		t.Logf("%s, order %d: at most %.2f of the bound", name, order, closest)
		if least := 0.05; closest < least && !(order == 2 && curvature(2, 0) == 0) {
			t.Errorf("%s, order %d: the largest residual is %v of the bound: it is no bound to work with", name, order, closest)
		}
	}
}

// TestScaledCurvature: where a measurement's scale is far from 1, the bound for a typical step of a filter, in both coordinates the same share of
// the scale, is far smaller in scaled units.
func TestScaledCurvature(t *testing.T) {
	for _, scale := range []float64{0.05, 20} {
		m := Student{Degrees: 0.8, Location: 1, LogScale: 1, Initial: Initial{make([]float64, 2), make([]float64, 2)}}
		l, err := m.Bind(&Scan{Width: 1, Values: []float64{1, 2, 3}})
		if err != nil {
			t.Fatal(err)
		}
		e := l.(Scaled)
		e.Expand([]float64{2, math.Log(scale)}, 2)
		lengths := e.Scales()
		if want := scale * math.Sqrt(0.8); !golden.Near(lengths[0], want, 1e-12, 0) || lengths[1] != 1 {
			t.Errorf("scales %v, want %v and 1", lengths, want)
		}
		const step = 0.05
		r, scaled := step*math.Hypot(lengths[0], 1), step*math.Sqrt2
		if plain, own := e.Curvature(2, r)*math.Pow(r, 3), e.ScaledCurvature(2, scaled)*math.Pow(scaled, 3); !(own < plain/100) {
			t.Errorf("scale %v: bounds of %v and, scaled, %v", scale, plain, own)
		}
	}
}

// TestTaylorGolden compares with values that were computed independently.
func TestTaylorGolden(t *testing.T) {
	for _, c := range golden.Read(t, "taylor.json") {
		switch c.Kind {
		case "taylor_gaussian":
			var in struct {
				R, Y     float64
				Z        []float64
				Plus     float64 `json:"x_plus"`
				Current  float64 `json:"x_current"`
				Proposed float64 `json:"x_proposed"`
			}
			var want struct {
				Gradient []float64 `json:"grad_at_plus"`
				Residual []float64
				Y        float64
			}
			if err := errors.Join(json.Unmarshal(c.Inputs, &in), json.Unmarshal(c.Expected, &want)); err != nil {
				t.Fatal(err)
			}
			m := LinearGaussian{A: [][]float64{{0.9}}, Q: [][]float64{{0.08}}, H: [][]float64{{1}}, R: [][]float64{{in.R}}}
			l, err := m.Bind(&Scan{Width: 1, Values: in.Z})
			if err != nil {
				t.Fatal(err)
			}
			checkTaylor(t, c.Name, l.(Expandable), []float64{in.Plus}, []float64{in.Current}, []float64{in.Proposed}, 1, rowSum(want.Gradient, 1), want.Residual)
			if y := l.(Expandable).Curvature(1, 5); !golden.Near(y, want.Y, 1e-12, 0) {
				t.Errorf("%s: Y = %v, want %v", c.Name, y, want.Y)
			}
		case "taylor_tracking":
			var in struct {
				LambdaX  float64 `json:"lambda_X"`
				LambdaC  float64 `json:"lambda_C"`
				Area     float64 `json:"A_c"`
				Z        [][2]float64
				Plus     [][2]float64 `json:"x_plus"`
				Current  [][2]float64 `json:"x_current"`
				Proposed [][2]float64 `json:"x_proposed"`
				Y        float64
			}
			var want struct {
				Gradient [][]float64 `json:"grad_at_plus"`
				Residual []float64
			}
			if err := errors.Join(json.Unmarshal(c.Inputs, &in), json.Unmarshal(c.Expected, &want)); err != nil {
				t.Fatal(err)
			}
			half := math.Sqrt(in.Area) / 2
			m := Clutter{Acceleration: 0.5, Returns: Returns{in.LambdaX, 1}, Background: Background{in.LambdaC, [4]float64{-half, half, -half, half}}}
			for range in.Plus {
				m.Initial = append(m.Initial, Initial{Mean: make([]float64, 4), SD: make([]float64, 4)})
			}
			var values []float64
			for _, z := range in.Z {
				values = append(values, z[:]...)
			}
			state := func(places [][2]float64) (x []float64) {
				for _, p := range places {
					x = append(x, p[0], p[1], 0, 0)
				}
				return x
			}
			l := bound(t, m, values)
			gradient := rowSum(slices.Concat(want.Gradient...), 2*len(in.Plus))
			wide := make([]float64, m.Dim())
			for i, v := range gradient {
				wide[i/2*4+i%2] = v
			}
			checkTaylor(t, c.Name, l, state(in.Plus), state(in.Current), state(in.Proposed), 1, wide, want.Residual)
			if y := l.Curvature(1, 5); !(y >= in.Y) {
				t.Errorf("%s: Y = %v is below that on the segments, %v", c.Name, y, in.Y)
			}
		default:
			t.Fatalf("unknown kind %s", c.Kind)
		}
	}
}

// rowSum sums rows of n numbers.
func rowSum(rows []float64, n int) []float64 {
	sum := make([]float64, n)
	for i, v := range rows {
		sum[i%n] += v
	}
	return sum
}

// checkTaylor compares the gradient, and the residuals in rising order.
func checkTaylor(t *testing.T, name string, l Expandable, at, from, to []float64, order int, gradient, residuals []float64) {
	t.Helper()
	e, ok := l.Expand(at, order)
	if !ok {
		t.Errorf("%s: no series", name)
	}
	for i, v := range gradient {
		if !golden.Near(e.Gradient[i], v, 1e-7, 1e-7) {
			t.Errorf("%s: gradient %v, want %v", name, e.Gradient, gradient)
		}
	}
	have, want := make([]float64, l.Len()), slices.Clone(residuals)
	l.Residuals(from, to, all(l), have)
	slices.Sort(have)
	slices.Sort(want)
	for i, v := range want {
		if !golden.Near(have[i], v, 1e-7, 1e-7) {
			t.Errorf("%s: residual %d is %v, want %v", name, i, have[i], v)
		}
	}
}

// TestSmallSteps: the residual of a step far below the rounding errors of the terms is its derivative times the step, so that chains near x⁺ lose
// no digits. Subtracted terms would leave an error of 1e-3 here.
func TestSmallSteps(t *testing.T) {
	const h = 1e-5
	s := rng.Key{Seed: 47, Purpose: rng.Synthetic}.Stream()
	for _, c := range expansionCases(t) {
		rows := all(c.like)
		d, up, down := make([]float64, len(rows)), make([]float64, len(rows)), make([]float64, len(rows))
		for order := 1; order <= 2; order++ {
			c.like.Expand(c.at, order)
			for range 5 {
				from, to, wide, back := slices.Clone(c.at), slices.Clone(c.at), slices.Clone(c.at), slices.Clone(c.at)
				size := 0.0
				for i := range from {
					from[i] += 0.5 * c.scale[i] * s.Normal()
					to[i] = from[i] + 1e-12*s.Normal()
					size = max(size, math.Abs(to[i]-from[i]))
				}
				for i := range from {
					wide[i], back[i] = from[i]+(to[i]-from[i])/size*h, from[i]-(to[i]-from[i])/size*h
				}
				c.like.Residuals(from, to, rows, d)
				c.like.Residuals(from, wide, rows, up)
				c.like.Residuals(from, back, rows, down)
				for i, v := range d {
					if want := (up[i] - down[i]) / (2 * h); !golden.Near(v/size, want, 1e-6, 1e-5) {
						t.Fatalf("%s, order %d: row %d leaves %v a unit of the step, want %v", c.name, order, i, v/size, want)
					}
				}
			}
		}
	}
}

// TestResidualsAllocateNothing: they are called with a few rows, very often.
func TestResidualsAllocateNothing(t *testing.T) {
	for _, c := range expansionCases(t) {
		c.like.Expand(c.at, 2)
		to, rows := shifted(c.at, 0, 0.1), all(c.like)
		d := make([]float64, len(rows))
		if n := testing.AllocsPerRun(10, func() { c.like.Residuals(c.at, to, rows, d) }); n != 0 {
			t.Errorf("%s: %v allocations", c.name, n)
		}
	}
}

// TestRangeBearingBounds: there is no bound where the ball holds a sensor that measured, or a position opposite to a bearing; a sensor that measured
// nothing does not matter; and there is no series at a sensor.
func TestRangeBearingBounds(t *testing.T) {
	m := RangeBearing{Acceleration: 1, Sensors: [][2]float64{{0, 0}, {100, 0}}, SDRange: 1, SDBearing: 0.1, Initial: Initial{make([]float64, 4), make([]float64, 4)}}
	for _, c := range []struct {
		values []float64
		at     [4]float64
		radius float64
		finite bool
	}{
		{[]float64{0, 10, 0.1}, [4]float64{10, 0, 0, 0}, 9.9, true},
		{[]float64{0, 10, 0.1}, [4]float64{10, 0, 0, 0}, 10, false},
		{[]float64{0, 10, 0.1}, [4]float64{99, 0, 0, 0}, 5, true},
		{[]float64{0, 10, 0.1, 1, 3, 0}, [4]float64{99, 0, 0, 0}, 5, false},
		{[]float64{0, 10, 3}, [4]float64{10, 0, 0, 0}, 1, true},
		{[]float64{0, 10, 3}, [4]float64{10, 0, 0, 0}, 2, false},
	} {
		l, err := m.Bind(&Scan{Width: 3, Values: c.values})
		if err != nil {
			t.Fatal(err)
		}
		e := l.(Expandable)
		if _, ok := e.Expand(c.at[:], 1); !ok {
			t.Errorf("%+v: no series", c)
		}
		for order := 1; order <= 2; order++ {
			if y := e.Curvature(order, c.radius); math.IsInf(y, 1) == c.finite || !(y > 0) {
				t.Errorf("%+v, order %d: a bound of %v", c, order, y)
			}
		}
		if _, ok := e.Expand(make([]float64, 4), 1); ok {
			t.Errorf("%+v: a series at the sensor", c)
		}
	}
}

// TestRangeBearingTurns: residuals follow the bearing's density where it is wrapped, also to a position from which the difference jumps by a turn.
func TestRangeBearingTurns(t *testing.T) {
	m := RangeBearing{Acceleration: 1, Sensors: [][2]float64{{0, 0}}, SDRange: 1, SDBearing: 0.3, Initial: Initial{make([]float64, 4), make([]float64, 4)}}
	l, err := m.Bind(&Scan{Width: 3, Values: []float64{0, 10, 3.1, 0, 9, -3.1, 0, 9.5, 0.05, 0, 10.5, 1.6}})
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range [][]float64{{10, 0, 0, 0}, {-10, 0.1, 0, 0}, {0.1, -10, 0, 0}} {
		e, _ := l.(Expandable).Expand(at, 2)
		d := make([]float64, 4)
		for _, move := range [][2]float64{{0, 1}, {0, -1}, {0.3, 0.2}, {0, 0.3}, {0, -0.3}} {
			to := []float64{at[0] + move[0], at[1] + move[1], 0, 0}
			l.(Expandable).Residuals(at, to, all(l), d)
			sum := proxyAt(e, at, to)
			for _, v := range d {
				sum += v
			}
			if want := l.LogLik(to, nil) - l.LogLik(at, nil); !golden.Near(sum, want, 1e-10, 1e-9) {
				t.Errorf("from %v by %v: %v, want %v", at, move, sum, want)
			}
		}
	}
}
