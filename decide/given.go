package decide

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/starling-smc/starling/internal/config"
)

// Given says what there is to learn from, and of what kind of network.
type Given struct {
	Numbers  bool     // targets are numbers, not classes
	Targets  int      // of an example
	Energies bool     // the network has a logit for each class
	Single   bool     // there is one network alone
	Names    []string // of the classes; nil: they are their numbers

	Validate, Calibrate, Foreign int   // examples
	ByClass                      []int // calibration examples of each class; nil: not counted
}

// CheckWith refuses settings that do not suit the network, and those that need more examples than there are: it says how many would do.
func (s Settings) CheckWith(g Given, f *config.Faults) {
	if g.Numbers && g.Targets > 1 {
		f.Add("", "is for one number a row, and the network predicts %d: leave decide out", g.Targets)
		return
	}
	f.If(slices.Contains(g.Names, "wrong"), "", "the class \"wrong\" would share the column p_wrong of predictions with the probability that an answer is wrong: rename it in the data")
	n := g.Calibrate
	if s.Temperature && g.Validate == 0 {
		third := g.Calibrate / 3
		f.If(third == 0, "temperature", "needs validation examples, or calibration examples, a third of which teach it: "+give)
		n -= third
	}
	if s.Sets != nil {
		s.Sets.checkWith(g, n, f)
	}
	if s.Abstain != nil {
		s.Abstain.checkWith(g, n, f)
	}
}

// score is the default score to abstain by.
func (g Given) score() string {
	if g.Numbers {
		return Signals.Name(SD{})
	}
	return Signals.Name(Entropy{})
}

const give = "give data.calibrate, data.csv.calibrate or data.split.calibrate; test examples are never taken for them"

// short returns the fault of too few calibration examples.
func short(what string, have, need int) string {
	if have == 0 {
		return "needs calibration examples, which nothing has learnt from: " + give
	}
	return (&NeedError{What: what, Have: have, Need: need}).Error()
}

func (s Sets) checkWith(g Given, n int, f *config.Faults) {
	f.If(g.Numbers && s.ByClass, "sets.by_class", "is for classes: leave it out")
	_, lac := s.Score.(LAC) // the default
	f.If(g.Numbers && s.Score != nil && !lac, "sets.score", "is for classes: leave it out")
	f.If(g.Numbers && s.Empty, "sets.empty", "is for classes: leave it out")
	if checkRate(s.Rate) == nil && rank(n, s.Rate) > n {
		f.Add("sets.rate", "%s", short(fmt.Sprintf("a rate of %v", s.Rate), n, needed(s.Rate)))
	}
	for c, have := range g.ByClass { // those that teach the temperature count, too, since which they are is drawn
		if name := strconv.Itoa(c); s.ByClass && checkRate(s.Rate) == nil && rank(have, s.Rate) > have {
			if c < len(g.Names) {
				name = g.Names[c]
			}
			f.Add("sets.by_class", "%s", &NeedError{What: fmt.Sprintf("a rate of %v for the class %s alone", s.Rate, name), Have: have, Need: needed(s.Rate)})
		}
	}
	for _, name := range g.Names {
		f.If(strings.Contains(name, "|"), "sets", "the class %q has a | in its name, which stands between the names of a set: rename it in the data", name)
	}
}

func (a Abstain) checkWith(g Given, n int, f *config.Faults) {
	a, err := a.Complete(g.Numbers)
	if err != nil {
		f.Add("abstain", "%v", err)
		return
	}
	_, energy := a.By.(Energy)
	f.If(energy && !g.Energies, "abstain.by", "energy is of networks with a logit for each class: take entropy or confidence")
	_, epistemic := a.By.(Epistemic)
	f.If(epistemic && g.Single, "abstain.by", "epistemic is of ensembles, whose networks may disagree, and there is one network: leave it out")
	by, learns := a.By.(Classifier)
	need, what := a.At.needs()
	least, would := need, need
	if learns && !by.Literal {
		what, least, would = ofHeld(what), heldShare*need, allFor(need)
	}
	if n < least {
		f.Add("abstain.at", "%s", short(what, n, would))
	} else if learns && n == 0 {
		f.Add("abstain.by", "%s", short("the classifier of wrong answers", n, 2*heldShare))
	}
	f.If((learns || a.At.foreign()) && g.Foreign == 0, "abstain", "needs foreign inputs that are known beforehand: give data.calibrate_groups, as in {noise: noise.npy}, or --ood of starling calibrate, or take {coverage: 0.9} or {risk: 0.02} by %s", g.score())
}
