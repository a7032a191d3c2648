package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/smc"
	"github.com/starling-smc/starling/uq"
)

func number(v float64) *uq.Number { return (*uq.Number)(&v) }

// scored is an evaluation whose figures all lie near v.
func scored(v float64) *eval.Evaluation {
	return &eval.Evaluation{
		On: "test", N: 7000, Accuracy: number(0.9 + v/100), NLL: uq.Number(v), Brier: number(v), ECE: number(v / 10),
		Groups: uq.Groups{
			{Name: "correct", N: 6500, Epistemic: uq.Number(v / 2)},
			{Name: "incorrect", N: 500, Epistemic: uq.Number(v), AUROC: number(0.93), FPR95: number(0.4)},
			{Name: "eight", N: 500, Epistemic: uq.Number(2 * v), AUROC: number(0.94), FPR95: number(0.3)},
			{Name: "none", AUROC: number(0), FPR95: number(0)},
		},
	}
}

// weighted is m with islands weighted by their evidence.
func weighted(m eval.Metrics) eval.Metrics {
	m.Evaluation = *m.Combined.By("evidence")
	return m
}

// show calls showMetrics for an ensemble of so many networks. The posterior loses the same for all examples.
func show(w io.Writer, spec *starling.Spec, networks int, m *eval.Metrics, groups bool) {
	e := &eval.Ensembles{Posterior: &bnn.Ensemble{LogWeights: make([]float64, networks)}}
	var losses eval.ExampleLosses
	if m.DeepEnsemble != nil {
		e.Restarts = &bnn.Ensemble{LogWeights: make([]float64, spec.MAP.Restarts)}
		for i := range m.N {
			around := 0.1 * float64(1-2*(i%2))
			losses.Posterior = append(losses.Posterior, float64(m.NLL))
			losses.DeepEnsemble, losses.MAP = append(losses.DeepEnsemble, float64(m.DeepEnsemble.NLL)+around), append(losses.MAP, float64(m.MAP.NLL)+around)
		}
	}
	islands := 0
	if s := spec.Way().Sampling(); s != nil {
		islands = s.Islands
	}
	showMetrics(w, spec, e, &eval.Assessment{Metrics: m, Problem: &data.Problem{Name: "wave"}, Islands: islands, Losses: losses}, groups)
}

