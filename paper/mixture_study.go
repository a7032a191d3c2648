package paper

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/starling-smc/starling/internal/chart"
	"github.com/starling-smc/starling/internal/table"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/uq"
)

var mixtureStudy = Study{Table: "smc-sghmc", Name: "mixture", Seeds: 10, Run: runMixture}

// mixtureShown is the mixture with every kind of weights.
type mixtureShown struct {
	Particles  int            `json:"particles"`
	Iterations int            `json:"iterations"`
	Warmup     int            `json:"warmup"`
	Law        shares         `json:"occupancy_of_the_mixture"`
	Weights    []mixtureScore `json:"weights"`
}

// mixtureScore is one kind of weights.
type mixtureScore struct {
	Name      string       `json:"weight"`
	Modes     int          `json:"modes"` // with at least half of their mass, in the mean over the runs
	Least     float64      `json:"least_share"`
	Most      float64      `json:"largest_share"`
	ChiSquare uq.Number    `json:"chi_square"`       // on 24 degrees
	Effective uq.Number    `json:"effective_draws"`  // of a run, by which ChiSquare is scaled
	LargestT  uq.Number    `json:"largest_t"`        // over the modes
	Mean      [2]float64   `json:"mean"`             // over the runs, as those below
	Second    [2]float64   `json:"second_moment"`    //
	SecondSE  [2]uq.Number `json:"second_moment_se"` // standard errors of Second
	Width     float64      `json:"mode_variance"`    //
	Variation float64      `json:"total_variation"`  // of a run
	ESS       float64      `json:"ess"`              //
	Resampled float64      `json:"resampled"`        //
	Seconds   float64      `json:"seconds"`          //
	Runs      []mixtureRun `json:"runs"`
}

func runMixture(ctx context.Context, seeds []uint64, reduced bool, pool *mcmc.Pool, told func(string)) (Shown, error) {
	scale := fullMixture
	if reduced {
		scale = mixtureScale{200, 80, 40}
	}
	shown := &mixtureShown{Particles: scale.particles, Iterations: scale.iterations, Warmup: scale.warmup, Law: modeLaw()}
	for _, kind := range mixtureKinds {
		var runs []mixtureRun
		for _, seed := range seeds {
			run, err := scale.run(ctx, kind, seed, pool)
			if err != nil {
				return nil, fmt.Errorf("mixture, weights %s, seed %d: %w", kind.name, seed, err)
			}
			told(fmt.Sprintf("mixture, weights %s, seed %d: %.1f s", kind.name, seed, run.Seconds))
			runs = append(runs, *run)
		}
		shown.Weights = append(shown.Weights, scoreMixture(kind.name, runs))
	}
	return shown, nil
}

// scoreMixture joins independent runs. With R runs, shares s_rm and their law p_m, let
//
//	B = Σ_r Σ_m (s_rm − s̄_m)²/p_m / (R−1),   M = R Σ_m (s̄_m − p_m)²/p_m.
//
// For shares of n independent draws both have expectation 24/n. The states of a run are not independent, so that n is taken from the
// runs: n = 24/B are the draws that a run is worth, and 24 M/B is a chi-square on 24 degrees where B is exact. t of a mode is s̄_m − p_m in
// standard errors from the runs: Student's, with R−1 degrees, whatever the correlations.
func scoreMixture(name string, runs []mixtureRun) mixtureScore {
	out, law, n := mixtureScore{Name: name, Runs: runs, Least: math.Inf(1)}, modeLaw(), float64(len(runs))
	var between, off, largest float64
	for m, p := range law {
		mean, variance := moments(runs, func(r mixtureRun) float64 { return r.Shares[m] })
		if mean >= p/2 {
			out.Modes++
		}
		out.Least, out.Most = min(out.Least, mean), max(out.Most, mean)
		between += variance / p
		off += n * (mean - p) * (mean - p) / p
		largest = max(largest, math.Abs(mean-p)/math.Sqrt(variance/n)) // NaN of a single run stays
	}
	degrees := float64(len(law) - 1)
	out.ChiSquare, out.Effective, out.LargestT = uq.Number(degrees*off/between), uq.Number(degrees/between), uq.Number(largest)
	for axis := range 2 {
		out.Mean[axis], _ = moments(runs, func(r mixtureRun) float64 { return r.Mean[axis] })
		second, variance := moments(runs, func(r mixtureRun) float64 { return r.Second[axis] })
		out.Second[axis], out.SecondSE[axis] = second, uq.Number(math.Sqrt(variance/n))
	}
	out.Width, _ = moments(runs, func(r mixtureRun) float64 { return r.Width })
	out.Variation, _ = moments(runs, func(r mixtureRun) float64 { return r.Variation })
	out.ESS, _ = moments(runs, func(r mixtureRun) float64 { return r.ESS })
	out.Resampled, _ = moments(runs, func(r mixtureRun) float64 { return float64(r.Resampled) })
	out.Seconds, _ = moments(runs, func(r mixtureRun) float64 { return r.Seconds })
	return out
}

