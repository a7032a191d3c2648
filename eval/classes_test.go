package eval

import (
	"math"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/uq"
)

// TestUnnamedClass: a network may have more classes than a set has names; the others are called by their numbers.
func TestUnnamedClass(t *testing.T) {
	p := problem(t, testkit.Table(300, "yes", "no", "perhaps"), true, false)
	m := evaluated(t, ensemble(t, network(t, 4, nn.Categorical{}), 2, 6, bnn.Equal{}), p).Metrics
	if len(m.ByClass) != 4 || m.ByClass[2].Class != "yes" || m.ByClass[3].Class != "3" {
		t.Errorf("%+v", m.ByClass)
	}
}

// TestAllClasses: both readings of a set with classes that the network does not have. The shared classes are scored alone; then the
// examples of other classes are all wrong, even where the answer is the class that stands for theirs in the loss.
func TestAllClasses(t *testing.T) {
	p := problem(t, testkit.Table(300, "yes", "no", "perhaps"), true, false)
	e := ensemble(t, network(t, 3, nn.Categorical{}), 2, 6, bnn.Equal{})
	alone := evaluated(t, e, p).Metrics
	if alone.AllClasses != nil {
		t.Error("a second reading without other classes")
	}
	more, err := e.Predict(t.Context(), p.Validate, nil)
	if err != nil {
		t.Fatal(err)
	}
	shared, others := float64(p.Test.Len()), float64(p.Validate.Len())
	const class = 1
	loss, answered := 0.0, 0
	for i := range p.Validate.Len() {
		loss -= math.Log(more.Probs[3*i+class])
		if uq.Argmax(more.Probs[3*i:3*i+3]) == class {
			answered++
		}
	}
	if answered == 0 {
		t.Fatal("no answer is the class that stands for the others: the test says nothing")
	}
	p.Unshared = &data.Unshared{Set: p.Validate, Class: class}
	m := evaluated(t, e, p).Metrics
	if m.NLL != alone.NLL || *m.Accuracy != *alone.Accuracy || m.N != alone.N {
		t.Error("examples of other classes change the scores of the shared ones")
	}
	all := m.AllClasses
	if all.N != int(shared+others) || !near(float64(all.Accuracy), float64(*m.Accuracy)*shared/(shared+others)) || all.Class == nil || *all.Class != class {
		t.Errorf("all classes: %+v", all)
	}
	if want := (float64(m.NLL)*shared + loss) / (shared + others); !near(float64(all.NLL), want) {
		t.Errorf("NLL %v, want %v", all.NLL, want)
	}
	// In each bin of confidence the examples of other classes add to the confidence, and nothing to the right answers.
	known, bins := evaluated(t, e, p).Test, [uq.Bins]float64{}
	for i, confidence := range uq.Confidence(known.Probs, 3) {
		if uq.Argmax(known.Probs[3*i:3*i+3]) == int(p.Test.Labels[i]) {
			confidence--
		}
		bins[int(math.Ceil(uq.Confidence(known.Probs, 3)[i]*uq.Bins))-1] += confidence
	}
	for _, confidence := range uq.Confidence(more.Probs, 3) {
		bins[int(math.Ceil(confidence*uq.Bins))-1] += confidence
	}
	ece := 0.0
	for _, gap := range bins {
		ece += math.Abs(gap) / (shared + others)
	}
	if !near(float64(all.ECE), ece) {
		t.Errorf("ECE %v, want %v", all.ECE, ece)
	}
	p.Unshared.Class = data.NoClass
	if all := evaluated(t, e, p).Metrics.AllClasses; !math.IsInf(float64(all.NLL), 1) || all.Class != nil {
		t.Errorf("no class stands for the others: %+v", all)
	}
}
