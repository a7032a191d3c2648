package ssm

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/rng"
)

// examples are models with this number of measurements in a simulated scan, or of measurements of a sensor.
func examples(returns int) []Simulator {
	return []Simulator{
		scalar(returns),
		LinearGaussian{Interval: 0.5, A: [][]float64{{0.7, 0.3, 0}, {-0.2, 0.6, 0.1}, {0, 0.4, 0.5}},
			Q: [][]float64{{1, 0.3, 0}, {0.3, 0.5, -0.1}, {0, -0.1, 0.4}}, H: [][]float64{{1, 0, 0.5}, {0, 2, -1}},
			R: [][]float64{{2, -0.6}, {-0.6, 0.5}}, Returns: returns},
		Student{Degrees: 3, Location: 0.5, LogScale: 0.1, Initial: Initial{Mean: []float64{5, 0.7}, SD: []float64{1, 0.2}}, Returns: returns},
		RangeBearing{Acceleration: 0.5, Sensors: [][2]float64{{0, 0}, {100, 20}}, SDRange: 2, SDBearing: 0.03,
			Initial: Initial{Mean: []float64{50, 60, 1, -2}, SD: []float64{5, 5, 1, 1}}, Returns: returns},
	}
}

// every is examples and Clutter, whose likelihood has a part that belongs to no measurement, and is 0 for no state.
func every(returns int) []Simulator { return append(examples(returns), clutter3(0)) }

// scalar is Example 1 of the paper (spec 3.1).
func scalar(returns int) LinearGaussian {
	return LinearGaussian{A: [][]float64{{0.9}}, Q: [][]float64{{0.08}}, H: [][]float64{{1}}, R: [][]float64{{2}}, Returns: returns}
}

// first is the first scan of a scene, and its likelihood.
func first(t *testing.T, m Simulator) (truth []float64, scan Scan, l Likelihood) {
	t.Helper()
	scene := Scene{Model: m, Seed: 9}
	truth, scan, err := scene.Next()
	if err != nil {
		t.Fatal(err)
	}
	if l, err = m.Bind(&scan); err != nil {
		t.Fatal(err)
	}
	return truth, scan, l
}

// TestEveryModelHasAnExample: the tests below have a case for each row of the table.
func TestEveryModelHasAnExample(t *testing.T) {
	named := map[string]bool{}
	for _, m := range every(1) {
		named[Models.Name(m)] = true
		if err := config.Check(m); err != nil {
			t.Errorf("%T: %v", m, err)
		}
	}
	for _, name := range Models.Names() {
		if !named[name] {
			t.Errorf("no example of %s: add one to examples or every", name)
		}
	}
}

// direct are the log densities of the measurements of a scan, by their definitions and package math.
func direct(t *testing.T, m Model, scan *Scan, x []float64) (terms []float64) {
	t.Helper()
	for i := range scan.Len() {
		z := scan.Row(i)
		switch m := m.(type) {
		case LinearGaussian:
			terms = append(terms, normal(z, times(m.H, x), m.R))
		case Student:
			a, _ := math.Lgamma((m.Degrees + 1) / 2)
			b, _ := math.Lgamma(m.Degrees / 2)
			u := (z[0] - x[0]) / math.Exp(x[1])
			terms = append(terms, a-b-math.Log(m.Degrees*math.Pi)/2-x[1]-(m.Degrees+1)/2*math.Log1p(u*u/m.Degrees))
		case RangeBearing:
			s := m.Sensors[int(z[0])]
			dr := z[1] - math.Hypot(x[0]-s[0], x[1]-s[1])
			db := math.Remainder(z[2]-math.Atan2(x[1]-s[1], x[0]-s[0]), 2*math.Pi)
			terms = append(terms, normal([]float64{dr}, []float64{0}, [][]float64{{m.SDRange * m.SDRange}})+
				normal([]float64{db}, []float64{0}, [][]float64{{m.SDBearing * m.SDBearing}}))
		default:
			t.Fatalf("the test knows no density of %T", m)
		}
	}
	return terms
}

