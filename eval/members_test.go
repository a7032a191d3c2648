package eval

import (
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/nn"
)

// few is an ensemble of some particles of another, with their weights anew.
func few(t *testing.T, e *bnn.Ensemble, particles ...int) *bnn.Ensemble {
	t.Helper()
	island := bnn.Island{}
	d := e.Net.Dim()
	for _, j := range particles {
		for _, x := range e.Theta[j*d : (j+1)*d] {
			island.Theta = append(island.Theta, float64(x))
		}
		island.LogWeights = append(island.LogWeights, e.LogWeights[j])
	}
	some, err := bnn.Combine(e.Net, []bnn.Island{island}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return some
}

// TestMembersTable: each row has the scores of an ensemble of the members that were kept last, and the last row those of all.
func TestMembersTable(t *testing.T) {
	p := problem(t, testkit.Table(300, "yes", "no", "perhaps"), true, false)
	e := ensemble(t, network(t, 3, nn.Categorical{}), 1, 24, bnn.Equal{})
	m := evaluated(t, e, p).Metrics
	var counts []int
	for _, row := range m.Members {
		counts = append(counts, row.M)
		var particles []int
		for j := 24 - row.M; j < 24; j++ {
			particles = append(particles, j)
		}
		want := evaluated(t, few(t, e, particles...), p).Metrics
		if !near(row.NLL, want.NLL) || row.Accuracy != *want.Accuracy || !near(row.ECE, *want.ECE) {
			t.Errorf("%d members: %+v, an ensemble of them has %v, %v, %v", row.M, row, *want.Accuracy, want.NLL, *want.ECE)
		}
	}
	if !slices.Equal(counts, []int{1, 5, 10, 20, 24}) {
		t.Errorf("rows of %v members", counts)
	}
	if last := m.Members[4]; last.NLL != m.NLL || last.ECE != *m.ECE {
		t.Errorf("all members: %+v", last)
	}
	if m.Members[0].NLL == m.Members[1].NLL {
		t.Error("one member scores as five do")
	}
	ten := few(t, e, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
	if got := evaluated(t, ten, p).Metrics.Members; got != nil {
		t.Errorf("unasked, of ten: %+v", got)
	}
	asked, err := Evaluate(t.Context(), &Ensembles{Posterior: ten, Fewer: true}, p, bnn.Equal{}, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	counts = nil
	for _, row := range asked.Metrics.Members {
		counts = append(counts, row.M)
	}
	if !slices.Equal(counts, []int{1, 5, 10}) {
		t.Errorf("asked, of ten: rows of %v members", counts)
	}
}

// TestLastMembers: the evaluation of some members is that of an ensemble of these, without what is of all members.
func TestLastMembers(t *testing.T) {
	p := problem(t, testkit.Table(300, "yes", "no", "perhaps"), true, false)
	p.Groups = []data.Group{{Name: "train", Set: p.Train}}
	e := ensemble(t, network(t, 3, nn.Categorical{}), 2, 6, bnn.Evidence{})
	last := func(m int) (*Assessment, error) {
		return Evaluate(t.Context(), &Ensembles{Posterior: e, Last: m}, p, bnn.Evidence{}, true, nil)
	}
	a, err := last(3)
	if err != nil {
		t.Fatal(err)
	}
	want := evaluated(t, few(t, e, 4, 5, 11), p).Metrics
	got := a.Metrics
	if !near(got.NLL, want.NLL) || !near(*got.Brier, *want.Brier) || !near(got.ESS, want.ESS) || !near(*got.Groups[2].AUROC, *want.Groups[2].AUROC) {
		t.Errorf("NLL %v, ESS %v; an ensemble of the members has %v, %v", got.NLL, got.ESS, want.NLL, want.ESS)
	}
	if got.Combined != nil || got.LogEvidence != nil || got.Members != nil {
		t.Error("it has an evidence, or a table of members")
	}
	if all, err := last(12); err != nil || !near(all.Metrics.NLL, evaluated(t, e, p).Metrics.NLL) {
		t.Errorf("all members score otherwise: %v", err)
	}
	if _, err := last(13); err == nil {
		t.Error("more members than there are")
	}
}

func near[T ~float64](a, b T) bool { return math.Abs(float64(a-b)) <= 1e-9 }
