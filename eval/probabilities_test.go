package eval

import (
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/uq"
)

// reference is ReadReference of a file with these bytes.
func reference(t *testing.T, array string, classes int, names []string) (*Reference, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "r")
	save(t, file, array)
	return ReadReference(file, classes, names)
}

// TestCompareWithReference: three rows by hand, of which two agree, at distances .2, .3 and .2; a reference of particles counts by its mean.
func TestCompareWithReference(t *testing.T) {
	probs := npy(t, []int{3, 3}, .7, .2, .1, .1, .3, .6, .4, .4, .2)
	mean := npy(t, []int{3, 3}, .5, .2, .3, .2, .5, .3, .5, .5, 0)
	two := npy(t, []int{2, 3, 3}, .4, .3, .3, .4, .5, .1, .25, .75, 0, .6, .1, .3, 0, .5, .5, .75, .25, 0)
	s, err := scored(t, probs, integers(0, 1, 2), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, array := range map[string]string{"probabilities": mean, "particles": two} {
		r, err := reference(t, array, 3, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Compare(r); err != nil {
			t.Fatal(err)
		}
		if a := s.Against; a.Agreement != 2./3 || a.N != 3 || !(math.Abs(float64(a.TotalVariation)-.7/3) <= 1e-15) {
			t.Errorf("%s: %+v", name, a)
		}
	}
	particles, err := scored(t, two, integers(0, 1, 2), "", nil) // those that are scored count by their mean, too
	if err != nil {
		t.Fatal(err)
	}
	r, err := reference(t, two, 3, nil)
	if err != nil || particles.Compare(r) != nil || *particles.Against != (uq.Against{Agreement: 1, N: 3}) {
		t.Errorf("the reference itself: %+v, %v", particles.Against, err)
	}
}

// TestRunAgainstReference: a run is compared by its posterior's probabilities, in the order of the examples evaluated on.
func TestRunAgainstReference(t *testing.T) {
	p := problem(t, testkit.Table(300, "yes", "no", "perhaps"), true, false)
	e := &Ensembles{Posterior: ensemble(t, network(t, 3, nn.Categorical{}), 2, 3, nil)}
	a, err := Evaluate(t.Context(), e, p, nil, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	n := a.Test.Len()
	q := slices.Clone(a.Test.Probs)
	q[0], q[1], q[2] = q[1], q[2], q[0]
	r, err := reference(t, npy(t, []int{n, 3}, q...), 3, p.Schema.Names)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Compare(r); err != nil {
		t.Fatal(err)
	}
	distance := uq.TotalVariation(a.Test.Probs[:3], q[:3], 3)[0] / float64(n)
	if got := a.Metrics.Against; !(math.Abs(float64(got.Agreement)-float64(n-1)/float64(n)) <= 1e-12) || distance == 0 || !(math.Abs(float64(got.TotalVariation)-distance) <= 1e-12) {
		t.Errorf("%+v of %d examples, want one to differ, by %v in the mean", got, n, distance)
	}
}

// TestReferenceRefused: every fault is an InputError with file and place.
func TestReferenceRefused(t *testing.T) {
	good := npy(t, []int{2, 2}, .75, .25, .5, .5)
	classes := []string{"ash", "birch", "oak"}
	for name, c := range map[string]struct {
		array string
		names []string
		want  string
	}{
		"sum":          {npy(t, []int{2, 3}, .5, .5, 0, 1, 1, 0), nil, "r: row 1 sums to 2, not 1: want probabilities"},
		"of particles": {npy(t, []int{2, 1, 3}, 1, 0, 0, 1, 1, 0), nil, "r: particle 1, row 0 sums to 2"},
		"NaN":          {npy(t, []int{2, 3}, .5, .5, 0, math.NaN(), 1, 0), nil, "r: row 1, class 0 is NaN"},
		"flat":         {npy(t, []int{3}, .2, .3, .5), nil, "r: shape [3], want probabilities"},
		"nothing":      {npy(t, []int{0, 3}), nil, "nothing to score"},
		"classes":      {good, nil, "r: shape [2 2] has 2 classes, the prediction has 3: want a column for each, in their order"},
		"of a run":     {good, classes, `r: shape [2 2] has 2 classes, the run has 3: want a column for each, in the order of the run's names ("ash", "birch", "oak")`},
	} {
		var bad *InputError
		if _, err := reference(t, c.array, 3, c.names); !errors.As(err, &bad) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	s, err := scored(t, npy(t, []int{3, 2}, 1, 0, 1, 0, 1, 0), integers(0, 0, 0), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := reference(t, good, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	var bad *InputError
	if err, want := s.Compare(r), "r: shape [2 2] has rows for 2 examples, and 3 were evaluated: want a row for each of them, in their order"; !errors.As(err, &bad) ||
		!strings.Contains(err.Error(), want) || s.Against != nil {
		t.Errorf("other rows: %v, want %q", err, want)
	}
	if _, err := ReadReference(filepath.Join(t.TempDir(), "nowhere"), 2, nil); !errors.As(err, &bad) || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("a missing file: %v", err)
	}
}