// normal is log N(z; mean, cov) for one or two numbers.
func normal(z, mean []float64, cov [][]float64) float64 {
	if len(z) == 1 {
		d := z[0] - mean[0]
		return -0.5 * (math.Log(2*math.Pi*cov[0][0]) + d*d/cov[0][0])
	}
	det := cov[0][0]*cov[1][1] - cov[0][1]*cov[1][0]
	a, b := z[0]-mean[0], z[1]-mean[1]
	return -0.5 * (2*math.Log(2*math.Pi) + math.Log(det) + (a*a*cov[1][1]-2*a*b*cov[0][1]+b*b*cov[0][0])/det)
}

// times is H x.
func times(h [][]float64, x []float64) []float64 {
	out := make([]float64, len(h))
	for i, row := range h {
		for j, v := range row {
			out[i] += v * x[j]
		}
	}
	return out
}

// TestLogLik compares with direct, for all rows, for a subset in any order, and for rows in another order, at the true state and
// at others. Float32 allows an error of 1e-6 a term.
func TestLogLik(t *testing.T) {
	for _, m := range examples(700) {
		x, scan, l := first(t, m)
		if l.Len() != scan.Len() {
			t.Errorf("%T: %d terms, want %d", m, l.Len(), scan.Len())
		}
		s := rng.Key{Seed: 10, Purpose: rng.Synthetic}.Stream()
		order := make([]int32, scan.Len())
		for i := range order {
			order[i] = int32(i)
		}
		rng.Shuffle(s, order)
		shuffled := Scan{Time: scan.Time, Width: scan.Width}
		for _, i := range order {
			shuffled.Values = append(shuffled.Values, scan.Row(int(i))...)
		}
		other, err := m.Bind(&shuffled)
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			sum, some := 0.0, 0.0
			terms := direct(t, m, &scan, x)
			for _, v := range terms {
				sum += v
			}
			for _, i := range order[:300] {
				some += terms[i]
			}
			tolerance := 1e-6 * float64(l.Len())
			if got := l.LogLik(x, nil); !golden.Near(got, sum, 1e-7, tolerance) {
				t.Errorf("%T: %v at %v, want %v", m, got, x, sum)
			}
			if got := other.LogLik(x, nil); !golden.Near(got, sum, 1e-7, tolerance) {
				t.Errorf("%T, in another order: %v at %v, want %v", m, got, x, sum)
			}
			if got := l.LogLik(x, order[:300]); !golden.Near(got, some, 1e-12, 1e-10) {
				t.Errorf("%T: %v for 300 rows, want %v", m, got, some)
			}
			if got := l.LogLik(x, []int32{}); got != 0 {
				t.Errorf("%T: %v without rows, want 0", m, got)
			}
			for i := range x {
				x[i] += 0.2 * s.Normal()
			}
		}
	}
}

// TestLogLikWithoutMeasurements: a scan without returns says nothing about the state.
func TestLogLikWithoutMeasurements(t *testing.T) {
	for _, m := range examples(1) {
		l, err := m.Bind(&Scan{Time: 1})
		if err != nil {
			t.Fatal(err)
		}
		if got := l.LogLik(make([]float64, m.Dim()), nil); got != 0 || l.Len() != 0 {
			t.Errorf("%T: %v of %d terms, want 0 of none", m, got, l.Len())
		}
	}
}

// TestImpossibleStates: where the state is not finite, the likelihood is 0 and never NaN.
func TestImpossibleStates(t *testing.T) {
	for _, m := range examples(10) {
		_, _, l := first(t, m)
		for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e308} {
			x := slices.Repeat([]float64{bad}, m.Dim())
			if got := l.LogLik(x, nil); got != math.Inf(-1) {
				t.Errorf("%T: %v at %v, want -Inf", m, got, bad)
			}
			if got := l.LogLik(x, []int32{3}); got != math.Inf(-1) {
				t.Errorf("%T: %v of one row at %v, want -Inf", m, got, bad)
			}
		}
	}
}

