package paper

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/mcmc"
)

// The mixture is that of the reference values, also far from it, and so are the probabilities of the modes.
func TestMixtureGolden(t *testing.T) {
	for _, c := range golden.Read(t, "gmm25.json") {
		var in struct{ Points [][]float64 }
		var want struct {
			Logpdf []float64
			Grad   [][]float64
			Cell   [][]float64 `json:"nearest_centre_cell_prob"`
			Cov    [][]float64
		}
		for raw, to := range map[*json.RawMessage]any{&c.Inputs: &in, &c.Expected: &want} {
			if err := json.Unmarshal(*raw, to); err != nil {
				t.Fatal(err)
			}
		}
		for i, p := range in.Points {
			grad := make([]float64, 2)
			if got := logMixture(p, grad); !golden.Near(got, want.Logpdf[i], 1e-12, 1e-12) {
				t.Errorf("%v: log-density %v, want %v", p, got, want.Logpdf[i])
			}
			for k, g := range grad {
				if !golden.Near(g, want.Grad[i][k], 1e-10, 1e-10) {
					t.Errorf("%v: gradient %v, want %v", p, grad, want.Grad[i])
				}
			}
		}
		for i, p := range modeLaw() {
			if !golden.Near(p, want.Cell[i/5][i%5], 1e-12, 1e-12) {
				t.Errorf("mode %d has probability %v, want %v", i, p, want.Cell[i/5][i%5])
			}
		}
		if !golden.Near(secondMoment, want.Cov[0][0], 1e-12, 0) {
			t.Errorf("second moment %v, want %v", secondMoment, want.Cov)
		}
	}
	for _, flat := range []bool{false, true} {
		m := mixture{flat: flat}
		if err := mcmc.CheckGradient(t.Context(), m, m); err != nil {
			t.Error(err)
		}
	}
	var sum float64
	for _, p := range gridLaw() {
		sum += p
	}
	if outside := 2 * 0.4 * 0.5 * math.Erfc(2/math.Sqrt(0.6)) / 2; !golden.Near(1-sum, 1-(1-outside)*(1-outside), 1e-3, 1e-9) {
		t.Errorf("the grid has probability %v", sum)
	}
}

// Momentum weights find every mode with its mass, the means, the second moments 8.3 and the width of the modes, in small runs: Student's
// t with 23 degrees exceeds 8.1 in any of 30 figures once in 10⁶. Bootstrap weights fail by far: they lose modes where the likelihood is the
// mixture over the start's law, and make every mode too narrow where it is the mixture.
func TestMixtureWeights(t *testing.T) {
	testkit.Statistics(t)
	law, small := modeLaw(), mixtureScale{200, 80, 40}
	runs := func(kind mixtureWeights, n int) (all []mixtureRun) {
		for seed := range uint64(n) {
			r, err := small.run(t.Context(), kind, seed, nil)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, *r)
		}
		return all
	}
	all := runs(mixtureKinds[0], 24)
	is := func(what string, truth float64, of func(r mixtureRun) float64) {
		mean, variance := moments(all, of)
		if se := math.Sqrt(variance / 24); !(math.Abs(mean-truth) < 8.1*se) || 8.1*se > 0.3*max(truth, 2) {
			t.Errorf("%s: %v ± %v, want %v", what, mean, se, truth)
		}
	}
	for m, p := range law {
		is("a mode, in units of its mass", 1, func(r mixtureRun) float64 { return r.Shares[m] / p })
	}
	for axis := range 2 {
		is("mean", 0, func(r mixtureRun) float64 { return r.Mean[axis] })
		is("second moment", 8.3, func(r mixtureRun) float64 { return r.Second[axis] })
	}
	is("variance in a mode", modeWidth(), func(r mixtureRun) float64 { return r.Width })
	score := scoreMixture("momentum", all)
	if score.Modes != 25 || score.LargestT > 8.1 {
		t.Errorf("%+v", score)
	}

	lost, narrow := scoreMixture("bootstrap", runs(mixtureKinds[1], 4)), scoreMixture("bootstrap, flat prior", runs(mixtureKinds[2], 4))
	if lost.Modes > 8 || lost.Variation < 2*score.Variation || lost.Second[0] < 12 {
		t.Errorf("bootstrap weights: %d modes, total variation %v, second moment %v", lost.Modes, lost.Variation, lost.Second)
	}
	if narrow.Width > 0.75*modeWidth() || narrow.Variation < 1.3*score.Variation {
		t.Errorf("bootstrap weights on a flat prior: modes of variance %v, total variation %v", narrow.Width, narrow.Variation)
	}
}

