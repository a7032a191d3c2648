package paper

import (
	"context"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/table"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/smc"
	"github.com/starling-smc/starling/uq"
)

var toyStudy = Study{Table: "sbmc", Name: "toy", Seeds: 4, Run: runToy}

// toyShown are the targets and the chains on them.
type toyShown struct {
	MAP       [2]float64 `json:"map"`
	Gradients int        `json:"gradients"` // of a chain, half of them in its warm-up
	Targets   []toyScore `json:"targets"`
	Seconds   float64    `json:"seconds"`
}

// toyScore is a target with what quadrature and chains say of it.
type toyScore struct {
	toyTarget
	toyTruth
	Condition float64    `json:"condition_number"`           // at the MAP
	Formula   float64    `json:"condition_number_section_5"` // if the smallest curvature of the likelihood were 0
	Variation float64    `json:"total_variation"`            // from the posterior
	Moves     []toyMoves `json:"moves"`
}

// toyMoves are the chains of a move.
type toyMoves struct {
	Move      string    `json:"move"`
	IACT      uq.Number `json:"iact"`          // in states, of the slower coordinate; mean over the chains
	Cost      uq.Number `json:"gradients"`     // IACT in gradients
	Error     float64   `json:"error"`         // of a chain's mean of a coordinate, in its standard deviations: root of the mean square
	Crossings float64   `json:"crossings"`     // changes of the sign of θ₁ in 1,000 states, in the chain with fewest
	Known     bool      `json:"iact_is_known"` // every chain has 50 IACT states or more, and its means are where the IACT says that they are
	Chains    []toyRun  `json:"chains"`
}

// toyRun is a chain after its warm-up.
type toyRun struct {
	Seed      uint64       `json:"seed"`
	States    int          `json:"states"`
	Gradients int          `json:"gradients"`
	Mean      [2]float64   `json:"mean"`
	IACT      [2]uq.Number `json:"iact"` // of the coordinates
	Crossings int          `json:"crossings"`
	Enough    bool         `json:"enough"`
	ACF       []uq.Number  `json:"autocorrelation"` // of θ₁, from lag 0
}

// toyKernels are the moves of the chains, by default settings.
var toyKernels = []struct {
	name string
	move mcmc.Move
}{{"NUTS", mcmc.NUTS{}}, {"HMC", mcmc.HMC{}}}

const toyLags = 40 // of the autocorrelations

// toyFar is how many standard errors by its own IACT a chain's mean may lie from the mean by quadrature. A chain that goes from one arm to the
// other too seldom lies further.
const toyFar = 5

func runToy(ctx context.Context, seeds []uint64, reduced bool, pool *mcmc.Pool, told func(string)) (Shown, error) {
	begin := time.Now()
	shown := &toyShown{MAP: toyMAP(), Gradients: 100000}
	if reduced {
		shown.Gradients = 10000
	}
	for _, target := range toyTargets() {
		score := toyScore{toyTarget: target, toyTruth: target.truth()}
		score.Condition, score.Formula = target.condition(shown.MAP)
		if len(shown.Targets) > 0 {
			score.Variation = totalVariation(score.cells, shown.Targets[0].cells)
		}
		runs, errs := make([]toyRun, len(toyKernels)*len(seeds)), make([]error, len(toyKernels)*len(seeds))
		pool.Run(len(runs), func(i int) {
			runs[i], errs[i] = target.chain(ctx, toyKernels[i/len(seeds)].move, seeds[i%len(seeds)], shown.Gradients)
		})
		for _, err := range errs {
			if err != nil {
				return nil, fmt.Errorf("toy, %s: %w", target.name(), err)
			}
		}
		said := ""
		for i, kernel := range toyKernels {
			moves := score.moves(kernel.name, runs[i*len(seeds):(i+1)*len(seeds)])
			score.Moves, said = append(score.Moves, moves), fmt.Sprintf("%s, %s %s states an effective draw", said, kernel.name, moves.iact())
		}
		told("toy, " + target.name() + said)
		shown.Targets = append(shown.Targets, score)
	}
	shown.Seconds = time.Since(begin).Seconds()
	return shown, nil
}

// name is how a target is called.
func (t toyTarget) name() string { return fmt.Sprintf("%s %s = %g", t.Kind, t.letter(), t.At) }

// letter is that of At.
func (t toyTarget) letter() string {
	if t.Kind == "cold" {
		return "T"
	}
	return "s"
}

