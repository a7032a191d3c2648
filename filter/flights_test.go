package filter_test

import (
	"cmp"
	"io"
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/filter"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/scans"
	"github.com/starling-smc/starling/ssm"
)

// flightsModel is that of the preset flights.
var flightsModel = ssm.Student{
	Interval: 86400, Degrees: 0.8, Location: 4, LogScale: 0.5, Initial: ssm.Initial{Mean: []float64{-2, 1.3}, SD: []float64{4, 0.5}},
}

// Real data, against numerical integration: SMCMC and a bootstrap filter on the flights of 2013. With 20 seeds the error of the mean
// of each coordinate on each day, divided by its standard error, has Student's law with 19 degrees of freedom: of 40 numbers one is
// above 9 with probability 1.1e-6. A filter whose means are wrong by two standard deviations of one run's mean is found: a fifth
// of the posterior's.
func TestFlightsAgree(t *testing.T) {
	testkit.Statistics(t)
	list := flights(t, 10)
	exact, chain, particles := threeWays(t, list, 20, 500, 10_000)
	for k := range list {
		for name, got := range map[string][]estimate{"SMCMC": chain[k], "bootstrap": particles[k]} {
			for c := range 2 {
				mean, se := meanError(got, c)
				if z := (mean - exact[k].mean[c]) / se; !(math.Abs(z) <= 9) {
					t.Errorf("day %d, coordinate %d: %s %v, the integral %v: %.1f standard errors",
						k+1, c, name, mean, exact[k].mean[c], z)
				}
				sd := 0.0
				for _, e := range got {
					sd += e.sd[c] / float64(len(got))
				}
				if ratio := sd / exact[k].sd[c]; !(ratio > 0.8 && ratio < 1.2) {
					t.Errorf("day %d, coordinate %d: the sd of %s is %v of the integral's", k+1, c, name, ratio)
				}
			}
		}
	}
}

// threeWays filters scans with several seeds, by SMCMC and by a bootstrap filter, and integrates.
func threeWays(t *testing.T, list []*ssm.Scan, seeds, smcmc, bootstrap int) (exact []estimate, chain, particles [][]estimate) {
	t.Helper()
	method := filter.SMCMC{Particles: smcmc, Burn: 500, Repeat: 1, Index: filter.ExactIndex{}, Refine: filter.Walk{SD: filter.Adapted}}
	return integrate(t, flightsModel, list), runs(t, method, list, seeds), runs(t, filter.Bootstrap{Particles: bootstrap}, list, seeds)
}

// TestFlightsTable compares the two filters with each other and with the integrals, on all days, with ten seeds, as many particles as the
// preset and 10⁵ in the bootstrap filter, and prints tables. It fails where SMCMC differs by more than 6
// standard errors from the integral, or from a bootstrap filter that is left with two effective particles in each of its runs: with
// fewer it knows nothing. Of 730 numbers by Student's law with nine degrees, one is above 6 with probability .14.
func TestFlightsTable(t *testing.T) {
	testkit.Takes(t, 30)
	list := flights(t, 365)
	exact, chain, particles := threeWays(t, list, 10, 2000, 100_000)
	type row struct {
		day, c                     int
		between, ofChain, ofWeight float64 // in standard errors
		ess                        float64
	}
	var rows []row
	for k := range list {
		ess := math.Inf(1)
		for _, e := range particles[k] {
			ess = min(ess, e.ess)
		}
		for c := range 2 {
			a, sa := meanError(chain[k], c)
			b, sb := meanError(particles[k], c)
			m := exact[k].mean[c]
			rows = append(rows, row{k + 1, c, (a - b) / math.Sqrt(sa*sa+sb*sb), (a - m) / sa, (b - m) / sb, ess})
		}
	}
	worst := func(what string, of func(r row) float64, use func(r row) bool) (above int) {
		n, square, top := 0, 0.0, 0.0
		for _, r := range rows {
			if use(r) {
				z := math.Abs(of(r))
				n, square, top = n+1, square+z*z, max(top, z)
				if !(z <= 6) {
					above++
				}
			}
		}
		t.Logf("%-40s %4d numbers, mean square %6.2f, largest %5.1f, above 6: %d", what, n, square/float64(n), top, above)
		return above
	}
	between := func(r row) float64 { return r.between }
	ofChain, ofWeight := func(r row) float64 { return r.ofChain }, func(r row) float64 { return r.ofWeight }
	always, sound := func(row) bool { return true }, func(r row) bool { return r.ess >= 2 }
	t.Log("errors in standard errors of ten seeds")
	worst("bootstrap against the integral", ofWeight, always)
	worst("the same where its ESS is at least 2", ofWeight, sound)
	worst("SMCMC against bootstrap", between, always)
	wrong := worst("SMCMC against the integral", ofChain, always) + worst("SMCMC against bootstrap, ESS at least 2", between, sound)
	if wrong > 0 {
		t.Errorf("%d numbers are wrong by more than 6 standard errors", wrong)
	}
	slices.SortFunc(rows, func(a, b row) int { return -cmp.Compare(math.Abs(a.between), math.Abs(b.between)) })
	for _, r := range rows[:12] {
		t.Logf("day %3d coordinate %d: SMCMC against bootstrap %6.1f, against the integral %6.1f and %6.1f; least ESS of the bootstrap filter %.1f",
			r.day, r.c, r.between, r.ofChain, r.ofWeight, r.ess)
	}
	for c, name := range []string{"location", "log scale"} {
		ratio := [2]float64{}
		for k := range list {
			for i, got := range [][]estimate{chain[k], particles[k]} {
				for _, e := range got {
					ratio[i] += e.sd[c] / exact[k].sd[c] / float64(len(got)*len(list))
				}
			}
		}
		t.Logf("sd of the %s, of the integral's: SMCMC %.3f, bootstrap %.3f", name, ratio[0], ratio[1])
	}
}