// TestMeasurementErrors: Bind names the first measurement that is none.
func TestMeasurementErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(-1)
	all := examples(1)
	for _, c := range []struct {
		model  Model
		width  int
		values []float64
		row    int
		want   string
	}{
		{all[0], 1, []float64{1, 2, nan}, 2, "measurement 3: number 1 is NaN, want a finite number"},
		{all[0], 2, []float64{1, 2}, 0, "measurement 1: has the length 2, want 1"},
		{all[1], 2, []float64{1, 2, 3, inf, nan, 4}, 1, "measurement 2: number 2 is -Inf, want a finite number"},
		{all[1], 2, []float64{1, 2, 3}, 1, "measurement 2: has the length 1, want 2"},
		{all[1], 0, []float64{1}, 0, "measurement 1: has the length 0, want 2"},
		{all[2], 1, []float64{nan}, 0, "measurement 1: number 1 is NaN, want a finite number"},
		{all[3], 3, []float64{0, 1, 2, 2, 1, 2}, 1, "measurement 2: sensor is 2, want the index of a sensor, 0 to 1"},
		{all[3], 3, []float64{0.5, 1, 2}, 0, "measurement 1: sensor is 0.5, want the index of a sensor, 0 to 1"},
		{all[3], 3, []float64{-1, 1, 2}, 0, "measurement 1: sensor is -1, want the index of a sensor, 0 to 1"},
		{all[3], 3, []float64{1, 0, 2}, 0, "measurement 1: range is 0, want a number above 0"},
		{all[3], 3, []float64{1, 5, 45}, 0, "measurement 1: bearing is 45, want radians from −π to π"},
	} {
		_, err := c.model.Bind(&Scan{Width: c.width, Values: c.values})
		var bad *MeasurementError
		if !errors.As(err, &bad) || bad.Row != c.row || err.Error() != c.want {
			t.Errorf("%T, %v: %v, want %s", c.model, c.values, err, c.want)
		}
	}
}

// TestTransitions: of every model, draws have the moments of Gaussian, and the density is the density of those moments, is
// largest at A·from and nowhere larger. Of each comparison of moments right code fails with a probability below 1e-7 (checkSamples).
func TestTransitions(t *testing.T) {
	s := rng.Key{Seed: 11, Purpose: rng.Synthetic}.Stream()
	for _, m := range every(1) {
		for _, n := range []float64{1, 3} {
			tr, err := m.Transition(n * Interval(m))
			if err != nil {
				t.Fatal(err)
			}
			g, bound := tr.(Gaussian), tr.(Bounded).MaxLogDensity()
			d := m.Dim()
			from, x, mode := make([]float64, d), make([]float64, d), make([]float64, d)
			s.Normals(from)
			checkSamples(t, g, from, 20_000)
			a, q := g.Gaussian()
			for i := range d {
				for j := range d {
					mode[i] += a[i*d+j] * from[j]
				}
			}
			if got := tr.LogDensity(from, mode); !golden.Near(got, bound, 0, 1e-9) {
				t.Errorf("%T: %v at the mode, want the bound %v", m, got, bound)
			}
			for range 200 {
				s.Normals(x)
				for i := range x {
					x[i] = mode[i] + 0.5*x[i]
				}
				got := tr.LogDensity(from, x)
				if want := density(x, mode, q); !golden.Near(got, want, 1e-11, 1e-10) || !(got <= bound) {
					t.Fatalf("%T: log density %v, want %v, at most %v", m, got, want, bound)
				}
			}
		}
	}
}

// TestBadSteps: a step that is no time is refused.
func TestBadSteps(t *testing.T) {
	for _, m := range every(1) {
		for _, dt := range []float64{0, -1, math.NaN(), math.Inf(1)} {
			if tr, err := m.Transition(dt); err == nil {
				t.Errorf("%T: takes a step of %v: %v", m, dt, tr)
			}
		}
	}
}