func TestShowMetrics(t *testing.T) {
	spec, err := starling.Preset("mnist7-smc")
	if err != nil {
		t.Fatal(err)
	}
	chains, err := starling.Preset("mnist7")
	if err != nil {
		t.Fatal(err)
	}
	oneIsland := spec
	oneIsland.Method = method.SMC{Islands: 1, Path: smc.Tempering{}, Combine: bnn.Equal{}}
	oneIsland.MAP = nil
	asIs := spec
	asIs.Method, asIs.MAP = method.AsIs{}, nil
	m := eval.Metrics{
		Evaluation: *scored(0.2), MAP: scored(0.3), DeepEnsemble: scored(0.25),
		Combined:    eval.Combined{{Name: "equal", Evaluation: *scored(0.2)}, {Name: "evidence", Evaluation: *scored(0.4)}},
		LogEvidence: number(-182.6), LogEvidenceSD: number(6.9), LogEvidenceError: number(2.4), EffectiveIslands: number(1.4),
		LogEvidenceJackknife: number(3.1), LogEvidenceSingleSD: number(5.2),
		Findings: []finding.Finding{finding.Of(finding.EvidenceScatters{LogEvidence: -182.6, SD: 6.9, Effective: 1.4, Islands: 8, Particles: 10, WasteFree: true, Anchored: true})},
	}
	byEvidence := spec
	islands := spec.Method.(method.SMC)
	islands.Combine = bnn.Evidence{}
	byEvidence.Method = islands
	regression := eval.Metrics{Evaluation: eval.Evaluation{
		On: "train", N: 1200, NLL: -0.5, RMSE: number(0.1234567), MAE: number(0.1), Bias: number(0.01), R2: number(-0.25), CRPS: number(1234.5678),
		Coverage: &eval.Coverage{In50: 0.4444, In90: 0.9, In95: 1},
	}}
	alone := eval.Metrics{Evaluation: *scored(0)}
	alone.On = "train"
	for i := range alone.Groups[1:3] {
		g := &alone.Groups[1+i]
		g.AUROC, g.AUROCMaxProb = number(0.5), number(0.75)
	}
	of := func(m eval.Metrics, k finding.Kind) eval.Metrics {
		m.Findings = []finding.Finding{finding.Of(k)}
		return m
	}
	for name, c := range map[string]struct {
		spec     *starling.Spec
		networks int
		m        eval.Metrics
		want     string
	}{
		"equal": {&spec, 80, m, `
                                     epistemic entropy, nats
n = 7,000    accuracy    NLL    ECE  right  wrong  eight  none
posterior      90.2 %  0.200  0.020   0.10   0.20   0.40     –
by evidence    90.4 %  0.400  0.040   0.20   0.40   0.80     –
best MAP       90.3 %  0.300  0.030   0.15   0.30   0.60     –
8 MAPs         90.2 %  0.250  0.025   0.12   0.25   0.50     –
out-of-distribution inputs found (AUROC): eight 0.94 on 500; wrong answers 0.93
on 500
log Z −182.6 ± 2.4, jackknife ± 3.1, of islands that scatter by 6.9 and say 5.2
of themselves; weights by evidence would be mostly noise, and leave 1.4 of 8
islands effective: so islands are weighted equally (--set
method.smc.combine=evidence). To lessen the scatter, take about 480 particles an
island instead of 10 (there the scatter should fall to 1), more moves in an
iteration, waste_free or a smaller s of the prior's anchor
`},
		"evidence": {&byEvidence, 80, weighted(of(m, finding.EvidenceScatters{LogEvidence: -182.6, SD: 6.9, Effective: 1.4, Islands: 8, Particles: 10, Used: true})), `
                                   epistemic entropy, nats
n = 7,000  accuracy    NLL    ECE  right  wrong  eight  none
posterior    90.4 %  0.400  0.040   0.20   0.40   0.80     –
equally      90.2 %  0.200  0.020   0.10   0.20   0.40     –
best MAP     90.3 %  0.300  0.030   0.15   0.30   0.60     –
8 MAPs       90.2 %  0.250  0.025   0.12   0.25   0.50     –
out-of-distribution inputs found (AUROC): eight 0.94 on 500; wrong answers 0.93
on 500
the deep ensemble of the 8 MAPs is better than the posterior (NLL 0.250 against
0.400). Take it: starling fit RUN/config.yaml --set 'method={ensemble: {}}'
log Z −182.6 ± 2.4, jackknife ± 3.1, of islands that scatter by 6.9 and say 5.2
of themselves; the islands' weights by evidence are mostly noise, and leave 1.4
of 8 effective (--set method.smc.combine=equal). To lessen the scatter, take
about 480 particles an island instead of 10 (there the scatter should fall to 1)
or more moves in an iteration
`},
		"chains": {&chains, 80, eval.Metrics{Evaluation: *scored(0.2), MAP: scored(0.3), DeepEnsemble: scored(0.25)}, `
                                   epistemic entropy, nats
n = 7,000  accuracy    NLL    ECE  right  wrong  eight  none
posterior    90.2 %  0.200  0.020   0.10   0.20   0.40     –
best MAP     90.3 %  0.300  0.030   0.15   0.30   0.60     –
8 MAPs       90.2 %  0.250  0.025   0.12   0.25   0.50     –
out-of-distribution inputs found (AUROC): eight 0.94 on 500; wrong answers 0.93
on 500
`},
		"as good as the deep ensemble": {&chains, 80, eval.Metrics{Evaluation: *scored(0.2002), MAP: scored(0.3), DeepEnsemble: scored(0.1998)}, `
                                   epistemic entropy, nats
n = 7,000  accuracy    NLL    ECE  right  wrong  eight  none
posterior    90.2 %  0.200  0.020   0.10   0.20   0.40     –
best MAP     90.3 %  0.300  0.030   0.15   0.30   0.60     –
8 MAPs       90.2 %  0.200  0.020   0.10   0.20   0.40     –
out-of-distribution inputs found (AUROC): eight 0.94 on 500; wrong answers 0.93
on 500
`},
		"one island": {&oneIsland, 10, eval.Metrics{Evaluation: *scored(0.2), Combined: m.Combined, LogEvidence: number(-391.4955)}, `
                                   epistemic entropy, nats
n = 7,000  accuracy    NLL    ECE  right  wrong  eight  none
posterior    90.2 %  0.200  0.020   0.10   0.20   0.40     –
out-of-distribution inputs found (AUROC): eight 0.94 on 500; wrong answers 0.93
on 500
log Z −391.5; its error is not known: several islands tell it (--set
method.smc.islands=4)
`},
		"one island that tells its error": {&oneIsland, 10, eval.Metrics{
			Evaluation: *scored(0.2), Combined: m.Combined, LogEvidence: number(-391.4955), LogEvidenceError: number(0.84),
			Findings: []finding.Finding{finding.Of(finding.LadderBias{By: 0.62})},
		}, `
                                   epistemic entropy, nats
n = 7,000  accuracy    NLL    ECE  right  wrong  eight  none
posterior    90.2 %  0.200  0.020   0.10   0.20   0.40     –
out-of-distribution inputs found (AUROC): eight 0.94 on 500; wrong answers 0.93
on 500
log Z −391.5 ± 0.8, estimated within the one island; the ladder adapts to the
particles, which lowers the log evidence by about 0.6. Take more particles, or
pilot: true (method.smc.pilot), which lets a separate run choose the
temperatures
`},
		"regression": {&chains, 80, regression, `
                                           targets in the central
n = 1,200    RMSE      R²      NLL   CRPS    50 %    90 %     95 %
posterior  0.1235  −0.250  −0.5000  1,235  44.4 %  90.0 %  100.0 %
evaluated on the 1,200 training examples of wave: nothing is held out
`},
		"one network": {&asIs, 1, alone, `
                                   epistemic entropy, nats
n = 7,000  accuracy    NLL    ECE  right  wrong  eight  none
posterior    90.0 %  0.000  0.000   0.00   0.00   0.00     –
out-of-distribution inputs found (AUROC of the highest probability): eight 0.75
on 500; wrong answers 0.75 on 500
evaluated on all 7,000 examples of wave, whether the network was trained on them
or not
`},
	} {
		var out strings.Builder
		show(&out, c.spec, c.networks, &c.m, false)
		if d := cmp.Diff(c.want[1:], out.String()); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// The log evidence of an optimiser, or of particles that did not move, is not printed as if it were one.
func TestEvidenceOfAnOptimiser(t *testing.T) {
	spec, err := starling.Preset("mnist-lenet5-ctr")
	if err != nil {
		t.Fatal(err)
	}
	for want, found := range map[string][]finding.Finding{
		"\nlog Z −3,204,240.5 ± 0.5, estimated within the one island\n":         {finding.Of(finding.InitUnused{})},
		"\nlog Z −3,204,240.5, no estimate: the run behaved as an optimiser\n":  {finding.Of(finding.Optimiser{})},
		"\nlog Z −3,204,240.5, not to be trusted: moves were refused\n":         {finding.Of(finding.IslandsStuck{})},
		"\nlog Z −3,204,240.5, not to be trusted: the particles hardly moved\n": {finding.Of(finding.IslandsStill{})},
	} {
		m := eval.Metrics{Evaluation: *scored(0.2), LogEvidence: number(-3204240.5), LogEvidenceError: number(0.5), Findings: found}
		var out strings.Builder
		if show(&out, &spec, 10, &m, false); !strings.HasSuffix(out.String(), want) {
			t.Errorf("%q, want %q", out.String(), want)
		}
	}
}

// With more groups than 80 columns hold, the table shows the first; the line below and the groups' own table have all.
func TestManyGroups(t *testing.T) {
	spec, err := starling.Preset("mnist7")
	if err != nil {
		t.Fatal(err)
	}
	e := scored(0.2)
	e.Groups = e.Groups[:2]
	for i := range 12 {
		e.Groups = append(e.Groups, uq.Group{Name: fmt.Sprintf("a-group-of-long-name-%d", i), N: 12345, Epistemic: 1.5, Total: 2,
			AUROC: number(0.5), FPR95: number(1), AUROCMaxProb: number(0.91), FPR95MaxProb: number(0.25), AUROCEnergy: number(1), FPR95Energy: number(0)})
	}
	var out strings.Builder
	show(&out, &spec, 80, &eval.Metrics{Evaluation: *e}, true)
	want := `
                                   epistemic entropy, nats
n = 7,000  accuracy    NLL    ECE  right  wrong  a-group-of-long-name-0
posterior    90.2 %  0.200  0.020   0.10   0.20                    1.50
                         entropy, nats     AUROC (FPR95) by
group                 n  epistemic  total    epistemic  probability       energy
right             6,500       0.10   0.00
wrong               500       0.20   0.00  0.93 (0.40)
a-group…-name-0  12,345       1.50   2.00  0.50 (1.00)  0.91 (0.25)  1.00 (0.00)
`
	if !strings.HasPrefix(out.String(), want[1:]) {
		t.Errorf("got\n%s", out.String())
	}
	for line := range strings.Lines(out.String()) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if n := strings.Count(out.String(), "0.50 (1.00)  0.91 (0.25)  1.00 (0.00)"); n != 12 {
		t.Errorf("%d groups in full:\n%s", n, out.String())
	}
}

func TestShowScores(t *testing.T) {
	s := &eval.Scores{N: 1200, Classes: 3, Evaluation: uq.Evaluation{Accuracy: 0.5, NLL: uq.Number(math.Inf(1)), Brier: 0.25, ECE: 0.125, AURC: 0.0625}}
	var out strings.Builder
	showScores(&out, s)
	want := `
1,200 examples, 3 classes
accuracy  50.0 %
NLL            ∞
Brier     0.2500
ECE       0.1250
AURC      0.0625
`
	if d := cmp.Diff(want[1:], out.String()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestTableFits: with the groups of mnist7, the table of either kind of run fits 80 columns.
func TestTableFits(t *testing.T) {
	for _, preset := range []string{"mnist7", "mnist7-smc"} {
		spec, err := starling.Preset(preset)
		if err != nil {
			t.Fatal(err)
		}
		e := scored(0.2)
		e.Groups = e.Groups[:2]
		for _, name := range []string{"eight", "nine", "noise", "perturbed"} {
			e.Groups = append(e.Groups, uq.Group{Name: name, N: 500, Epistemic: 0.5})
		}
		m := eval.Metrics{Evaluation: *e, MAP: e, DeepEnsemble: e}
		for _, way := range bnn.Combinations.Names() {
			m.Combined = append(m.Combined, eval.CombinedBy{Name: way, Evaluation: *e})
		}
		var out strings.Builder
		show(&out, &spec, 80, &m, false)
		lines := strings.Split(out.String(), "\n")
		for _, line := range lines[:6] {
			if n := len([]rune(line)); n > 80 {
				t.Errorf("%s: %d columns: %s", preset, n, line)
			}
		}
	}
}
