package finding

import (
	"math"

	"github.com/starling-smc/starling/internal/numeral"
)

// Findings about what stands for the posterior: Gaussians, states that are taken for it, and priors and moves that are of another name.

// ELBOUnsettled says that the ELBO of VI still rose or fell by so many nats, from the third quarter of its epochs to the last.
type ELBOUnsettled struct {
	By, SE        float64
	Epochs, Twice int
	Rose          bool `kept:"way=rose|fell"`
}

func (f ELBOUnsettled) words() words {
	return words{
		look: warning,
		says: say("the ELBO still %s when VI ended, by %.1f ± %.1f nats from the third quarter of the %v epochs to the last",
			either(f.Rose, "rose", "fell"), f.By, f.SE, f.Epochs),
		means: "the means and spreads of the draws are not yet those of the best approximation",
		cure:  either(f.Rose, say("take %v epochs (method.vi.epochs)", f.Twice), "take a lower rate (method.vi.rate)"), help: helpApproximations,
	}
}

// SWAGSpread says what the spread of SWAG's draws is: Width times that of the posterior around their mean.
type SWAGSpread struct{ Width *numeral.Number }

// SWAGNarrow is SWAGSpread of draws that are too close together.
type SWAGNarrow struct{ Width float64 }

// SWAGWide is SWAGSpread of draws that are too far apart.
type SWAGWide struct{ Width float64 }

// OfSWAG is what is found of draws of this width. Between half and twice that of the posterior they count as of the same size.
func OfSWAG(width float64) Kind {
	const narrowest, widest = 0.5, 2
	switch {
	case width < narrowest:
		return SWAGNarrow{width}
	case !(width <= widest):
		return SWAGWide{width}
	}
	return SWAGSpread{Known(width)}
}

const likeSGD = "they differ as the states of SGD did at this rate, mini-batch and momentum"

func (f SWAGSpread) words() words {
	says := "the draws of SWAG follow SGD, not the posterior"
	if f.Width != nil {
		says = "the draws of SWAG are " + times(float64(*f.Width), 2) + " as wide as the posterior around their mean"
	}
	return words{look: note, says: says, means: likeSGD, cure: "compare their spread with chains (method: mcmc)", help: helpApproximations}
}

func (f SWAGNarrow) words() words {
	return words{
		look: warning, says: "the draws of SWAG are " + times(f.Width, 2) + " as wide as the posterior", means: likeSGD + ", so the run understates uncertainty",
		cure: "take a higher rate (method.swag.rate), a smaller map.batch, or method: mcmc", help: helpApproximations,
	}
}

func (f SWAGWide) words() words {
	return words{
		look: warning, says: "the draws of SWAG are " + times(f.Width, 1) + " as wide as the posterior", means: likeSGD + ", so the run overstates uncertainty",
		cure: "take a lower rate (method.swag.rate), a larger map.batch, or method: mcmc", help: helpApproximations,
	}
}

// times is a factor; one that would read as 0 is less than the smallest that does not.
func times(v float64, decimals int) string {
	text := numeral.Fixed(v, decimals)
	if text == numeral.Fixed(0, decimals) {
		text = "less than " + numeral.Fixed(math.Pow10(-decimals), decimals)
	}
	return text + " times"
}

// LaplaceEvidence is the log evidence by Laplace's approximation, the factor of the prior's precision in the draws, and what chose it.
type LaplaceEvidence struct {
	LogEvidence, Factor float64
	By                  string
}

func (f LaplaceEvidence) words() words {
	chosen := ""
	switch f.By {
	case "evidence":
		chosen = say(", with %s times the prior's precision, where it is highest", factorOf(f.Factor))
	case "validation":
		chosen = say("; the draws are with %s times the prior's precision, by the validation NLL", factorOf(f.Factor))
	}
	return words{
		look: note, says: say("log evidence about %.1f nats by Laplace's approximation%s", f.LogEvidence, chosen),
		means: "its error is not known, so compare it with that of other priors for the same network, and with nothing else", help: helpApproximations,
	}
}

