package method

import (
	"slices"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/nn"
)

// doubled is a set with every example twice.
func doubled(set *data.Set) *data.Set {
	two := *set
	two.F32, two.Labels = slices.Concat(set.F32, set.F32), slices.Concat(set.Labels, set.Labels)
	return &two
}

// The loss of point estimates is a mean over examples, and the prior counts as 1/N of it: with every example twice and a prior of half
// the variance, whose logarithm is twice as steep, descents by all examples at once go the same way, whatever optimiser makes the steps. Of
// half the variance alone they go another.
func TestDescentsOfDoubledData(t *testing.T) {
	for name, by := range map[string]nn.Optimiser{"sgd": nn.SGD{Momentum: 0.5}, "adam": nn.Adam{}} {
		descend := func(double bool, variance float64) []float64 {
			job := newJob(t, 1).provide(AsIs{})
			job.Data.Validate = nil
			if double {
				job.Data.Train = doubled(job.Data.Train)
			}
			var err error
			if job.Model, err = nn.NewTraining(job.Net, job.Data, job.Pool); err != nil {
				t.Fatal(err)
			}
			job.Prior = prior(t, job.Net, variance)
			job.Search = &Search{Restarts: 1, Rate: 0.05, Batch: 1000, Epochs: 12, Start: bnn.FromPrior{}, Keep: KeepLastEpoch, Optimiser: by, Schedule: nn.Constant{}}
			do(t, job, MAP{}.Settle(around(MAP{}), unheard()))
			return job.Points.Best()
		}
		want := descend(false, 0.02)
		wantNear(t, name, descend(true, 0.01), want, 1e-4)
		far := 0.0
		for i, x := range descend(false, 0.01) {
			far = max(far, x-want[i], want[i]-x)
		}
		if !(far > 1e-2) {
			t.Errorf("%s: the prior makes a difference of %v: the test has no power", name, far)
		}
	}
}
