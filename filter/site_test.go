package filter

import (
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/dense"
	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/numeral"
)

// near compares lists of numbers to the tolerance of the golden values.
func near(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	for i, v := range got {
		if !golden.Near(v, want[i], 1e-9, 1e-11) {
			t.Errorf("%s: number %d is %v, want %v", what, i, v, want[i])
		}
	}
}

// inverse is that of a positive definite d×d matrix.
func inverse(t *testing.T, m []float64, d int) []float64 {
	t.Helper()
	l, out := slices.Clone(m), make([]float64, d*d)
	if !dense.Cholesky(l, d) {
		t.Fatal("not positive definite")
	}
	for i := range d {
		out[i*d+i] = 1
		dense.Solve(l, out[i*d:(i+1)*d])
	}
	return out
}

// siteWith is the site with a mean and a covariance, about an origin.
func siteWith(t *testing.T, l law, origin []float64) Site {
	t.Helper()
	d := len(origin)
	s := Site{origin, make([]float64, d), inverse(t, l.cov, d)}
	dev := make([]float64, d)
	for i := range dev {
		dev[i] = l.mean[i] - origin[i]
	}
	dense.MulVec(s.Gradient, s.Precision, dev)
	return s
}

// natural is r = g + Λ o.
func (s Site) natural() []float64 {
	r := make([]float64, len(s.Gradient))
	dense.MulVec(r, s.Precision, s.Origin)
	for i, g := range s.Gradient {
		r[i] += g
	}
	return r
}

type matrices [][][]numeral.Number

func flatten(rows [][]numeral.Number) (out []float64) {
	for _, row := range rows {
		out = append(out, plain(row)...)
	}
	return out
}

func plain(list []numeral.Number) (out []float64) {
	for _, v := range list {
		out = append(out, float64(v))
	}
	return out
}

// Sites, their products, and the product without one, against values computed elsewhere, whatever the origins are.
func TestGoldenSites(t *testing.T) {
	found := 0
	for _, c := range golden.Read(t, "ep.json") {
		if c.Kind != "ep_product" {
			continue
		}
		found++
		var in struct {
			Means [][]numeral.Number
			Covs  matrices
		}
		var want struct {
			Eta1             [][]numeral.Number
			Precision        matrices
			ProductEta1      []numeral.Number   `json:"product_eta1"`
			ProductPrecision [][]numeral.Number `json:"product_precision"`
			ProductMean      []numeral.Number   `json:"product_mean"`
			CavityMean       []numeral.Number   `json:"cavity_without_0_mean"`
			CavityCov        [][]numeral.Number `json:"cavity_without_0_cov"`
		}
		decode(t, c.Inputs, &in)
		decode(t, c.Expected, &want)
		var sites []Site
		d := len(in.Means[0])
		for i, mean := range in.Means {
			origin := make([]float64, d)
			for k := range origin {
				origin[k] = 0.3*float64(i) - 0.7*float64(k)
			}
			s := siteWith(t, law{plain(mean), flatten(in.Covs[i])}, origin)
			near(t, c.Name+": r", s.natural(), plain(want.Eta1[i]))
			near(t, c.Name+": Λ", s.Precision, flatten(want.Precision[i]))
			sites = append(sites, s)
		}
		all := product(sites, -1, make([]float64, d))
		near(t, c.Name+": r of the product", all.gradient, plain(want.ProductEta1))
		near(t, c.Name+": Λ of the product", all.precision, flatten(want.ProductPrecision))
		mean := make([]float64, d)
		dense.MulVec(mean, inverse(t, all.precision, d), all.gradient)
		near(t, c.Name+": mean of the product", mean, plain(want.ProductMean))
		rest := product(sites, 0, nil) // about the origin of site 1
		cov := inverse(t, rest.precision, d)
		dense.MulVec(mean, cov, rest.gradient)
		for i := range mean {
			mean[i] += rest.origin[i]
		}
		near(t, c.Name+": covariance without site 0", cov, flatten(want.CavityCov))
		near(t, c.Name+": mean without site 0", mean, plain(want.CavityMean))
	}
	if found == 0 {
		t.Error("no cases")
	}
	if product(make([]Site, 3), 1, nil) != nil {
		t.Error("sites that say nothing have a product")
	}
}

