package paper

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/decide"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/uq"
)

// fourRows are two right answers and a wrong one, and a foreign input, with the probabilities by which they abstain.
func fourRows(by decide.Signal) *eval.Assessment {
	return &eval.Assessment{Rule: &decide.Rule{By: by}, Doubts: &decide.Examples{Doubts: []float64{.02, .62, .58}, Wrong: []bool{false, false, true}, Foreign: []float64{.97}}}
}

// The curve by hand: at τ = 0 every row abstains, as two should. From .05 the first row is answered, rightly; from .6 the wrong answer, which costs a
// decision, and from .65 the other right one. At 1 the foreign input is answered, too: two answers are right. Other scores have no curve over τ.
func TestTwoLevel(t *testing.T) {
	var want Values
	for step := range tauSteps + 1 {
		switch {
		case step == 0:
			want = append(want, .5)
		case step < 12: // .05 … .55
			want = append(want, .75)
		case step < 13: // .6
			want = append(want, .5)
		case step < 20:
			want = append(want, .75)
		default:
			want = append(want, .5)
		}
	}
	if got := twoLevel(fourRows(decide.Classifier{})); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for _, a := range []*eval.Assessment{fourRows(decide.Entropy{}), fourRows(decide.Confidence{}), {}} {
		if got := twoLevel(a); got != nil {
			t.Errorf("a rule by %v has a curve over τ: %v", a.Rule, got)
		}
	}

	// The limits of 8 right answers, 3 wrong ones and 4 foreign inputs: below 0 the share of rows that should abstain, at 1 that of right answers.
	a := &eval.Assessment{Rule: &decide.Rule{By: decide.Classifier{}}, Doubts: &decide.Examples{}}
	for i := range 11 {
		a.Doubts.Doubts, a.Doubts.Wrong = append(a.Doubts.Doubts, float64(i+1)/12), append(a.Doubts.Wrong, i%4 == 0)
	}
	a.Doubts.Foreign = []float64{1e-9, .3, .5, 1 - 1e-9}
	curve := twoLevel(a)
	if below := decide.Judge(*a.Doubts, -1).TwoLevel; curve[0] != below || below != 7./15 || curve[tauSteps] != 8./15 {
		t.Errorf("the curve goes from %v to %v; below 0 it is %v", curve[0], curve[tauSteps], below)
	}
}

// The shares of rows that abstain are of the rows of their kind, by hand. Runs that decide nothing have none.
func TestAbstainingShares(t *testing.T) {
	m := &eval.Metrics{Abstention: &eval.Abstention{Verdict: decide.Verdict{
		Answered: decide.Outcome{Right: 30, Wrong: 1, Foreign: 12}, Refused: decide.Outcome{Right: 10, Wrong: 3, Foreign: 36}, TwoLevel: .75,
	}}}
	for name, want := range map[string]uq.Number{"abstains_right": .25, "abstains_wrong": .75, "abstains_foreign": .75, "two_level": .75} {
		i := slices.IndexFunc(SBMC.Figures, func(f Measure) bool { return f.Name == name })
		if got, err := SBMC.Figures[i].Of(&fitDone{Metrics: m}); err != nil || !slices.Equal(got, Values{want}) {
			t.Errorf("%s is %v, %v, want %v", name, got, err, want)
		}
		if got, err := SBMC.Figures[i].Of(&fitDone{Metrics: &eval.Metrics{}}); err != nil || got != nil {
			t.Errorf("%s of a run that decides nothing: %v, %v", name, got, err)
		}
	}
}

// Groups that were scored before there were curves have none; their other scores are read. What is written is read again.
func TestScoredGroups(t *testing.T) {
	var s scoredGroups
	if err := json.Unmarshal([]byte(`{"groups": [{"n": 3, "nll": 0.25, "abstention": {"by": "classifier", "threshold": 0.5, "two_level": 0.75}}]}`), &s); err != nil {
		t.Fatal(err)
	}
	if g := s.Groups[0]; g.NLL != .25 || g.Abstention.TwoLevel != .75 || g.TwoLevel != nil {
		t.Errorf("%+v", g)
	}
	text, err := json.Marshal(s)
	if err != nil || strings.Contains(string(text), "two_level_by_threshold") {
		t.Errorf("%s, %v", text, err)
	}
	s.Groups[0].TwoLevel = Values{.5, .75, .5}
	var again scoredGroups
	if text, err = json.Marshal(s); err == nil {
		err = json.Unmarshal(text, &again)
	}
	if err != nil || !slices.Equal(again.Groups[0].TwoLevel, Values{.5, .75, .5}) || again.Groups[0].NLL != .25 {
		t.Errorf("%s, %v", text, err)
	}
}