// moments are the mean of a figure over the runs, and the variance of a run, NaN for a single one.
func moments(runs []mixtureRun, f func(mixtureRun) float64) (mean, variance float64) {
	n := float64(len(runs))
	for _, r := range runs {
		mean += f(r) / n
	}
	for _, r := range runs {
		variance += (f(r) - mean) * (f(r) - mean) / (n - 1)
	}
	if n == 1 {
		variance = math.NaN()
	}
	return mean, variance
}

// kept is the number of states of a run.
func (s *mixtureShown) kept() int { return s.Particles * (s.Iterations - s.Warmup) }

// WriteText implements Shown.
func (s *mixtureShown) WriteText(w io.Writer) error {
	t := table.Table{}
	row := func(name, law string, of func(k mixtureScore) string) {
		cells := []string{name}
		for _, k := range s.Weights {
			cells = append(cells, of(k))
		}
		t.Add(append(cells, law)...)
	}
	row("weights", "the mixture", func(k mixtureScore) string { return k.Name })
	row("modes", fmt.Sprint(len(s.Law)), func(k mixtureScore) string { return fmt.Sprint(k.Modes) })
	row("least share of a mode", "0.0400", func(k mixtureScore) string { return fmt.Sprintf("%.4f", k.Least) })
	row("largest share", "0.0400", func(k mixtureScore) string { return fmt.Sprintf("%.4f", k.Most) })
	row("chi-square", "24", func(k mixtureScore) string { return fmt.Sprintf("%.1f", k.ChiSquare) })
	row("largest |t|", none, func(k mixtureScore) string { return fmt.Sprintf("%.1f", k.LargestT) })
	row("draws worth", none, func(k mixtureScore) string { return fmt.Sprintf("%.0f", k.Effective) })
	for axis, name := range []string{"x", "y"} {
		row("mean of "+name, "0", func(k mixtureScore) string { return fmt.Sprintf("%.3f", k.Mean[axis]) })
		row("mean of "+name+"²", fmt.Sprint(secondMoment), func(k mixtureScore) string { return fmt.Sprintf("%.3f ± %.3f", k.Second[axis], k.SecondSE[axis]) })
	}
	row("variance in a mode", fmt.Sprintf("%.3f", modeWidth()), func(k mixtureScore) string { return fmt.Sprintf("%.3f", k.Width) })
	row("total variation", "0", func(k mixtureScore) string { return fmt.Sprintf("%.4f", k.Variation) })
	row("ESS", none, func(k mixtureScore) string { return fmt.Sprintf("%.0f", k.ESS) })
	row("resampled", none, func(k mixtureScore) string { return fmt.Sprintf("%.0f", k.Resampled) })
	row("seconds", none, func(k mixtureScore) string { return fmt.Sprintf("%.1f", k.Seconds) })
	if _, err := fmt.Fprintf(w, "A mixture of 25 normals (Millard, Zhao, Murphy, Maskell, Figure 1): %d particles, %d iterations of which the first %d are left out, %d runs\n\n",
		s.Particles, s.Iterations, s.Warmup, len(s.Weights[0].Runs)); err != nil {
		return err
	}
	if err := t.Write(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, `
modes: with at least half of their mass; a state counts for the nearest one
chi-square: of the modes' shares, on 24 degrees, scaled by the variance between runs, by which a run is worth so many independent draws
variance in a mode: mean squared distance from the nearest mode, on an axis
total variation: of a run from the mixture, on squares of side %v; that of %d independent draws is %.4f
ESS, resampled: mean over the kept iterations, and the number of all iterations that resampled
`, gridSide, s.kept(), independentVariation(gridLaw(), s.kept()))
	return err
}

// Picture implements Shown: the mixture, and the first run of each kind of weights.
func (s *mixtureShown) Picture() []byte {
	picture := func(id, title string, cells []float64) string {
		counts := make([]int, len(cells))
		for i, p := range cells {
			counts[i] = int(math.Round(p * float64(s.kept())))
		}
		axis := chart.Axis{Min: -gridEnd, Max: gridEnd}
		c := chart.Chart{ID: id, Title: title, Desc: title, X: axis, Y: axis, Equal: true, Height: chart.Width,
			Marks: []chart.Mark{chart.Cells{X: -gridEnd, Y: -gridEnd, Size: gridSide, Columns: gridColumns, Counts: counts}}}
		return string(c.SVG())
	}
	panels := []panel{{"the mixture", picture("law", "the mixture", gridLaw())}}
	for i, k := range s.Weights {
		panels = append(panels, panel{"weights: " + k.Name, picture(fmt.Sprint("w", i), k.Name, k.Runs[0].cells)})
	}
	return sideBySide(panels, len(panels), chart.Width, nil)
}