// The update (31) against values computed elsewhere: sites, also those that are not positive definite, and those without the coordinates that have no data.
func TestGoldenUpdate(t *testing.T) {
	found := 0
	for _, c := range golden.Read(t, "ep.json") {
		if c.Kind != "ep_update_eq31" {
			continue
		}
		found++
		var in struct {
			PostMean   []numeral.Number   `json:"post_mean"`
			PostCov    [][]numeral.Number `json:"post_cov"`
			PredMean   []numeral.Number   `json:"pred_mean"`
			PredCov    [][]numeral.Number `json:"pred_cov"`
			OtherMeans [][]numeral.Number `json:"other_means"`
			OtherCovs  matrices           `json:"other_covs"`
			Observed   []int              `json:"observed_dims"`
		}
		decode(t, c.Inputs, &in)
		var want struct {
			Eta1            []numeral.Number
			Precision       [][]numeral.Number
			Eigenvalues     []numeral.Number
			Positive        bool               `json:"positive_definite"`
			ZeroedPrecision [][]numeral.Number `json:"precision_velocity_zeroed"`
			ZeroedEta1      []numeral.Number   `json:"eta1_velocity_zeroed"`
		}
		decode(t, c.Expected, &want)
		d := len(in.PostMean)
		others := []Site{{}}
		for i, mean := range in.OtherMeans {
			others = append(others, siteWith(t, law{plain(mean), flatten(in.OtherCovs[i])}, make([]float64, d)))
		}
		predicted := law{plain(in.PredMean), flatten(in.PredCov)}
		spread, ok := dense.NewSemidefinite(predicted.cov, d)
		if !ok {
			t.Fatal("no covariance")
		}
		s, ok := siteOf(law{plain(in.PostMean), flatten(in.PostCov)}, predicted, spread, product(others, 0, predicted.mean), 1)
		if !ok {
			t.Fatal("no site")
		}
		near(t, c.Name+": r", s.natural(), plain(want.Eta1))
		near(t, c.Name+": Λ", s.Precision, flatten(want.Precision))
		values, _ := dense.Eigen(s.Precision, d)
		near(t, c.Name+": eigenvalues", values, plain(want.Eigenvalues))
		if in.Observed != nil {
			// r is about 0 there: the origin of what is left must not bring back the other coordinates.
			zero := make([]float64, d)
			some := Site{zero, s.natural(), s.Precision}.of(in.Observed).among(in.Observed, zero)
			near(t, c.Name+": Λ of coordinates with data", some.Precision, flatten(want.ZeroedPrecision))
			near(t, c.Name+": r of coordinates with data", some.natural(), plain(want.ZeroedEta1))
		}
		precision := slices.Clone(s.Precision)
		if s.repair(Clip{}) == want.Positive {
			t.Errorf("%s: repaired %v", c.Name, !want.Positive)
		}
		if values, _ := dense.Eigen(s.Precision, d); !(values[0] >= -1e-15) {
			t.Errorf("%s: eigenvalue %v after the repair", c.Name, values[0])
		}
		if want.Positive && !slices.Equal(precision, s.Precision) {
			t.Errorf("%s: a good site was changed", c.Name)
		}
	}
	if found < 3 {
		t.Errorf("%d cases", found)
	}
}