// chain makes one chain, and describes its states after the warm-up, all of them.
func (t toyTarget) chain(ctx context.Context, move mcmc.Move, seed uint64, gradients int) (run toyRun, err error) {
	s := &smc.Sampler{Model: t, Prior: t, Particles: 1, Seed: seed, Path: smc.Fixed{Epochs: gradients}, Move: move.ForChains()}
	st, err := s.Init(ctx)
	if err != nil {
		return run, err
	}
	var x [2][]float64
	warm, before := false, 0
	err = s.Run(ctx, st, func(st *smc.State, info smc.Info) error {
		if warm {
			for i, v := range st.Theta {
				x[i] = append(x[i], v)
			}
		} else if warm = info.Progress >= mcmc.WarmUp; warm {
			before = st.Gradients
		}
		return nil
	})
	if err != nil {
		return run, err
	}
	run = toyRun{Seed: seed, States: len(x[0]), Gradients: st.Gradients - before, Enough: true}
	for i, series := range x {
		for _, v := range series {
			run.Mean[i] += v / float64(len(series))
		}
		tau, enough := mcmc.IACT(series)
		run.IACT[i], run.Enough = uq.Number(tau), run.Enough && enough
	}
	for k, v := range x[0] {
		if k > 0 && (v > 0) != (x[0][k-1] > 0) {
			run.Crossings++
		}
	}
	for _, rho := range mcmc.Autocorrelation(x[0], toyLags) {
		run.ACF = append(run.ACF, uq.Number(rho))
	}
	return run, nil
}

// moves joins the chains of a move.
func (s toyScore) moves(name string, runs []toyRun) toyMoves {
	out, n := toyMoves{Move: name, Chains: runs, Known: true, Crossings: math.Inf(1)}, float64(len(runs))
	for _, r := range runs {
		slower := max(r.IACT[0], r.IACT[1])
		out.IACT += slower / uq.Number(n)
		out.Cost += uq.Number(slower * uq.Number(float64(r.Gradients)/float64(r.States)/n))
		for i, m := range r.Mean {
			off := (m - s.toyTruth.Mean[i]) / s.SD[i]
			out.Error += float64(off*off) / (2 * n)
			out.Known = out.Known && r.Enough && math.Abs(off) <= toyFar*math.Sqrt(float64(r.IACT[i])/float64(r.States))
		}
		out.Crossings = min(out.Crossings, 1000*float64(r.Crossings)/float64(r.States))
	}
	out.Error = math.Sqrt(out.Error)
	return out
}

// iact and cost are as the table has them: what is not known is at least that.
func (m toyMoves) iact() string { return m.number(float64(m.IACT)) }

func (m toyMoves) cost() string { return m.number(float64(m.Cost)) }

func (m toyMoves) number(v float64) string {
	if m.Known {
		return fmt.Sprintf("%.3g", v)
	}
	return fmt.Sprintf("(%.3g)", v)
}

// WriteText implements Shown.
func (s *toyShown) WriteText(w io.Writer) error {
	t := table.Table{}
	head := []string{"target", "", "from the posterior", "condition", "section 5"}
	for _, k := range toyKernels {
		head = append(head, k.name+": IACT", "gradients", "crossings", "error")
	}
	t.Add(head...)
	for _, target := range s.Targets {
		row := []string{
			target.Kind, fmt.Sprintf("%s = %g", target.letter(), target.At), fmt.Sprintf("%.3f", target.Variation), fmt.Sprintf("%.4g", target.Condition),
			fmt.Sprintf("%.4g", target.Formula),
		}
		for _, m := range target.Moves {
			row = append(row, m.iact(), m.cost(), fmt.Sprintf("%.3g", m.Crossings), fmt.Sprintf("%.3f", m.Error))
		}
		t.Add(row...)
	}
	if _, err := fmt.Fprintf(w, "A banana between its MAP (%.3f, %.3f) and its posterior (Liang et al., Figures 1 and 6): %s, %d gradients each, of which the first half is left out\n\n",
		s.MAP[0], s.MAP[1], numeral.Several(len(s.Targets[0].Moves[0].Chains), "chain"), s.Gradients); err != nil {
		return err
	}
	if err := t.Write(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, `
from the posterior: total variation, by quadrature on squares of side %v; 0 is the posterior itself, and 1 has nothing in common with it
condition: the condition number of the Hessian at the MAP; section 5: what it would be if the smallest curvature of the likelihood were 0
IACT: states of a chain that are worth one independent draw, for the slower coordinate; gradients: the same in gradients.
(in brackets): a chain has fewer than 50 such draws, or its mean is more than %d standard errors by them from that of quadrature: take it for too small
crossings: changes of the sign of the first coordinate in 1,000 states, in the chain with fewest
error: of a chain's means, in standard deviations of the target, by quadrature
`, toySide, toyFar)
	return err
}
