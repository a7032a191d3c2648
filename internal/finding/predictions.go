package finding

import "math"

import "github.com/starling-smc/starling/internal/numeral"

// Findings about predictions for examples that the networks did not learn from.

// Unscored says that some of the examples have a loss that is infinite or no number.
type Unscored struct{ Count, Examples int }

func (f Unscored) words() words {
	return words{
		look: warning | ofPredictions, says: say("the NLL of %v of %v examples is not finite", f.Count, f.Examples),
		means: "the posterior gives their targets the probability 0, or its networks overflow, so the NLL cannot be compared",
		cure:  "look at their inputs and targets; if parameters are very large, take a smaller step or a narrower prior", help: helpCalibration,
	}
}

// EnsembleBetter says that the better one of the deep ensemble of the restarts and the best restart has a better NLL than the posterior.
type EnsembleBetter struct {
	Restarts            int             // of the better one: 1 is the best restart alone
	Ensemble, Posterior string          // NLLs, as they are shown elsewhere
	By, SE              float64         // the mean difference of the losses of an example, and its standard error
	Trimmed             *numeral.Number // the mean without the tenth of the examples that differ most; nil: an older version did not look
	Examples, Once      int             // chance makes such a difference less than once in so many times
	Learned             bool            `kept:"prior=learned|given?"` // the prior learns its widths
}

func (f EnsembleBetter) words() words {
	trimmed := ""
	if f.Trimmed != nil {
		trimmed = say(", and %.2g without the tenth that differs most", *f.Trimmed)
	}
	return words{
		look: warning | ofPredictions,
		says: say("%s is better than the posterior (NLL %s against %s)",
			plural(f.Restarts, "the best MAP alone", say("the deep ensemble of the %v MAPs", f.Restarts)), f.Ensemble, f.Posterior),
		means: say("it needs no sampling. On the %v test examples the difference is %.2g ± %.2g%s; %s. %s, more epochs or particles may help, too",
			f.Examples, f.By, f.SE, trimmed, chance(f.Once), either(f.Learned, "More units", "A prior that learns its widths ("+widths+")")),
		cure: say("take it: starling fit RUN/config.yaml --set 'method={%s: {}}'", plural(f.Restarts, "map", "ensemble")), help: helpScores,
	}
}

// widths is the setting of a prior that learns its widths.
const widths = "prior: {normal: {variance: learned}}"

// NoSkill says that the predictions are not clearly better than a guess that does not look at the inputs: the class frequencies of the
// training examples or, for numbers, the normal law of their targets, log-normal where their logarithms are learnt. Runs of older versions compared accuracies and RMSEs, and lack the
// numbers.
type NoSkill struct {
	Class     bool            `kept:"guess=class|mean"`
	Guess     string          `kept:"guess_nll?"` // NLLs, as they are shown elsewhere
	Posterior string          `kept:"posterior_nll?"`
	By, SE    *numeral.Number // by how much the posterior is better, and the standard error of the paired differences
	Examples  int             `kept:"?"`
	Logs      bool            `kept:"law=log-normal|?"` // the law is log-normal, as the network learns logarithms
	Single    bool            `kept:"?"`                // the posterior is one network
	Slip      float64         `kept:"?"`                // the targets seem to be so many times those that were learnt, in another unit; 0: they do not
	Below     float64         `kept:"?"`                // likewise, so many times smaller
}

// muchWorse, in nats, is what a posterior that is far worse than a guess lacks. otherMethod says what a point estimate would tell.
const (
	muchWorse   = 1
	otherMethod = ". If method: map learns, the prior or the sampler is at fault"
)

func (f NoSkill) words() words {
	w := words{
		look:  warning | ofPredictions,
		says:  "the posterior is not clearly better than always " + either(f.Class, "answering the most frequent class", "predicting the mean"),
		means: "either the inputs do not tell the target, or the network did not learn" + either(f.Single, "", otherMethod),
		cure:  "look at the columns (starling data show)" + either(f.Single, "", ", and compare with method: map"), help: helpData,
	}
	if f.By != nil && f.SE != nil {
		verb := "hardly beats"
		worse := float64(*f.By) < -2*float64(*f.SE)
		switch {
		case worse && float64(*f.By) < -muchWorse:
			verb = "is far worse than"
		case worse:
			verb = "is worse than"
		}
		w.says = say("the posterior %s %s (NLL %s against %s)", verb,
			either(f.Class, "the class frequencies", either(f.Logs, "the log-normal law of the targets", "the normal law of the targets")), f.Posterior, f.Guess)
		w.means = say("on %v examples the difference is %.2g ± %.2g", f.Examples, *f.By, *f.SE) +
			either(worse, ". Either the inputs do not tell the target, the network did not learn, or these examples are not like those that it learnt from",
				", and less than two standard errors do not count. Either the inputs do not tell the target, or the network did not learn") +
			either(f.Single, "", otherMethod)
	}
	if by := max(f.Slip, f.Below); by > 0 {
		factor := short(math.Round(by*10) / 10)
		w.means = say("the targets evaluated on are some %s times %s than those of the training examples", factor, either(f.Slip > 0, "larger", "smaller"))
		w.cure = say("if the targets evaluated on are in another unit, %s them by %s", either(f.Slip > 0, "divide", "multiply"), factor)
	}
	return w
}

