package method

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// fitted is the approximation of a job at its end, and what the run found.
func fitted(t testing.TB, job *Job, m VI) (*variational, []string) {
	t.Helper()
	phases, err := m.Phases(job)
	if err != nil {
		t.Fatal(err)
	}
	v := phases[0].Parts[0].(*variational)
	for !v.Done() {
		if _, err := v.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	_, found, err := m.Gather(job, phases, nil)
	if err != nil {
		t.Fatal(err)
	}
	return v, kinds(found)
}

// With defaults, VI ends at the best q on linear networks, whose posterior is known, and finds nothing to mend. Over 40 seeds, the
// logarithm of the ratio of predictive standard deviations had a mean of −.007 and a standard deviation of .02, the largest error of a
// predictive mean .07 and .025 standard deviations of the posterior, and the ELBO was .07 ± .02 nats short of the best with 21 parameters,
// .016 ± .009 with 6. The bounds are six standard deviations away: chance fails one in less than 1e-6 of all seeds. A standard deviation
// that is off by 14 %, a mean that is off by .22 and .2 nats are found. Validation chooses states that are off by up to 6, and 39 nats.
func TestVIDefaultsAreExact(t *testing.T) {
	for _, c := range []struct{ examples, features int }{{20, 5}, {1000, 5}, {1000, 20}} {
		job := newConjugate(t, 31, c.examples, c.features)
		v, found := fitted(t, job.job, settleWith(VI{}.Settle(Around{}, unheard()), Around{}, Sizes{Examples: c.examples}, unheard()).(VI))
		ratio, off := job.predicted(v.kept())
		if gap := job.gap(v.kept()); !(math.Abs(math.Log(ratio)) <= 0.13) || !(off <= 0.22) || !(gap <= 0.2) {
			t.Errorf("%+v: predictive standard deviations of %v of the best, a mean off by %v, %v nats short", c, ratio, off, gap)
		}
		if !slices.Equal(found, []string{"mean-field"}) {
			t.Errorf("%+v: finds %q", c, found)
		}
		for name, vector := range map[string][]float64{"third": v.Third, "last": v.Last} {
			if len(vector) != len(v.first) {
				t.Errorf("%+v: the %s quarter has a mean of %d numbers", c, name, len(vector))
			}
		}
	}
}

// A descent that is cut short says that the ELBO still rose; of 40 seeds all did. One whose rate is too large to stay says that it fell.
func TestVISaysThatItRises(t *testing.T) {
	for _, seed := range []uint64{1, 2, 3} {
		for _, epochs := range []int{8, 100} {
			if _, found := fitted(t, newConjugate(t, seed, 20, 5).job, VI{Epochs: epochs}.Settle(Around{}, unheard()).(VI)); !slices.Equal(found, []string{"elbo-unsettled", "mean-field"}) {
				t.Errorf("seed %d, %d epochs: finds %q", seed, epochs, found)
			}
		}
	}
	v := &variational{VI: VI{Keep: KeepMean}, random: make([]int, 300)}
	for _, c := range []struct {
		rise, se float64
		way      string // none: silent
	}{
		{2.9, 0.1, ""}, {3.1, 0.1, "rose"}, {3.1, 1.1, ""}, {-2.9, 0.1, ""}, {-3.1, 0.1, "fell"}, {math.NaN(), 0.1, "fell"}, {3.1, math.NaN(), "rose"},
	} {
		v.Rise, v.Error = c.rise, c.se
		way := ""
		for _, f := range v.findings() {
			way += f.Names["way"]
		}
		if way != c.way {
			t.Errorf("%+v: %q", c, way)
		}
	}
}

// The rise of the ELBO is the closed form, log Z − KL(q‖posterior), between the two quarters. Of 200 runs the largest error was 4
// standard errors; the bound of 8 leaves room for the few draws of the shortest. Common random numbers make it known better than the
// ELBO of either quarter, by whose own draws the error would be about .4 nats.
func TestVIRiseIsExact(t *testing.T) {
	for _, c := range []struct{ examples, features, epochs int }{{20, 20, 100}, {20, 5, 1000}, {300, 5, 800}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			job := newConjugate(t, 12, c.examples, c.features)
			v, _ := fitted(t, job.job, VI{Epochs: c.epochs}.Settle(Around{}, unheard()).(VI))
			want := job.gap(v.Third) - job.gap(v.Last)
			if !(math.Abs(v.Rise-want) <= 8*v.Error+1e-4*float64(c.examples)) || !(v.Error > 0 && v.Error < 0.25) {
				t.Errorf("rise %v ± %v, want %v", v.Rise, v.Error, want)
			}
		})
	}
}