// Check 5: with exact moments of a Gaussian model each site is its likelihood after one pass, M_d H²/R and H Σz/R, every node's posterior
// is then that of all measurements, and a second pass changes nothing.
func TestGoldenExactMoments(t *testing.T) {
	found := 0
	for _, c := range golden.Read(t, "ep.json") {
		if c.Kind != "ep_linear_gaussian" {
			continue
		}
		found++
		var in struct {
			PredMean numeral.Number `json:"pred_mean"`
			PredVar  numeral.Number `json:"pred_var"`
			R        numeral.Number
			Parts    [][]numeral.Number
		}
		decode(t, c.Inputs, &in)
		var want struct {
			Precision []numeral.Number `json:"site_precision"`
			Eta1      []numeral.Number `json:"site_eta1"`
			Mean      numeral.Number   `json:"post_mean"`
			Var       numeral.Number   `json:"post_var"`
		}
		decode(t, c.Expected, &want)
		predicted := law{[]float64{float64(in.PredMean)}, []float64{float64(in.PredVar)}}
		spread, _ := dense.NewSemidefinite(predicted.cov, 1)
		sites := make([]Site, len(in.Parts))
		for range 2 {
			next := make([]Site, len(sites))
			for d, part := range in.Parts {
				// The node's own posterior: natural parameters add up.
				precision, r := 1/predicted.cov[0]+float64(len(part))/float64(in.R), predicted.mean[0]/predicted.cov[0]
				for _, z := range part {
					r += float64(z) / float64(in.R)
				}
				if q := product(sites, d, []float64{0}); q != nil {
					precision, r = precision+q.precision[0], r+q.gradient[0]
				}
				s, ok := siteOf(law{[]float64{r / precision}, []float64{1 / precision}}, predicted, spread, product(sites, d, predicted.mean), 1)
				if !ok || s.repair(Clip{}) {
					t.Fatal("no good site")
				}
				next[d] = s
				near(t, c.Name+": Λ", s.Precision, plain(want.Precision[d:d+1]))
				near(t, c.Name+": r", s.natural(), plain(want.Eta1[d:d+1]))
			}
			sites = next
		}
		for d, part := range in.Parts {
			q := product(sites, d, []float64{0})
			precision, r := 1/predicted.cov[0]+q.precision[0]+float64(len(part))/float64(in.R), predicted.mean[0]/predicted.cov[0]+q.gradient[0]
			for _, z := range part {
				r += float64(z) / float64(in.R)
			}
			near(t, c.Name+": posterior", []float64{r / precision, 1 / precision}, []float64{float64(want.Mean), float64(want.Var)})
		}
	}
	if found == 0 {
		t.Error("no cases")
	}
}

// SoftAbs against values computed elsewhere.
func TestGoldenSoftAbs(t *testing.T) {
	found := 0
	for _, c := range golden.Read(t, "ep.json") {
		if c.Kind != "softabs" {
			continue
		}
		found++
		var in struct {
			Matrix [][]numeral.Number
			Alpha  numeral.Number
		}
		var want struct {
			Matrix [][]numeral.Number
			Values []numeral.Number `json:"eigenvalues_softabs"`
		}
		decode(t, c.Inputs, &in)
		decode(t, c.Expected, &want)
		m := flatten(in.Matrix)
		d := len(in.Matrix)
		e, u := dense.Eigen(m, d)
		v := SoftAbs{float64(in.Alpha)}.values(e)
		got := make([]float64, d*d)
		for k := range v {
			for i := range d {
				for j := range d {
					got[i*d+j] += u[i*d+k] * v[k] * u[j*d+k]
				}
			}
		}
		near(t, c.Name+": the matrix", got, flatten(want.Matrix))
		slices.Sort(v)
		near(t, c.Name+": eigenvalues", v, plain(want.Values))
		if s := (Site{make([]float64, d), make([]float64, d), m}); e[0] < 0 {
			if !s.repair(SoftAbs{float64(in.Alpha)}) {
				t.Errorf("%s: not repaired", c.Name)
			}
			near(t, c.Name+": the site", s.Precision, flatten(want.Matrix))
		}
	}
	if found < 3 {
		t.Errorf("%d cases", found)
	}
}