// Confidence compares the mean confidence with the accuracy.
type Confidence struct {
	Examples int
	Mean     float64 `kept:"confidence"`
	Accuracy float64
	Single   bool `kept:"?"` // the posterior is one network
	Once     int  // chance makes such a difference less than once in so many times
	Learned  bool `kept:"prior=learned|given?"` // the prior learns its widths

	Helps    *numeral.Number // a temperature that would better the loss of the validation examples; nil: none would, or it is not known
	Tempered *numeral.Number // the temperature that was learnt, with which predictions are written; nil: none was
	Remains  bool            `kept:"?"` // tempered confidence differs from the accuracy as much, on either side
}

// cured are words for a run that has learnt a temperature, and for one that it would help.
func (c Confidence) cured(w words) words {
	switch {
	case c.Tempered != nil && c.Remains:
		w.says += say("; its temperature of %.2f is no cure", *c.Tempered)
	case c.Tempered != nil:
		w.look, w.cure, w.help = note|ofPredictions, "", 0
		w.says += say(", which its temperature of %.2f corrects in what predict writes", *c.Tempered)
	case c.Helps != nil:
		w.look, w.means, w.cure = warning|ofPredictions, c.means(), say("take decide: {temperature: true} (about %.2f)", *c.Helps)
	}
	return w
}

func (c Confidence) says() string {
	return "(mean confidence " + percent(c.Mean, 1) + ", accuracy " + percent(c.Accuracy, 1) + ")"
}

func (c Confidence) means() string { return say("on %v examples %s", c.Examples, chance(c.Once)) }

// Underconfident says that answers are more often right than their probabilities say.
type Underconfident struct{ Confidence }

// Overconfident says that answers are less often right than their probabilities say.
type Overconfident struct{ Confidence }

func (f Underconfident) words() words {
	w := words{
		look: warning | ofPredictions, says: "the posterior is under-confident " + f.says(),
		means: f.means() + ". A narrow prior keeps a network from being sure", cure: "take " + widths, help: helpCalibration,
	}
	if f.Learned { // no cure is known: a note
		w.look, w.cure = note|page|ofPredictions, ""
		w.means = f.means() + ". With a prior that learns its widths this happens if classes are easily told apart. " +
			"On the tables that were measured, more units, layers or epochs did not help. Read the probabilities as cautious ones"
	}
	return f.cured(w)
}

func (f Overconfident) words() words {
	cure := "take more chains or islands" + either(f.Learned, "", ", or "+widths)
	cure = either(f.Single, "take an ensemble in place of one network: method: mcmc or method: smc", cure)
	return f.cured(words{
		look: warning | ofPredictions, says: "the posterior is over-confident " + f.says(), means: f.means(), cure: cure, help: helpCalibration,
	})
}

// Miscalibrated says that the calibration error is larger than that of a calibrated network in all of so many simulations, although
// the mean confidence is right. Chance is the largest of these.
type Miscalibrated struct {
	ECE, Chance float64
	Draws       int
}

func (f Miscalibrated) words() words {
	return words{
		look: note | page | ofPredictions, says: "the posterior is over-confident for some inputs and under-confident for others",
		means: say("its calibration error is %.3f. A calibrated network has at most %.3f on as many examples, in all of %v simulations. "+
			"The reliability diagram shows where", f.ECE, f.Chance, f.Draws),
	}
}

// Coverage is the share of targets that lie in their 90 % intervals.
type Coverage struct {
	Inside  float64 // the share
	Targets int
	Once    int    // chance makes such a difference from 90 % less than once in so many times
	Learned bool   `kept:"prior=learned|given?"` // the prior learns its widths
	Noise   string `kept:"?"`                    // given, learned or predicted
}

func (c Coverage) says() string {
	return "(90" + unit + " intervals hold " + percent(c.Inside, 1) + " of the targets)"
}

func (c Coverage) means() string { return say("on %v targets %s", c.Targets, chance(c.Once)) }

// IntervalsNarrow says that too few targets lie in their intervals.
type IntervalsNarrow struct{ Coverage }

// IntervalsWide says that too many do.
type IntervalsWide struct{ Coverage }

func (f IntervalsNarrow) words() words {
	cure := "take " + either(f.Noise == "learned", "", "sd: learned or ") + "sd: predicted for the noise, and more chains or islands"
	return words{
		look: warning | ofPredictions, says: "the intervals are too narrow " + f.says(), means: f.means(),
		cure: either(f.Noise == "predicted", "take more chains or islands, and compare with sd: learned", cure), help: helpCalibration,
	}
}

func (f IntervalsWide) words() words {
	w := words{look: warning | ofPredictions, says: "the intervals are too wide " + f.says(), means: f.means(), help: helpCalibration}
	switch {
	case !f.Learned:
		w.cure = "take " + widths + either(f.Noise == "given", ", and sd: learned for the noise", "")
	case f.Noise == "given":
		w.cure = "take sd: learned for the noise"
	default:
		w.cure = "compare with " + either(f.Noise == "predicted", "sd: learned", "sd: predicted") + " by the validation NLL"
	}
	return w
}