// answered are runs of seeds 1, 2, … of the decisions of one cell, of which each has these shares; and curves of a constant, if there are some.
func answered(cell string, right []uq.Number, curves []uq.Number) (runs []Run) {
	for i, r := range right {
		run := Run{Cell: cell, Seed: uint64(i + 1), Protocol: "same", Figures: map[string]Values{"abstains_right": {r}, "abstains_wrong": {.75}, "abstains_foreign": {1}}}
		for range tauSteps + 1 {
			if curves != nil {
				run.Figures["two_level_by_threshold"] = append(run.Figures["two_level_by_threshold"], curves[i])
			}
		}
		runs = append(runs, run)
	}
	return runs
}

// A matrix has the means over the seeds and their standard errors with a variance of 1/R: of .1 and .3 that is .1/√2. A line is the mean at each τ. Where a
// seed lacks a curve, or has another one, there is no line.
func TestAnswersPictures(t *testing.T) {
	const curve = "two_level_by_threshold"
	without := answered("answers-s10-hmc-p1-half", []uq.Number{.2, .2}, []uq.Number{.8, .8})
	delete(without[1].Figures, curve)
	other := answered("answers-s10-smc-p8-half", []uq.Number{.5}, nil)
	other[0].Figures[curve] = Values{.6}
	runs := slices.Concat(answered("answers-ensemble-half", []uq.Number{.1, .3}, []uq.Number{.5, .7}), without, other,
		answered("answers-map-one-f1", []uq.Number{.4, .2}, []uq.Number{.9, .9}))
	pictures, err := SBMC.Pictures(&SBMC, runs)
	if err != nil || len(pictures) != 2 || pictures[0].Name != "confusion" || pictures[1].Name != "two-level" {
		t.Fatalf("%d pictures, %v", len(pictures), err)
	}
	confusion, twoLevel := string(pictures[0].SVG), string(pictures[1].SVG)
	if want := "ensemble of ten, τ = .5</title>"; !strings.Contains(confusion, want) {
		t.Errorf("no %s:\n%s", want, confusion)
	}
	if want := ">right: 20.0 ± 7.1 % abstain. wrong: 75.0 % abstain. foreign: 100.0 % abstain. <"; !strings.Contains(confusion, want) {
		t.Errorf("no %s:\n%s", want, confusion)
	}
	var squares []string
	for _, found := range regexp.MustCompile(`class="count">([^<]*)<`).FindAllStringSubmatch(confusion, -1) {
		squares = append(squares, found[1])
	}
	same := ", 25.0 %, 75.0 %, 0.0 %, 100.0 %, "
	want := "70.0 ± 7.1 %, 30.0 ± 7.1 %" + same + "80.0 ± 7.1 %, 20.0 ± 7.1 %" + same + "50.0 %, 50.0 %" + same + "80.0 %, 20.0 %" + same
	if got := strings.Join(squares, ", ") + ", "; got != want {
		t.Errorf("squares %s want %s", got, want)
	}
	if want := ">ensemble of ten: 0.600 at τ = 0, 0.600 at .5, 0.600 at 1. <"; !strings.Contains(twoLevel, want) || strings.Count(twoLevel, " at τ = 0, ") != 1 {
		t.Errorf("want one line, %s:\n%s", want, twoLevel)
	}
}

// Runs that were recorded before there were shares are read and shown, with a dash for each figure that they lack; they are in no picture.
func TestAnswersWithoutShares(t *testing.T) {
	runs, err := SBMC.decode([]byte(`[{"cell": "answers-ensemble-half", "seed": 1, "protocol": "same", "precision": 0.5, "auc": 0.875, "machine": "m", "version": "v"}]`))
	if err != nil {
		t.Fatal(err)
	}
	text, err := SBMC.More(&SBMC, "", runs)
	if want := "| answers-ensemble-half | 0.500 (0.876 ± 0.007) | – | – | 0.875 (0.855 ± 0.003) | – | – | – | – |\n"; err != nil || !strings.Contains(text, want) {
		t.Errorf("want %s have %s, %v", want, text, err)
	}
	if pictures, err := SBMC.Pictures(&SBMC, runs); pictures != nil || err != nil {
		t.Errorf("%d pictures, %v", len(pictures), err)
	}
}