// flights returns the first days.
func flights(t *testing.T, days int) (list []*ssm.Scan) {
	t.Helper()
	source, err := scans.OpenSet("flights", "")
	if err != nil {
		t.Fatal(err)
	}
	for range days {
		rec, err := source.Next()
		if err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, &rec.Scan)
	}
	return list
}

// estimate is the mean and the sd of both coordinates, the effective sample size, and the log of the evidence of the day.
type estimate struct {
	mean, sd [2]float64
	ess      float64
	evidence float64     // nats
	info     filter.Info // of a filter
}

// meanError is the mean over seeds of a coordinate's mean, and its standard error.
func meanError(list []estimate, c int) (mean, se float64) {
	n := float64(len(list))
	for _, e := range list {
		mean += e.mean[c] / n
	}
	for _, e := range list {
		se += (e.mean[c] - mean) * (e.mean[c] - mean) / (n - 1)
	}
	return mean, math.Sqrt(se / n)
}

// runs filters the scans with several seeds: [scan][seed].
func runs(t *testing.T, m filter.Method, list []*ssm.Scan, seeds int) [][]estimate {
	t.Helper()
	out := make([][]estimate, len(list))
	for seed := range seeds {
		f, err := m.On(filter.Job{Model: flightsModel, Seed: uint64(seed)})
		if err != nil {
			t.Fatal(err)
		}
		st, err := f.Init(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for k, scan := range list {
			info, err := f.Step(t.Context(), st, scan)
			if err != nil {
				t.Fatalf("day %d: %v", k+1, err)
			}
			mean, cov := st.Moments()
			e := estimate{mean: [2]float64(mean), sd: [2]float64{math.Sqrt(cov[0]), math.Sqrt(cov[3])}, evidence: info.LogEvidence, info: info}
			if info.ESS != nil {
				e.ess = slices.Min(info.ESS)
			}
			out[k] = append(out[k], e)
		}
	}
	return out
}

// lattice is a law on a grid of the plane: weights sum to 1.
type lattice struct {
	x, y []float64
	w    []float64 // len(x) × len(y)
}

// span is n numbers evenly spaced over mean ± wide.
func span(mean, wide float64, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = mean + wide*(2*float64(i)/float64(n-1)-1)
	}
	return x
}

func (l *lattice) moments() (e estimate) {
	for pass := range 2 {
		for i, x := range l.x {
			for j, y := range l.y {
				w := l.w[i*len(l.y)+j]
				if pass == 0 {
					e.mean[0] += w * x
					e.mean[1] += w * y
				} else {
					e.sd[0] += w * (x - e.mean[0]) * (x - e.mean[0])
					e.sd[1] += w * (y - e.mean[1]) * (y - e.mean[1])
				}
			}
		}
	}
	e.sd[0], e.sd[1] = math.Sqrt(e.sd[0]), math.Sqrt(e.sd[1])
	return e
}

