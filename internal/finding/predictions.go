package finding

// Findings about predictions for examples that the networks did not learn from.

// Better compares the posterior with the better one of the deep ensemble of the restarts and the best restart.
type Better struct {
	Restarts            int     // of the better one: 1 is the best restart alone
	Ensemble, Posterior string  // NLLs, as they are shown elsewhere
	By, SE              float64 // the mean difference of the losses of an example, and its standard error
	Examples, Once      int     // chance makes such a difference less than once in so many times
	Learned             bool    // the prior learns its widths
}

// Unscored says that some of the examples have a loss that is infinite or no number.
func Unscored(n, examples int) Finding {
	return Finding{Kind: KindUnscored, Numbers: numbers{"count": float64(n), "examples": float64(examples)}.safe()}
}

// EnsembleBetter says that the deep ensemble of the restarts has the better NLL; with one restart, that the best point estimate has.
func EnsembleBetter(b Better) Finding {
	return Finding{
		Kind:    "ensemble-better",
		Numbers: numbers{"restarts": float64(b.Restarts), "by": b.By, "se": b.SE, "examples": float64(b.Examples), "once": float64(b.Once)}.safe(),
		Names:   map[string]string{"ensemble": b.Ensemble, "posterior": b.Posterior, "prior": prior(b.Learned)},
	}
}

// NoSkill says that the predictions are no better than a trivial guess: Class or Mean.
func NoSkill(guess string) Finding {
	return Finding{Kind: "no-skill", Names: map[string]string{"guess": guess}}
}

// The trivial guesses: the most frequent class, and the mean of the targets.
const (
	Class = "class"
	Mean  = "mean"
)

// Confidence compares the mean confidence with the accuracy.
type Confidence struct {
	Examples       int
	Mean, Accuracy float64
	Single         bool // the posterior is one network
	Once           int  // chance makes such a difference less than once in so many times
	Learned        bool // the prior learns its widths
}

func (c Confidence) of(kind string) Finding {
	n := numbers{"examples": float64(c.Examples), "confidence": c.Mean, "accuracy": c.Accuracy, "once": float64(c.Once)}
	if c.Single {
		n["single"] = 1
	}
	return Finding{Kind: kind, Numbers: n.safe(), Names: map[string]string{"prior": prior(c.Learned)}}
}

// prior says whether a prior learns its widths, as findings keep it.
func prior(learned bool) string {
	if learned {
		return "learned"
	}
	return "given"
}

// Underconfident says that answers are more often right than their probabilities say.
func Underconfident(c Confidence) Finding { return c.of(KindUnderconfident) }

// Overconfident says that answers are less often right than their probabilities say.
func Overconfident(c Confidence) Finding { return c.of(KindOverconfident) }

// Miscalibrated says that the calibration error is larger than that of a calibrated network in all of so many simulations, although
// the mean confidence is right. chance is the largest of these.
func Miscalibrated(ece, chance float64, draws int) Finding {
	return Finding{Kind: KindMiscalibrated, Numbers: numbers{"ece": ece, "chance": chance, "draws": float64(draws)}.safe()}
}

// Coverage is the share of targets that lie in their 90 % intervals.
type Coverage struct {
	Inside  float64 // the share
	Targets int
	Once    int    // chance makes such a difference from 90 % less than once in so many times
	Learned bool   // the prior learns its widths
	Noise   string // given, learned or predicted
}

// IntervalsNarrow says that too few targets lie in their intervals.
func IntervalsNarrow(c Coverage) Finding { return c.of(KindNarrow) }

// IntervalsWide says that too many do.
func IntervalsWide(c Coverage) Finding { return c.of(KindWide) }

func (c Coverage) of(kind string) Finding {
	return Finding{
		Kind: kind, Numbers: numbers{"inside": c.Inside, "targets": float64(c.Targets), "once": float64(c.Once)}.safe(),
		Names: map[string]string{"prior": prior(c.Learned), "noise": c.Noise},
	}
}
