package finding

// Findings about predictions for examples that the networks did not learn from.

// EnsembleBetter says that the deep ensemble of the restarts has the better NLL on so many examples; with one restart, that the best
// point estimate has. Both NLLs are given as they are shown elsewhere.
func EnsembleBetter(restarts int, ensemble, posterior string, examples int) Finding {
	return Finding{
		Kind:    "ensemble-better",
		Numbers: numbers{"restarts": float64(restarts), "examples": float64(examples)}.safe(),
		Names:   map[string]string{"ensemble": ensemble, "posterior": posterior},
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
}

func (c Confidence) of(kind string) Finding {
	n := numbers{"examples": float64(c.Examples), "confidence": c.Mean, "accuracy": c.Accuracy, "once": float64(c.Once)}
	if c.Single {
		n["single"] = 1
	}
	return Finding{Kind: kind, Numbers: n.safe()}
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

// IntervalsNarrow says that too few of so many targets lie in their 90 % intervals: the share inside. Chance makes such a difference
// less than once in so many times.
func IntervalsNarrow(inside float64, targets, once int) Finding {
	return intervals(KindNarrow, inside, targets, once)
}

// IntervalsWide says that too many do.
func IntervalsWide(inside float64, targets, once int) Finding {
	return intervals(KindWide, inside, targets, once)
}

func intervals(kind string, inside float64, targets, once int) Finding {
	return Finding{Kind: kind, Numbers: numbers{"inside": inside, "targets": float64(targets), "once": float64(once)}.safe()}
}
