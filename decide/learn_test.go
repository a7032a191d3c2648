package decide

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/uq"
)

// predicted makes the predictions of one network that is too sure, for examples and for foreign inputs.
func predicted(k, n int) *Classes {
	labelled := func(probs []float64, labels []int32) Labelled {
		p := network(probs, 4)
		return Labelled{Probs: probs, Labels: labels, Features: FeaturesOf(p),
			Rows: &Rows{Entropy: p.Total, Epistemic: p.Epistemic, Confidence: uq.Confidence(probs, 4)}}
	}
	probs, labels := sample(random(800+k), n, 4)
	c := &Classes{Classes: 4, Temperature: 1, Calibrate: labelled(Temper(probs, 4, 0.5), labels)}
	probs, _ = sample(random(900+k), n, 4)
	f := labelled(Temper(probs, 4, 5), nil)
	c.Foreign = &f
	return c
}

func (s Settings) must(t *testing.T, c *Classes) *Decision {
	t.Helper()
	d, err := s.Classes(context.Background(), c, 3, nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDecision(t *testing.T) {
	c := predicted(0, 1000)
	c.Temperature = 2
	s := Settings{Sets: &Sets{Score: APS{}, Rate: 0.9}, Abstain: &Abstain{By: Entropy{}, At: Coverage(0.8)}}
	d := s.must(t, c)
	sets, _ := s.Sets.Conformal(Temper(c.Calibrate.Probs, 4, 2), 4, c.Calibrate.Labels, func() (u []float64) {
		for i := range 1000 {
			u = append(u, Uniform(3, 0, i))
		}
		return u
	}())
	if !slices.Equal(d.Sets.Thresholds, sets.Thresholds) || d.Sets.Examples != 1000 || d.Rule.Examples != 1000 || d.Network != nil {
		t.Errorf("%+v", d)
	}
	if d := (Settings{Sets: s.Sets}).must(t, c); d.Rule != nil {
		t.Errorf("without a rule: %+v", d)
	}
}

// TestDecisionOfNumbers: intervals and the threshold are those of their own functions, and foreign inputs count for f1.
func TestDecisionOfNumbers(t *testing.T) {
	r := random(77)
	n := &Numbers{Rows: &Rows{}, Foreign: &Rows{SD: []float64{9, 9, 9}}}
	for range 400 {
		sd := 0.5 + r.Float64()
		n.Y, n.Mean, n.Rows.SD = append(n.Y, sd*r.Normal()), append(n.Mean, 0), append(n.Rows.SD, sd)
		n.Low, n.High = append(n.Low, -sd), append(n.High, sd)
	}
	s := Settings{Sets: &Sets{Rate: 0.9}, Abstain: &Abstain{At: F1{}, Tolerance: 2}}
	d, err := s.Numbers(n)
	if err != nil {
		t.Fatal(err)
	}
	intervals, _ := s.Sets.Intervals(n.Low, n.High, n.Y)
	want := Abstain{By: SD{}, At: F1{}}.must(t, Examples{Doubts: n.Rows.SD, Wrong: WrongNumbers(n.Mean, n.Y, 2), Foreign: n.Foreign.SD})
	if *d.Intervals != *intervals || d.Rule.Threshold != want.Threshold || d.Rule.By != (SD{}) {
		t.Errorf("%+v, %+v: want %+v, %+v", d.Intervals, d.Rule, intervals, want)
	}
	n.Foreign = nil
	if d, err := s.Numbers(n); err == nil || d.Intervals == nil || d.Rule != nil {
		t.Errorf("f1 without foreign inputs: %+v, %v", d, err)
	}
	s.Abstain.Tolerance = 0
	if _, err := s.Numbers(n); err == nil {
		t.Error("f1 of numbers needs no tolerance")
	}
}

func TestDecisionByClassifier(t *testing.T) {
	c := predicted(1, 500)
	s := Settings{Abstain: &Abstain{By: Classifier{}, At: F1{}}}
	d := s.must(t, c)
	wrong, _ := Wrongs(c.Calibrate.Probs, 4, c.Calibrate.Labels)
	held := HoldOut(append(slices.Clone(wrong), slices.Repeat([]bool{true}, 500)...), 3)
	if d.Rule.Examples != count(held[:500]) || d.Rule.Examples == 500 {
		t.Errorf("the threshold is chosen by %d examples, %d are held out", d.Rule.Examples, count(held[:500]))
	}
	p, err := d.Network.Wrong(context.Background(), c.Calibrate.Features, nil)
	if err != nil {
		t.Fatal(err)
	}
	f, _ := d.Network.Wrong(context.Background(), c.Foreign.Features, nil)
	want := Abstain{By: Classifier{}, At: F1{}}.must(t, Examples{Doubts: pick(p, held[:500]), Wrong: pick(wrong, held[:500]), Foreign: pick(f, held[500:])})
	if d.Rule.Threshold != want.Threshold {
		t.Errorf("the threshold is %v, want %v", d.Rule.Threshold, want.Threshold)
	}
	// A risk needs so many examples that enough of them are held out.
	few := Settings{Abstain: &Abstain{By: Classifier{}, At: Risk(0.02)}}
	need := new(NeedError)
	if _, err := few.Classes(context.Background(), c, 3, nil); !errors.As(err, &need) || need.Have != 500 || need.Need != 749 {
		t.Errorf("a risk of 0.02: %v", err)
	}
	for _, right := range []int{0, 744, 745, 746, 749} { // of 749 examples, whose other answers are wrong
		if z := slices.Concat(make([]bool, right), slices.Repeat([]bool{true}, 749-right)); count(HoldOut(z, 3)) < 149 {
			t.Errorf("of %d right answers among 749 examples %d are held out", right, count(HoldOut(z, 3)))
		}
	}
	// By the letter the network learns from the fitted examples, so that all others choose the threshold.
	s.Abstain.By = Classifier{Literal: true}
	if _, err := s.Classes(context.Background(), c, 3, nil); err == nil {
		t.Error("a literal classifier needs no fitted examples")
	}
	c.Fitted = &predicted(2, 300).Calibrate
	if d := s.must(t, c); d.Rule.Examples != 500 {
		t.Errorf("a literal classifier leaves %d examples", d.Rule.Examples)
	}
}

// TestDecisionRefusesOnePiece: the classifier is refused, sets are not.
func TestDecisionRefusesOnePiece(t *testing.T) {
	s := Settings{Sets: &Sets{Score: LAC{}, Rate: 0.9}, Abstain: &Abstain{By: Classifier{}, At: F1{}}}
	for what, change := range map[string]func(*Classes){
		"a single class":   func(c *Classes) { c.Calibrate.Labels = make([]int32, 300) },
		"no foreign input": func(c *Classes) { c.Foreign = nil },
		"no wrong answer": func(c *Classes) {
			for i := range c.Calibrate.Labels {
				c.Calibrate.Labels[i] = int32(uq.Argmax(c.Calibrate.Probs[4*i : 4*i+4]))
			}
		},
	} {
		c := predicted(3, 300)
		change(c)
		d, err := s.Classes(context.Background(), c, 3, nil)
		if err == nil || d.Sets == nil || d.Rule != nil || d.Network != nil {
			t.Errorf("%s: %+v, %v", what, d, err)
		}
	}
	c := predicted(4, 60)
	s.Abstain = &Abstain{At: Risk(0.02)}
	s.Sets.Rate = 0.99
	var need *NeedError
	if d, err := s.Classes(context.Background(), c, 3, nil); !errors.As(err, &need) || d.Sets != nil || d.Rule != nil {
		t.Errorf("too few examples: %+v, %v", d, err)
	}
	c.Calibrate.Labels[5] = 4
	if _, err := s.Classes(context.Background(), c, 3, nil); err == nil {
		t.Error("a label out of range is taken")
	}
	if _, err := s.Classes(context.Background(), &Classes{Classes: 4, Calibrate: Labelled{Rows: &Rows{}}}, 3, nil); err == nil {
		t.Error("no examples are taken")
	}
	c = predicted(5, 400)
	for k := range 4 {
		c.Calibrate.Probs[4*9+k] = math.NaN()
	}
	c.Calibrate.Rows.Entropy[9] = math.NaN()
	s = Settings{Sets: &Sets{Score: LAC{}, Rate: 0.9}, Abstain: &Abstain{At: Coverage(0.9)}}
	if d := s.must(t, c); d.Sets.Examples != 399 || math.IsInf(d.Rule.Threshold, 0) {
		t.Errorf("with a row that is NaN: %+v", d)
	}
}