// TestChecks: what Check says of impossible settings.
func TestChecks(t *testing.T) {
	linear := func(change func(*LinearGaussian)) Model { m := scalar(1); change(&m); return m }
	student := func(change func(*Student)) Model { m := examples(1)[2].(Student); change(&m); return m }
	radar := func(change func(*RangeBearing)) Model { m := examples(1)[3].(RangeBearing); change(&m); return m }
	nan := math.NaN()
	for want, m := range map[string]Model{
		"a: want a list of rows, as in [[0.9]]":                                                 linear(func(m *LinearGaussian) { m.A = [][]float64{{}} }),
		"a: row 1, number of columns: want 1, have 2":                                           linear(func(m *LinearGaussian) { m.A = [][]float64{{1, 2}} }),
		"a: row 1, column 1: want a finite number, have NaN":                                    linear(func(m *LinearGaussian) { m.A = [][]float64{{nan}} }),
		"q: number of rows: want 1, have 2":                                                     linear(func(m *LinearGaussian) { m.Q = [][]float64{{1}, {2}} }),
		"q: want a positive semidefinite matrix: a covariance without an eigenvalue below 0":    linear(func(m *LinearGaussian) { m.Q = [][]float64{{-1}} }),
		"h: row 1, number of columns: want 1, have 2":                                           linear(func(m *LinearGaussian) { m.H = [][]float64{{1, 2}} }),
		"r: want a positive definite matrix: a covariance whose eigenvalues are above 0":        linear(func(m *LinearGaussian) { m.R = [][]float64{{-1}} }),
		"r: row 1, column 1: want a finite number, have +Inf":                                   linear(func(m *LinearGaussian) { m.R = [][]float64{{math.Inf(1)}} }),
		"r: want a symmetric matrix, have 1 in row 1, column 2, but 2 in row 2, column 1":       linear(func(m *LinearGaussian) { m.H, m.R = [][]float64{{1}, {1}}, [][]float64{{3, 1}, {2, 3}} }),
		"start: needs mean and sd: with this matrix a there is no stationary law to start from": linear(func(m *LinearGaussian) { m.A = [][]float64{{1}} }),
		"start.mean: length: want 1, for x1, have 2":                                            linear(func(m *LinearGaussian) { m.Initial = &Initial{[]float64{1, 2}, []float64{1}} }),
		"start.sd: number 1: want at least 0, have -1":                                          linear(func(m *LinearGaussian) { m.Initial = &Initial{[]float64{1}, []float64{-1}} }),
		"interval: want a number of seconds above 0, have -1":                                   linear(func(m *LinearGaussian) { m.Interval = -1 }),
		"returns: want at least 1, have -1":                                                     linear(func(m *LinearGaussian) { m.Returns = -1 }),
		"degrees: want a number above 0, at most 1e6, have NaN":                                 student(func(m *Student) { m.Degrees = nan }),
		"location: want a number above 0, have 0":                                               student(func(m *Student) { m.Location = 0 }),
		"log_scale: want a number above 0, have NaN":                                            student(func(m *Student) { m.LogScale = nan }),
		"start.mean: length: want 2, for location, log scale, have 0":                           student(func(m *Student) { m.Initial.Mean = nil }),
		"start.sd: number 2: want a finite number, have NaN":                                    student(func(m *Student) { m.Initial.SD[1] = nan }),
		"acceleration: want a number above 0, have 0":                                           radar(func(m *RangeBearing) { m.Acceleration = 0 }),
		"sensors: want the position of at least one sensor, as in [[0, 0]]":                     radar(func(m *RangeBearing) { m.Sensors = nil }),
		"sensors: sensor 0: want two finite numbers, have [NaN 0]":                              radar(func(m *RangeBearing) { m.Sensors = [][2]float64{{nan, 0}} }),
		"sd_range: want a number above 0, have -2":                                              radar(func(m *RangeBearing) { m.SDRange = -2 }),
		"sd_bearing: want radians above 0, at most 1, have 3":                                   radar(func(m *RangeBearing) { m.SDBearing = 3 }),
		"start.mean: length: want 4, for x, y, vx, vy, have 1":                                  radar(func(m *RangeBearing) { m.Initial.Mean = []float64{1} }),
	} {
		if err := config.Check(m); err == nil || err.Error() != want {
			t.Errorf("%T: %v, want %s", m, err, want)
		}
		if _, err := m.Transition(1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%T: a transition of impossible settings: %v, want %s", m, err, want)
		}
		if _, err := m.Bind(&Scan{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%T: a likelihood of impossible settings: %v, want %s", m, err, want)
		}
	}
}

// TestModelsInConfigs: each model is read from a config and written to one, with the defaults.
func TestModelsInConfigs(t *testing.T) {
	type settings struct {
		Model Model `yaml:"model"`
	}
	for text, want := range map[string]Model{
		"model: {linear_gaussian: {a: [[0.9]], q: [[0.08]], h: [[1]], r: [[2]], returns: 500}}": LinearGaussian{
			Interval: 1, A: [][]float64{{0.9}}, Q: [][]float64{{0.08}}, H: [][]float64{{1}}, R: [][]float64{{2}}, Returns: 500},
		"model: {linear_gaussian: {a: [[1]], q: [[0.08]], h: [[1]], r: [[2]], start: {mean: [0], sd: [2]}}}": LinearGaussian{
			Interval: 1, A: [][]float64{{1}}, Q: [][]float64{{0.08}}, H: [][]float64{{1}}, R: [][]float64{{2}}, Returns: 1,
			Initial: &Initial{[]float64{0}, []float64{2}}},
		"model: {student: {interval: 86400, location: 3, log_scale: 0.1, start: {mean: [0, 3], sd: [20, 1]}}}": Student{
			Interval: 86400, Degrees: 4, Location: 3, LogScale: 0.1, Initial: Initial{[]float64{0, 3}, []float64{20, 1}}, Returns: 1},
		"model: {range_bearing: {acceleration: 0.5, sensors: [[0, 0], [5, 1]], sd_range: 2, sd_bearing: 0.01, start: {mean: [1, 2, 0, 0], sd: [1, 1, 1, 1]}}}": RangeBearing{
			Interval: 1, Acceleration: 0.5, Sensors: [][2]float64{{0, 0}, {5, 1}}, SDRange: 2, SDBearing: 0.01,
			Initial: Initial{[]float64{1, 2, 0, 0}, []float64{1, 1, 1, 1}}, Returns: 1},
		"model: {clutter: {acceleration: 0.5, returns: {rate: 1500, sd: 1}, clutter: {rate: 4000, region: [-100, 100, -50, 50]}, " +
			"start: [{mean: [1, 2, 3, 4], sd: [1, 1, .5, .5]}, {mean: [0, 0, 0, 0], sd: [1, 1, 1, 1]}]}}": Clutter{
			Interval: 1, Acceleration: 0.5, Returns: Returns{1500, 1}, Background: Background{4000, [4]float64{-100, 100, -50, 50}},
			Initial: []Initial{{[]float64{1, 2, 3, 4}, []float64{1, 1, .5, .5}}, {[]float64{0, 0, 0, 0}, []float64{1, 1, 1, 1}}},
			Outside: "keep", Evaluate: "near"},
		"model: {clutter: {acceleration: 1, returns: {rate: 5, sd: 1}, clutter: {rate: 0}, " +
			"start: [{mean: [1, 2, 3, 4], sd: [0, 0, 0, 0]}], outside: drop, evaluate: all}}": Clutter{
			Interval: 1, Acceleration: 1, Returns: Returns{5, 1},
			Initial: []Initial{{[]float64{1, 2, 3, 4}, make([]float64, 4)}}, Outside: "drop", Evaluate: "all"},
	} {
		for range 2 {
			got, _, err := config.Parse[settings]("m.yaml", []byte(text), nil, Models)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if d := cmp.Diff(want, got.Model); d != "" {
				t.Errorf("%s (-want +got):\n%s", text, d)
			}
			text = string(config.Encode(got, Models))
		}
	}
	_, _, err := config.Parse[settings]("m.yaml", []byte("model: {student: {location: 1}}"), nil, Models)
	if want := "m.yaml:1:19: model.student: needs log_scale\nm.yaml:1:19: model.student: needs start"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// density is log N(x; mean, cov), with cov's inverse and determinant by elimination.
func density(x, mean, cov []float64) float64 {
	d := len(x)
	m, u := slices.Clone(cov), make([]float64, d)
	for i := range u {
		u[i] = x[i] - mean[i]
	}
	sum := float64(d) * math.Log(2*math.Pi)
	for i := range d {
		sum += math.Log(m[i*d+i]) + u[i]*u[i]/m[i*d+i]
		for j := i + 1; j < d; j++ {
			f := m[j*d+i] / m[i*d+i]
			u[j] -= f * u[i]
			for k := range d {
				m[j*d+k] -= f * m[i*d+k]
			}
		}
	}
	return -0.5 * sum
}
