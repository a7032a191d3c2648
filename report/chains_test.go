package report

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/uq"
)

// TestAgreement: the figure stands behind the chart of log-likelihoods, draws what is finite, tells all, and says why a number is
// left out.
func TestAgreement(t *testing.T) {
	f := shape{chains: true, islands: 4, lines: 20}.make(t)
	figures := f.view(t).sampler().Figures
	if len(figures) < 2 || figures[0].Title != "Log-likelihood" || figures[1].Title != "Agreement of the chains" {
		t.Fatalf("the figures are not in this order: %+v", figures)
	}
	tells := func(f *figure) string {
		var all []string
		for _, r := range f.Data.Rows {
			for _, c := range r.Cells {
				all = append(all, c.Text)
			}
		}
		return strings.Join(all, " ")
	}
	if got, want := tells(&figures[1]), "1.01 0.97 to 1.05 1.09 1.00 to 1.18 1.02 0.95 to 1.09"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if drawn := string(figures[1].Charts[0]); !strings.Contains(drawn, "predictions, median: 1.01. ") || !strings.Contains(drawn, "log-likelihood: 1.02. </desc>") {
		t.Errorf("the picture does not describe itself: %.400s", drawn)
	}
	if drawn := string(figures[1].Charts[0]); strings.Count(drawn, `<path class="rule"`) != 1 || len(figures[1].Legend) != 1 || figures[1].Legend[0].Name != "up to 1.1: agreement" {
		t.Errorf("1.1 is not marked: %.400s, legend %+v", drawn, figures[1].Legend)
	}
	if !strings.HasPrefix(figures[1].Caption, "R-hat compares the spread between chains with the spread within them: 1 is agreement, and up to 1.1 counts as agreement. ") {
		t.Errorf("%q does not begin with what R-hat is", figures[1].Caption)
	}
	for _, says := range []string{"10 kept states a chain for 20 validation inputs", "each of 10 moves", "two standard errors", "no effective sample size (ESS), because a chain keeps 10 states, and an ESS needs 50."} {
		if !strings.Contains(figures[1].Caption, says) {
			t.Errorf("%q lacks %q", figures[1].Caption, says)
		}
	}
	inf, ess, likelihood, gradient := uq.Number(math.Inf(1)), uq.Number(4021.7), uq.Number(95.2), uq.Number(.01256)
	f.a.Metrics.Chains = &eval.Chains{
		Chains: 4, Moves: 1000, States: 500, RHatLogLikelihood: &inf, On: "train", N: 1,
		RHatPredictions: &eval.PredictionRHat{Median: inf, Q95: inf}, ESSPredictions: &ess, ESSLogLikelihood: &likelihood,
	}
	one := f.view(t).agreement()
	if one.Charts != nil || tells(one) != "∞ – 4,022 ∞ – – ∞ – 95" || !strings.Contains(one.Caption, "for 1 training input,") || strings.Contains(one.Caption, "standard errors") ||
		!strings.Contains(one.Caption, "log-likelihoods are worth 95 independent ones. The states are worth 4,022 independent ones") || strings.Contains(one.Caption, "gradient") {
		t.Errorf("%q, %+v", tells(one), one)
	}
	if got, want := fmt.Sprint(f.view(t).cards()), "{R-hat ∞ of the predictions; ∞ of the log-likelihood} {ESS 4,022 of the predictions; 95 of the log-likelihood}"; !strings.Contains(got, want) {
		t.Errorf("the cards %s lack %s", got, want)
	}
	f.a.Metrics.Chains.ESSPerGradient = &gradient
	if one := f.view(t).agreement(); !strings.Contains(one.Caption, "0.01256 for each gradient") {
		t.Errorf("%q says nothing of gradients", one.Caption)
	}
	f.a.Metrics.Chains = &eval.Chains{Chains: 4, Reason: "a chain keeps 1 state, and R-hat needs 8"}
	if v := f.view(t); v.agreement() != nil || len(v.sampler().Figures) != len(figures)-1 {
		t.Error("chains without R-hat have a figure of it")
	}
}