// Check 8: a repair keeps the mean of the site, the solution of the system that was not positive definite, and coordinates without data stay
// without. SoftAbs is the absolute value for a large α, and the default α is large.
func TestRepairs(t *testing.T) {
	const d = 3
	origin := []float64{5, -2, 1e6}
	precision := []float64{2, 3, 0.5, 3, 1, -0.2, 0.5, -0.2, 4}
	e, _ := dense.Eigen(precision, d)
	if !(e[0] < 0 && e[1] > 0) {
		t.Fatalf("eigenvalues %v", e)
	}
	dev := []float64{0.5, 1, -2}
	for name, by := range map[string]Repair{"clip": Clip{}, "softabs": SoftAbs{}, "softabs, α": SoftAbs{1e4}} {
		s := Site{origin, make([]float64, d), slices.Clone(precision)}
		dense.MulVec(s.Gradient, precision, dev)
		if !s.repair(by) {
			t.Fatalf("%s: nothing repaired", name)
		}
		values, _ := dense.Eigen(s.Precision, d)
		if name == "clip" {
			// The direction that is left out says nothing; along the others the mean is what it was.
			want := []float64{0, e[1], e[2]}
			near(t, name+": eigenvalues", values, want)
		} else {
			want := []float64{math.Abs(e[0]), e[1], e[2]}
			slices.Sort(want)
			near(t, name+": eigenvalues", values, want)
		}
		again := make([]float64, d)
		dense.MulVec(again, s.Precision, dev)
		near(t, name+": Λ (μ − o)", s.Gradient, again)
		if s.repair(by) && name != "clip" { // what is clipped may be −1e-17
			t.Errorf("%s: repaired twice", name)
		}
		whole := s.of([]int{0, 1}).among([]int{0, 3}, []float64{5, 0, 0, -2, 0})
		for i := range 5 {
			for j := range 5 {
				if has := (i == 0 || i == 3) && (j == 0 || j == 3); has != (whole.Precision[i*5+j] != 0) {
					t.Errorf("%s: (%d, %d) is %v", name, i, j, whole.Precision[i*5+j])
				}
			}
		}
	}
}

// With Σ_f of rank 1 in two coordinates the site is that of the one number that is not known, and its product with the prediction has the
// posterior's moments there.
func TestSiteOfSingularPrediction(t *testing.T) {
	direction := []float64{1, 2}
	predicted := law{[]float64{3, -1}, []float64{1, 2, 2, 4}} // x = μ + direction·u, u ~ N(0, 1)
	spread, ok := dense.NewSemidefinite(predicted.cov, 2)
	if !ok || spread.Rank() != 1 {
		t.Fatal("not of rank 1")
	}
	const mean, variance = 0.7, 0.2 // of u
	posterior := law{[]float64{3 + mean, -1 + 2*mean}, []float64{variance, 2 * variance, 2 * variance, 4 * variance}}
	s, ok := siteOf(posterior, predicted, spread, nil, 1)
	if !ok {
		t.Fatal("no site")
	}
	precision, slope := 0.0, 0.0
	for i, a := range direction {
		slope += a * s.Gradient[i]
		for j, b := range direction {
			precision += a * s.Precision[i*2+j] * b
		}
	}
	near(t, "precision and slope of u", []float64{precision, slope}, []float64{1/variance - 1, mean / variance})
}

// Far from 0 a site has the digits that it has at 0, whatever the origins of the others.
func TestSitesFarFromOrigin(t *testing.T) {
	at := func(offset float64) (Site, *quadratic) {
		predicted := law{[]float64{offset + 1, offset - 2}, []float64{2, 0.5, 0.5, 1}}
		spread, _ := dense.NewSemidefinite(predicted.cov, 2)
		other := Site{[]float64{offset + 1.25, offset - 1.5}, []float64{0.5, -1}, []float64{3, 1, 1, 2}}
		q := product([]Site{{}, other}, 0, predicted.mean)
		s, ok := siteOf(law{[]float64{offset + 1.5, offset - 1.75}, []float64{0.2, 0.05, 0.05, 0.1}}, predicted, spread, q, 1)
		if !ok {
			t.Fatal("no site")
		}
		return s, q
	}
	s, q := at(0)
	far, r := at(1 << 40)
	near(t, "gradient", far.Gradient, s.Gradient)
	near(t, "precision", far.Precision, s.Precision)
	near(t, "gradient of the others", r.gradient, q.gradient)
}
