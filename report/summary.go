package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/starling-smc/starling/uq"
)

// The summary says in sentences what the figures say, and warns where they are worse than they look. What it calls good
// or bad:
const (
	soundECE   = 0.05 // calibration error above which probabilities are not to be believed, if chance does not explain it
	almostAll  = 0.95 // AUROC from which a group is told apart almost always
	mostly     = 0.85
	often      = 0.70
	hardly     = 0.60 // below it, it is not
	sure       = 0.9  // probability at which an answer passes for certain
	lowMoves   = 0.1  // acceptance below which a chain or an island is stuck
	evidenceSD = 2.0  // scatter of log Z over islands, in nats, above which evidence decides little
	mixedRHat  = 1.1  // potential scale reduction above which chains have not come to the same place
	narrow     = 0.05 // coverage may be off by so much
)

// lead says in a line what the page is about.
func (v *view) lead() string {
	name, data := v.j.Problem.Name, several(v.j.Problem.Train.Len(), "example")+" of training data"
	if v.run.Spec.Method.AsIs { // trained elsewhere, on what only its maker knows
		data = several(v.j.Metrics.N, "example") + " to judge it on"
	}
	return fmt.Sprintf("%s: %s, %s with %s, %s.", name, data,
		Architecture(v.run.Net), several(v.run.Net.Dim(), "parameter"), Method(&v.run.Spec))
}

func (v *view) summary() []topic {
	topics := []topic{v.learnt(), v.good()}
	if v.classes() {
		topics = append(topics, v.knows())
	} else {
		topics = append(topics, v.trusts())
	}
	return append(topics, v.healthy())
}

// learnt says what was asked of which network.
func (v *view) learnt() topic {
	t := topic{Title: "What was learnt"}
	what, target := "", ""
	if s := v.run.Schema; s != nil && s.Named {
		target = s.Target
	}
	switch {
	case v.classes() && target != "":
		what = fmt.Sprintf("to tell %d classes of %s apart", v.j.Test.Classes, target)
	case v.classes():
		what = fmt.Sprintf("to tell %d classes apart", v.j.Test.Classes)
	case target != "":
		what = "to predict " + target
	default:
		what = "to predict " + several(max(v.set.Outputs, 1), "number")
	}
	inputs := several(v.set.Features(), "number")
	if s := v.set.Shape; len(s) == 3 {
		inputs = fmt.Sprintf("pictures of %d × %d pixels", s[2], s[1])
	}
	with := fmt.Sprintf(", with %s of %s", several(v.j.Problem.Train.Len(), "example"), v.j.Problem.Name)
	if v.run.Spec.Method.AsIs {
		with = " elsewhere, and is judged as it is"
	}
	t.say("A network of %s was taught %s from %s%s.", several(v.run.Net.Dim(), "parameter"), what, inputs, with)
	if n := v.run.Posterior.Size(); n == 1 {
		t.say("What came out is one network.")
	} else {
		t.say("What came out is not one network but %s, each with its weight, that answer together and may disagree.", count(n))
	}
	return t
}

// good says how well it does beside simpler things.
func (v *view) good() topic {
	t := topic{Title: "How good it is"}
	m := v.j.Metrics
	n := float64(m.N)
	switch {
	case m.On == "train" && v.run.Spec.Method.AsIs:
		t.warn("Whether it was trained on these very examples is not known here: if it was, it will do worse on new ones.")
	case m.On == "train":
		t.warn("It was judged on the examples that it learnt from, as nothing was held out: on new ones it will do worse.")
	}
	if v.classes() {
		accuracy := number(m.Accuracy)
		low, high := wilson(accuracy*n, n)
		most := v.mostFrequent()
		t.say("Of %s %s it gets %s right (95\u00a0%% interval %s to %s); to name the most frequent class each time would give %s.",
			count(m.N), v.test(), percent(accuracy), percent(low), percent(high), percent(most))
		if !(low > most) {
			t.warn("That is not clearly better than to name the most frequent class each time.")
		}
		t.believe(v, accuracy)
	} else {
		t.say("On %s %s its typical error (RMSE) is %s, where the mean of the targets errs by %s: it explains %s of their variance.",
			count(m.N), v.test(), significant(number(m.RMSE)), significant(v.spread()), percent(1-math.Pow(number(m.RMSE)/v.spread(), 2)))
		if !(number(m.RMSE) < v.spread()) {
			t.warn("That is no better than to predict the mean each time.")
		}
	}
	t.beside(v)
	return t
}

// believe says whether probabilities can be taken at their word.
func (t *topic) believe(v *view, accuracy float64) {
	m := v.j.Metrics
	bins := uq.Reliability(v.j.Test.Probs, v.j.Test.Classes, v.set.Labels, uq.Bins)
	sum, chance := 0.0, 0.0 // chance: the error that a calibrated network would show for so few examples
	for _, b := range bins {
		if b.Count == 0 {
			continue
		}
		c := float64(b.Count)
		sum += c * b.Confidence
		p := min(max(b.Confidence, 0), 1)
		chance += c / float64(m.N) * math.Sqrt(2/math.Pi*p*(1-p)/c)
	}
	confident, ece := sum/float64(m.N), number(m.ECE)
	way := "too sure of itself"
	if confident < accuracy {
		way = "too modest"
	}
	says := fmt.Sprintf("on average it is %s sure and %s right (calibration error %s)", percent(confident), percent(accuracy), fixed(ece, 3))
	switch {
	case ece > soundECE && ece > 2*chance:
		t.warn("Its probabilities are not to be taken at their word: it is %s; %s.", way, says)
	case ece <= soundECE/2 || ece <= chance:
		t.say("Its probabilities can be taken at their word: %s.", says)
	default:
		t.say("Its probabilities are nearly right, a little %s: %s.", way, says)
	}
}