// factorOf says a factor of the prior's precision, to three digits or as a whole number.
func factorOf(x float64) string {
	if x >= 1000 {
		return numeral.Count(int(math.Round(x)))
	}
	return say("%.3g", x)
}

// LaplaceOffMode says that the maximum of the approximated posterior is away from the trained network, by Way standard deviations in the
// mean over all parameters; Rise is how much higher it is, in nats.
type LaplaceOffMode struct {
	Rise, Way float64
	MAP       bool `kept:"at=map|init"` // a search trained the network; else it is that of model.init
}

func (f LaplaceOffMode) words() words {
	return words{
		look: warning, says: say("the network of Laplace is %.1f standard deviations from the posterior's maximum, %.1f nats below", f.Way, f.Rise),
		means: "the draws are about another place, and the approximate evidence is too low by about as many nats",
		cure:  either(f.MAP, "train longer (map.epochs, map.patience)", "let a search train model.init further: map: {restarts: 1}"), help: helpApproximations,
	}
}

// LaplaceAtEdge says that the best factor of the prior's precision is the lowest or the highest one that was tried.
type LaplaceAtEdge struct {
	Factor float64
	By     string
	Higher bool `kept:"edge=highest|lowest"`
}

func (f LaplaceAtEdge) words() words {
	return words{
		look: warning, says: say("%s times the prior's precision, the %s factor tried, is the best by the %s", factorOf(f.Factor),
			either(f.Higher, "highest", "lowest"), either(f.By == "evidence", "evidence", "validation NLL")),
		means: either(f.Higher, "the draws hardly differ", "the prior hardly holds the draws together"),
		cure:  either(f.Higher, "take a lower variance of the prior, or method: map", "take a higher variance of the prior"), help: helpApproximations,
	}
}

// SVGD says what the spread of the particles of SVGD is.
type SVGD struct{}

func (SVGD) words() words {
	return words{look: note, says: "SVGD has no weights and no accept step, so with many parameters its particles are too close together: " +
		"compare their spread with that of chains"}
}

// MeanField says what the spread of the draws of VI is.
type MeanField struct{}

func (MeanField) words() words {
	return words{look: note, says: "VI draws each parameter independently, so its draws can be too close together: compare their spread with that of chains"}
}

// ChosenByValidation says that the setting of this name and value takes the state of lowest validation NLL for the posterior.
type ChosenByValidation struct{ Field, Value string }

func (f ChosenByValidation) words() words {
	return words{
		look: note, says: say("validation chose the posterior (%s: %s)", f.Field, f.Value),
		means: "it is the state of lowest validation NLL. This is early stopping: it looks for good predictions, and the spread of such a state can differ " +
			"from the posterior's",
		cure: say("leave %s out if you need the uncertainty", f.Field), help: helpApproximations,
	}
}

// AsIs says that the posterior is the network of model.init.
type AsIs struct{}

func (AsIs) words() words {
	return words{look: note, says: "as-is: the posterior is the network of model.init alone, an ensemble of one; nothing was sampled"}
}

// Point says that with s = 0 the posterior is one network alone: the best point estimate, or that of model.init.
type Point struct {
	MAP bool `kept:"at=map|init"`
}

func (f Point) words() words {
	return words{look: note, says: say("prior.anchor.s is 0: the posterior is the %s alone, an ensemble of one; nothing was sampled", either(f.MAP, "MAP", "network of model.init"))}
}

// OneBatch says that a mini-batch has all examples that an iteration sees, so that an epoch is one leapfrog.
type OneBatch struct{ Examples int }

func (f OneBatch) words() words {
	return words{look: note, says: say("a mini-batch has all %v examples of an iteration, so an epoch is one leapfrog", f.Examples)}
}

// PriorOfDecay says which variance of the prior belongs to a weight decay.
type PriorOfDecay struct {
	Examples        int
	Decay, Variance string
}

func (f PriorOfDecay) words() words {
	return words{look: note, says: say("a weight decay of %s on %v examples is the prior N(0, %s) of each parameter", f.Decay, f.Examples, f.Variance)}
}