// The chi-square of shares of independent draws is one on 24 degrees, and the draws that a run is worth are those draws.
func TestMixtureChiSquare(t *testing.T) {
	const n, each = 400, 5000
	law := modeLaw()
	var runs []mixtureRun
	stream := rng.Key{Seed: 3}.Stream()
	for range n {
		var r mixtureRun
		for range each {
			u, m := stream.Float64(), 0
			for ; m < len(law)-1 && u >= law[m]; m++ {
				u -= law[m]
			}
			r.Shares[m] += 1.0 / each
		}
		runs = append(runs, r)
	}
	s := scoreMixture("", runs)
	// The sd of chi-square is 7, so that 75 is beyond it once in 10⁶; of the draws it is √(2/24/400) = .0144 of them.
	if !(s.ChiSquare < 75 && s.ChiSquare > 3) || !golden.Near(float64(s.Effective), each, 0.075, 0) || s.Modes != 25 {
		t.Errorf("chi-square %v, worth %v draws, %d modes", s.ChiSquare, s.Effective, s.Modes)
	}
	shifted := slices.Clone(runs)
	for i := range shifted {
		shifted[i].Shares[7] += 0.004
		shifted[i].Shares[8] -= 0.004
	}
	// 400 runs of 5,000 draws see 2·.004²/.04 of them: 1,600 more
	if s := scoreMixture("", shifted); !golden.Near(float64(s.ChiSquare), 1624, 0.25, 0) || s.LargestT < 20 {
		t.Errorf("a tenth of a mode at another: chi-square %v, largest t %v", s.ChiSquare, s.LargestT)
	}
	if one := scoreMixture("", runs[:1]); !math.IsNaN(float64(one.ChiSquare)) || !math.IsNaN(float64(one.LargestT)) {
		t.Errorf("a single run has chi-square %v and t %v", one.ChiSquare, one.LargestT)
	}
}

// Total variation counts what lies outside of the grid, and its expectation for independent draws is as simulated (2 %: ten standard
// deviations).
func TestTotalVariation(t *testing.T) {
	for _, c := range []struct{ cells, law, want []float64 }{
		{[]float64{0.5, 0.5}, []float64{0.5, 0.5}, []float64{0}}, {[]float64{1, 0}, []float64{0, 1}, []float64{1}},
		{[]float64{0, 0}, []float64{0.5, 0.3}, []float64{0.8}}, {[]float64{0.5, 0.5}, []float64{0.4, 0.4}, []float64{0.2}},
	} {
		if got := totalVariation(c.cells, c.law); !golden.Near(got, c.want[0], 1e-12, 1e-12) {
			t.Errorf("%v and %v differ by %v, want %v", c.cells, c.law, got, c.want)
		}
	}
	const n = 40000
	law, cells, stream := gridLaw(), make([]float64, gridColumns*gridColumns), rng.Key{Seed: 5}.Stream()
	for range n {
		var at [2]int
		for i := range at {
			at[i] = gridCell(modeAt(stream.IntN(modesPerAxis)) + math.Sqrt(modeVariance)*stream.Normal())
		}
		if at[0] >= 0 && at[1] >= 0 {
			cells[at[1]*gridColumns+at[0]] += 1.0 / n
		}
	}
	if got, want := totalVariation(cells, law), independentVariation(law, n); !golden.Near(got, want, 0.02, 0) {
		t.Errorf("independent draws have total variation %v, expected %v", got, want)
	}
}

// The study has the same figures with any number of threads, a picture that is XML, and stops when it is told to.
func TestMixtureStudy(t *testing.T) {
	var lines int
	with := func(threads int) *mixtureShown {
		shown, err := mixtureStudy.Run(t.Context(), []uint64{1, 2}, true, mcmc.NewPool(threads), func(string) { lines++ })
		if err != nil {
			t.Fatal(err)
		}
		all := shown.(*mixtureShown)
		for i := range all.Weights {
			all.Weights[i].Seconds = 0
			for j := range all.Weights[i].Runs {
				all.Weights[i].Runs[j].Seconds = 0
			}
		}
		return all
	}
	one, two := with(1), with(2)
	if !reflect.DeepEqual(one, two) || lines != 12 {
		t.Errorf("%d lines; one thread\n%+v\ntwo\n%+v", lines, one, two)
	}
	var text bytes.Buffer
	if err := one.WriteText(&text); err != nil || !strings.Contains(text.String(), "200 particles, 80 iterations of which the first 40 are left out, 2 runs") {
		t.Errorf("%v: %s", err, text.String())
	}
	if charts, err := elements(one.Picture(), "svg"); charts != 5 || err != nil {
		t.Errorf("picture of %d elements svg: %v", charts, err)
	}
}

// elements counts the elements of that name in a picture.
func elements(svg []byte, name string) (int, error) {
	n := 0
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		switch token, err := d.Token(); {
		case errors.Is(err, io.EOF):
			return n, nil
		case err != nil:
			return n, err
		default:
			if begin, ok := token.(xml.StartElement); ok && begin.Name.Local == name {
				n++
			}
		}
	}
}