// beside compares with the point estimates that the run made on its way.
func (t *topic) beside(v *view) {
	m := v.j.Metrics
	figure := func(e float64) string { return fixed(e, 3) }
	if m.MAP == nil || v.single() {
		return
	}
	best, nll := float64(m.MAP.NLL), float64(m.NLL)
	t.say("Its NLL is %s; that of the best single network (MAP) is %s.", figure(nll), figure(best))
	if figure(best) != figure(nll) && best < nll {
		t.warn("The best single network has a better NLL than the posterior.")
	}
	if m.DeepEnsemble == nil || v.restarts() < 2 {
		return
	}
	deep := float64(m.DeepEnsemble.NLL)
	switch {
	case figure(deep) == figure(nll):
		t.say("The deep ensemble of the %d MAPs does as well: %s.", v.restarts(), figure(deep))
	case deep < nll:
		t.warn("The deep ensemble of the %d MAPs, which costs no sampling, does better: NLL %s against %s.", v.restarts(), figure(deep), figure(nll))
	default:
		t.say("The deep ensemble of the %d MAPs comes to %s.", v.restarts(), figure(deep))
	}
}

func (v *view) mostFrequent() float64 {
	counts := make([]float64, v.j.Test.Classes)
	for _, y := range v.set.Labels {
		counts[y]++
	}
	return slices.Max(counts) / float64(len(v.set.Labels))
}

// knows says whether doubt rises where it should.
func (v *view) knows() topic {
	t := topic{Title: "Whether it knows when it does not know"}
	known := v.score(v.j.Test)
	wrong := uq.AUROC(v.scoresOf(v.groups[0]), v.scoresOf(v.groups[1]))
	if v.single() {
		t.warn("One network cannot disagree with itself: it has no epistemic entropy, and what follows is about its whole entropy.")
	}
	if !math.IsNaN(wrong) {
		t.say("Its wrong answers are %s more doubtful than its right ones (AUROC %s).", how(wrong), fixed(wrong, 2))
		risk := uq.RiskCoverage(known, v.mistakes())
		t.say("If it declines the most doubtful tenth, %s of the rest are right instead of %s.", percent(1-riskAt(risk, .9)), percent(1-riskAt(risk, 1)))
	}
	var found, fooled []string
	type area struct {
		name string
		v    float64
	}
	var areas []area
	for _, g := range v.groups[2:] {
		scores := v.scoresOf(g)
		if a := uq.AUROC(known, scores); !math.IsNaN(a) {
			areas = append(areas, area{g.name, a})
			if a < hardly {
				t.warn("It does not notice that %s is foreign: AUROC %s, where 0.5 is chance.", g.name, fixed(a, 2))
			}
		}
		certain := 0.0
		for _, i := range g.rows {
			if confidence(g.said, i) > sure {
				certain++
			}
		}
		if share := certain / float64(len(g.rows)); share >= .1 {
			fooled = append(fooled, fmt.Sprintf("%s of %s", percentRound(share), g.name))
		}
	}
	slices.SortStableFunc(areas, func(a, b area) int { return cmp.Compare(b.v, a.v) })
	for _, a := range areas {
		found = append(found, fmt.Sprintf("%s %s (%s)", a.name, how(a.v), fixed(a.v, 2)))
	}
	if found != nil {
		t.say("Inputs of groups that it was never taught are doubted more than %s: %s.", v.test(), strings.Join(found, ", "))
	} else {
		t.say("It was shown nothing foreign, so nothing is known of what it makes of such inputs: starling evaluate --ood would tell.")
	}
	if fooled != nil {
		t.warn("Some foreign inputs pass for known: it is more than %s sure of %s.", percentRound(sure), list(fooled))
	}
	return t
}

// how puts an area in words.
func how(area float64) string {
	switch {
	case area >= almostAll:
		return "almost always"
	case area >= mostly:
		return "mostly"
	case area >= often:
		return "often"
	case area >= hardly:
		return "sometimes"
	}
	return "not clearly"
}

// trusts says whether the intervals of a regression hold what they promise.
func (v *view) trusts() topic {
	t := topic{Title: "Whether it knows how wrong it may be"}
	share := uq.Coverage(v.j.Values.PIT, .9)
	low, high := wilson(share*float64(len(v.j.Values.PIT)), float64(len(v.j.Values.PIT)))
	says := fmt.Sprintf("%s of the targets lie in their 90\u00a0%% intervals (95\u00a0%% interval %s to %s)", percent(share), percent(low), percent(high))
	switch {
	case low <= .9 && .9 <= high || math.Abs(share-.9) < narrow:
		t.say("Its intervals hold what they promise: %s.", says)
	case share < .9:
		t.warn("Its intervals are too narrow: %s.", says)
	default:
		t.warn("Its intervals are too wide: %s.", says)
	}
	risk := rootRisk(v.spreads(), v.squares())
	t.say("Of the half that it is surest of, the RMSE is %s; of all, %s.", significant(riskAt(risk, .5)), significant(riskAt(risk, 1)))
	if lik := v.run.Net.Likelihood(); lik.Regression() && len(lik.Parameters()) == 0 {
		t.say("The noise was not learnt: the config fixes it.")
	}
	return t
}
