package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/uq"
)

// The summary says in sentences what the figures show, and warns of problems. Its thresholds:
const (
	almostAll = 0.95 // AUROC from which a group is "almost always" detected
	mostly    = 0.85
	often     = 0.70
	hardly    = 0.60 // AUROC below which a group is not detected
	sure      = 0.9  // probability above which an answer counts as certain
	mostNamed = 6    // classes that are named
)

// lead names data, network and method in one line.
func (v *view) lead() string {
	examples := several(v.a.Problem.Train.Len(), "training example")
	if v.given() { // trained elsewhere, on unknown data
		examples = several(v.a.Metrics.N, "example") + " to evaluate on"
	}
	return fmt.Sprintf("%s: %s, %s with %s, %s.", v.a.Problem.Name, examples,
		v.run.Net.Title(), v.run.Net.Size(), v.run.Spec.Title())
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

// learnt says which network learnt what from which data.
func (v *view) learnt() topic {
	t := topic{Title: "What was learnt?"}
	network := v.run.Net.Size()
	if v.run.Net.Partly() {
		network += ","
	}
	if v.given() {
		t.say("A network of %s was trained elsewhere %s. An example has %s. The network is evaluated as it is.", network, v.task(), v.inputs())
	} else {
		t.say("A network of %s learnt %s. Each of its %s, from %s, has %s.", network, v.task(), several(v.a.Problem.Train.Len(), "example"), v.a.Problem.Name, v.inputs())
	}
	if s := v.run.Schema; s != nil && s.Targets != nil && s.Targets.Log {
		t.say("It learnt the logarithm of the target. All figures are of the target itself.")
	}
	if n := v.run.Posterior.Size(); n == 1 {
		t.say("The result is one network.")
	} else {
		t.say("The result is an ensemble of %s networks, each with a weight. They answer together, and their disagreement is the "+
			"epistemic uncertainty.", count(n))
	}
	for _, f := range v.found {
		if f.OfData() && f.Warning() {
			t.tell(f)
		}
	}
	return t
}

// task says what the network learnt, in the infinitive.
func (v *view) task() string {
	of := ""
	if s := v.run.Schema; s != nil && s.Named {
		of = s.Target
	}
	switch n := 0; {
	case v.classes():
		if n = v.a.Test.Classes; of != "" {
			of = " of " + of
		}
		if n <= mostNamed {
			names := make([]string, n)
			for c := range names {
				names[c] = v.className(c)
			}
			return "to tell the classes " + numeral.List(names) + of + " apart"
		}
		return fmt.Sprintf("to tell the %s classes%s apart", count(n), of)
	case of != "":
		return "to predict " + of
	}
	return "to predict " + several(max(v.set.Outputs, 1), "number")
}

// inputs says what an example has: pictures, or how many numbers and words. Words, and values that may be missing, make several inputs of
// the network.
func (v *view) inputs() string {
	if s := v.set.Shape; len(s) == 3 {
		return fmt.Sprintf("a picture of %d × %d pixels", s[2], s[1])
	}
	s := v.run.Schema
	if s == nil || s.Columns == nil {
		return several(v.set.Features(), "number")
	}
	words := 0
	for _, e := range s.Expand {
		if e.Categories != nil {
			words++
		}
	}
	columns, inputs := len(s.Features()), len(s.InputNames())
	var has []string
	if columns > words {
		has = append(has, several(columns-words, "number"))
	}
	if words > 0 {
		has = append(has, several(words, "word"))
	}
	text := numeral.List(has)
	if inputs != columns {
		text += ", which make " + several(inputs, "input") + " of the network"
	}
	return text
}

// good says how well the posterior predicts, compared with trivial predictions.
func (v *view) good() topic {
	t := topic{Title: "How good is it?"}
	m := v.a.Metrics
	n := float64(m.N)
	switch {
	case m.On == "train" && v.given():
		t.warn("It is not known here whether the network was trained on these examples. If it was, it is worse on new ones.")
	case m.On == "train":
		t.warn("It was evaluated on the examples that it learnt from, as no others were held out. On new examples it is worse.")
	}
	if says := v.learntFrom("It"); says != "" {
		t.warn("%s", says)
	}
	switch {
	case m.N < uq.Few:
		t.say("It was evaluated on %s: too few to say how good it is.", v.of())
	case v.classes():
		accuracy := number(m.Accuracy)
		low, high := uq.Wilson(accuracy*n, n)
		most := v.a.MostFrequent()
		t.say("It classifies %s of %s %s correctly (95\u00a0%% interval %s to %s). Always answering the most frequent class would give %s.",
			percent(accuracy), count(m.N), v.part(), percent(low), percent(high), percent(most))
		t.skill(v)
		t.believe(v, accuracy)
	default:
		t.say("On %s its typical error (RMSE) is %s%s. Predicting the mean of the targets would have an error of %s%s.",
			v.of(), significant(number(m.RMSE)), v.within(RMSE, significant[float64]), significant(v.a.TargetSD()), v.explains())
		t.skill(v)
	}
	if m.N >= uq.Few {
		t.beside(v)
	}
	for _, f := range v.found {
		if f.OfPredictions() && !finding.Is(f, finding.IntervalsNarrow{}, finding.IntervalsWide{}) {
			t.tell(f)
		}
	}
	return t
}

// explains says which share of the targets' variance the network explains; empty for targets that are all the same.
func (v *view) explains() string {
	sd := v.a.TargetSD()
	if !(sd > 0) {
		return ""
	}
	share := 1 - math.Pow(number(v.a.Metrics.RMSE)/sd, 2)
	if share < 0 {
		return ", which is less"
	}
	return fmt.Sprintf(": the network explains %s of their variance%s", percent(share), v.within(r2Row, percent))
}

// within is the 95 % interval of a figure, in brackets, where the examples are few; else empty.
func (v *view) within(name string, write func(float64) string) string {
	if !Small(v.a) {
		return ""
	}
	return " (95\u00a0% interval " + intervalText(v.a, name, write) + ")"
}

// skill compares the posterior with a guess that does not look at the inputs, unless a finding does.
func (t *topic) skill(v *view) {
	s, ok := v.a.Skill()
	if !ok || v.has(finding.NoSkill{}) {
		return
	}
	t.say("Its NLL is lower than that of %s by %s ± %s (standard error).", v.a.Guess(), fixed(s.By, 3), fixed(s.SE, 3))
}

// learntFrom says that a run, by its name or "It", learnt from examples that it was evaluated on; empty if it did not, or if it is not known.
func (v *view) learntFrom(name string) string {
	m := v.a.Metrics
	if m.TrainedOn == 0 {
		return ""
	}
	return fmt.Sprintf("%s learnt from %s of the %s that it was evaluated on: its scores on them are too good.", name, count(m.TrainedOn), several(m.N, "example"))
}

// believe says whether probabilities are calibrated, unless a finding does.
func (t *topic) believe(v *view, accuracy float64) {
	confidence, ece := uq.Confidence(v.a.Test.Probs, v.a.Test.Classes), number(v.a.Metrics.ECE)
	simulated := uq.ECEByChance(confidence, uq.Bins, eval.Simulations)
	chance := simulated[len(simulated)*19/20]
	shown := fixed(ece, 3)
	rule := fmt.Sprintf("as many examples give a calibrated network up to %s in 95\u00a0%% of simulations", fixed(chance, 3))
	says := fmt.Sprintf("its mean confidence is %s, its accuracy %s (calibration error %s; %s)", percent(uq.Mean(confidence)), percent(accuracy), shown, rule)
	switch {
	case v.has(finding.Underconfident{}, finding.Overconfident{}, finding.Miscalibrated{}):
		t.say("Its calibration error is %s; %s.", shown, rule)
	case ece <= chance:
		t.say("Its probabilities are as reliable as these examples can tell: %s.", says)
	default:
		t.say("Its probabilities are nearly reliable: %s.", says)
	}
}

// beside compares the posterior with the point estimates of the run.
func (t *topic) beside(v *view) {
	m := v.a.Metrics
	figure := func(e float64) string { return fixed(e, 3) }
	if m.MAP == nil || v.single() {
		return
	}
	t.say("On the %s its NLL is %s%s; the NLL of the best single network (MAP) is %s.", v.of(), figure(float64(m.NLL)), v.within(NLL, figure), figure(float64(m.MAP.NLL)))
	if m.DeepEnsemble != nil && v.restarts() > 1 {
		t.say("The NLL of the deep ensemble of the %d MAPs is %s.", v.restarts(), figure(float64(m.DeepEnsemble.NLL)))
	}
}

// knows says whether uncertainty is high for wrong answers and out-of-distribution inputs.
func (v *view) knows() topic {
	t := topic{Title: "Does it know when it does not know?"}
	known := v.score(v.a.Test)
	wrong := uq.AUROC(v.scoresOf(v.groups[0]), v.scoresOf(v.groups[1]))
	if v.single() {
		t.warn("A single network has no epistemic entropy. The uncertainty below is its total entropy.")
	}
	right, mistaken := len(v.groups[0].rows), len(v.groups[1].rows)
	switch {
	case min(right, mistaken) < uq.Few:
		t.say("It has %s and %s among %s: too few to say whether it is less sure of the wrong ones.",
			several(right, "right answer"), several(mistaken, "wrong answer"), v.of())
	case !math.IsNaN(wrong):
		t.say("Its %s wrong answers are %s more uncertain than its %s right ones (AUROC %s).", count(mistaken), how(wrong), count(right),
			AreaOf(wrong, right, mistaken, 2))
		if Small(v.a) {
			break
		}
		risk := uq.RiskCoverage(known, v.mistakes())
		t.say("If it declines the most uncertain tenth, %s of the other answers are right instead of %s.", percent(1-riskAt(risk, .9)), percent(1-riskAt(risk, 1)))
	}
	var found, fooled, small []string
	type area struct {
		name string
		v    float64
		text string
	}
	var areas []area
	for _, g := range v.groups[2:] {
		scores := v.scoresOf(g)
		if min(len(known), len(scores)) < uq.Few {
			small = append(small, fmt.Sprintf("%s (%s)", g.name, count(len(scores))))
			continue
		}
		if a := uq.AUROC(known, scores); !math.IsNaN(a) {
			areas = append(areas, area{g.name, a, AreaOf(a, len(known), len(scores), 2)})
			if a < hardly {
				t.warn("It does not notice that %s is out of distribution: AUROC %s, where 0.5 is chance.", g.name, fixed(a, 2))
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
		found = append(found, fmt.Sprintf("%s %s (%s)", a.name, how(a.v), a.text))
	}
	if found != nil {
		t.say("Out-of-distribution (OOD) inputs are more uncertain than %s: %s.", v.part(), strings.Join(found, ", "))
	}
	switch {
	case small != nil:
		t.say("Of %s there are too few inputs, or too few test examples, to say whether it notices them.", numeral.List(small))
	case found == nil:
		t.say("It was not evaluated on out-of-distribution (OOD) inputs: starling evaluate --ood does that.")
	}
	if fooled != nil {
		t.warn("Some out-of-distribution inputs are not noticed: it is more than %s sure of its answers for %s.", percentRound(sure), numeral.List(fooled))
	}
	return t
}

// how puts an AUROC in words.
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

// trusts says whether the intervals of a regression are calibrated.
func (v *view) trusts() topic {
	t := topic{Title: "Does it know how wrong it may be?"}
	if v.a.Metrics.N < uq.Few {
		t.say("It was evaluated on %s: too few to say whether its intervals are right.", v.of())
		return t
	}
	share := uq.Coverage(v.a.Regression.PIT, .9)
	low, high := uq.Wilson(share*float64(len(v.a.Regression.PIT)), float64(len(v.a.Regression.PIT)))
	says := fmt.Sprintf("of %s, %s lie in their 90\u00a0%% intervals (95\u00a0%% interval %s to %s)", several(len(v.a.Regression.PIT), "target"), percent(share), percent(low), percent(high))
	switch {
	case v.has(finding.IntervalsNarrow{}, finding.IntervalsWide{}):
		for _, f := range v.found {
			if finding.Is(f, finding.IntervalsNarrow{}, finding.IntervalsWide{}) {
				t.tell(f)
			}
		}
	case Small(v.a):
		t.say("Of %s, %s lie in their 90\u00a0%% intervals (95\u00a0%% interval %s to %s).", several(len(v.a.Regression.PIT), "target"), percent(share), percent(low), percent(high))
	case low <= .9 && .9 <= high:
		t.say("Its intervals are as reliable as these examples can tell: %s.", says)
	default:
		t.say("Its intervals are nearly reliable: %s.", says)
	}
	if !Small(v.a) {
		risk := rootRisk(v.spreads(), v.squares())
		t.say("The RMSE is %s over the half that it is surest of, and %s over all.", significant(riskAt(risk, .5)), significant(riskAt(risk, 1)))
	}
	if net := v.run.Net; len(net.Likelihood().Parameters()) == 0 && net.Targets() == net.Outputs() {
		t.say("The noise was not learnt: the config fixes it.")
	}
	return t
}