// weigh gives the lattice the weights of exp(log), and returns the logarithm of its integral.
func (l *lattice) weigh(log func(i, j int) float64) float64 {
	l.w = make([]float64, len(l.x)*len(l.y))
	top, sum := math.Inf(-1), 0.0
	for i := range l.x {
		for j := range l.y {
			v := log(i, j)
			l.w[i*len(l.y)+j], top = v, max(top, v)
		}
	}
	for i, v := range l.w {
		l.w[i] = math.Exp(v - top)
		sum += l.w[i]
	}
	for i := range l.w {
		l.w[i] /= sum
	}
	return top + math.Log(sum*(l.x[1]-l.x[0])*(l.y[1]-l.y[0]))
}

// predict returns the density of l after the two walks, on the lattice of x and y.
func (l *lattice) predict(x, y []float64, sd [2]float64) []float64 {
	kernel := func(to, from []float64, sd float64) []float64 {
		k := make([]float64, len(to)*len(from))
		for i, a := range to {
			for j, b := range from {
				u := (a - b) / sd
				k[i*len(from)+j] = math.Exp(-u*u/2) / (sd * math.Sqrt(2*math.Pi))
			}
		}
		return k
	}
	kx, ky := kernel(x, l.x, sd[0]), kernel(y, l.y, sd[1])
	half, out := make([]float64, len(x)*len(l.y)), make([]float64, len(x)*len(y))
	for i := range x {
		for k := range l.x {
			for j := range l.y {
				half[i*len(l.y)+j] += kx[i*len(l.x)+k] * l.w[k*len(l.y)+j]
			}
		}
		for j := range y {
			for k := range l.y {
				out[i*len(y)+j] += half[i*len(l.y)+k] * ky[j*len(l.y)+k]
			}
		}
	}
	return out
}

// integrate filters by sums over lattices: the trapezoidal rule, which is exact to many digits for smooth densities. The lattice of
// a day first surrounds the maximum of the likelihood, and then twice the moments that were found.
func integrate(t *testing.T, m ssm.Student, list []*ssm.Scan) (out []estimate) {
	t.Helper()
	now := &lattice{x: span(m.Initial.Mean[0], 7*m.Initial.SD[0], 61), y: span(m.Initial.Mean[1], 7*m.Initial.SD[1], 61)}
	now.weigh(func(i, j int) float64 {
		u, v := (now.x[i]-m.Initial.Mean[0])/m.Initial.SD[0], (now.y[j]-m.Initial.Mean[1])/m.Initial.SD[1]
		return -(u*u + v*v) / 2
	})
	for _, scan := range list {
		like, err := m.Bind(scan)
		if err != nil {
			t.Fatal(err)
		}
		e := peak(scan.Values, m.Degrees)
		var next *lattice
		for _, wide := range []float64{12, 8, 7} {
			const points = 61
			next = &lattice{x: span(e.mean[0], wide*e.sd[0], points), y: span(e.mean[1], wide*e.sd[1], points)}
			prior := now.predict(next.x, next.y, [2]float64{m.Location, m.LogScale})
			evidence := next.weigh(func(i, j int) float64 {
				return math.Log(prior[i*len(next.y)+j]) + like.LogLik([]float64{next.x[i], next.y[j]}, nil)
			})
			e = next.moments()
			e.evidence = evidence
		}
		now, out = next, append(out, e)
	}
	return out
}

// peak is the maximum of a Student likelihood, by the EM algorithm, with standard deviations from its Fisher information.
func peak(z []float64, degrees float64) estimate {
	n := float64(len(z))
	location, square := slices.Sorted(slices.Values(z))[len(z)/2], 100.0
	for range 500 {
		weight := func(v float64) float64 { return (degrees + 1) / (degrees + (v-location)*(v-location)/square) }
		sum, mean, spread := 0.0, 0.0, 0.0
		for _, v := range z {
			sum += weight(v)
			mean += weight(v) * v
			spread += weight(v) * (v - location) * (v - location)
		}
		location, square = mean/sum, spread/n
	}
	return estimate{
		mean: [2]float64{location, math.Log(square) / 2},
		sd:   [2]float64{math.Sqrt(square * (degrees + 3) / (degrees + 1) / n), math.Sqrt((degrees + 3) / (2 * degrees) / n)},
	}
}
