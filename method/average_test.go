package method

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/nn"
)

// quadratic is a job whose loss is quadratic: a linear regression with known noise. After a short search, its loss is
// θ'Hθ/2 − b'θ, and its minimum θ*.
func quadratic(t *testing.T) (job *Job, h *mat.SymDense, minimum []float64) {
	t.Helper()
	const n, sd, v = 40, 0.5, 0.05
	set := regression(n)
	job = &Job{
		Seed: 3, Net: linear(t, nn.Gaussian{SD: sd}), Pool: pool.New(2), Run: without(t), Data: &data.Problem{Name: "linear", Train: set},
		Search: &Search{Restarts: 2, Batch: n, Rate: 0.02, Epochs: 2},
	}
	job.Search.Complete(0, false, nil)
	job.Prior = prior(t, job.Net, v)
	h = mat.NewSymDense(3, nil)
	b := mat.NewVecDense(3, nil)
	for k := range 3 {
		h.SetSym(k, k, 1.0/(v*n))
	}
	for i := range n {
		for k := range 3 {
			x := float64(set.F32[3*i+k])
			b.SetVec(k, b.AtVec(k)+x*float64(set.Values[i])/(sd*sd*n))
			for l := k; l < 3; l++ {
				h.SetSym(k, l, h.At(k, l)+x*float64(set.F32[3*i+l])/(sd*sd*n))
			}
		}
	}
	var star mat.VecDense
	if err := star.SolveVec(h, b); err != nil {
		t.Fatal(err)
	}
	if err := job.search(t.Context(), newOutcome()); err != nil {
		t.Fatal(err)
	}
	return job, h, star.RawVector().Data
}

// averages carries out the trajectories of a method.
func averages(t *testing.T, job *Job, m Method) (parts []*average) {
	t.Helper()
	phases, err := m.Phases(job)
	if err != nil {
		t.Fatal(err)
	}
	if err := job.Run.Phase(t.Context(), job.Pool, phases[0]); err != nil {
		t.Fatal(err)
	}
	for _, part := range phases[0].Parts {
		parts = append(parts, part.(*average))
	}
	return parts
}

// On a quadratic loss, with all examples in a batch, gradient descent is linear: with momentum μ the differences d_t = θ_t − θ*
// obey d_{t+1} = (1 + μ − ηH) d_t − μ d_{t−1}, in each eigendirection of H. The mean of the snapshots follows from the powers of
// its companion matrix C: the sum of C^t from warmup+1 to warmup+T is C^(warmup+1) (I − C^T)(I − C)⁻¹.
func TestSWAOfQuadraticLosses(t *testing.T) {
	job, h, minimum := quadratic(t)
	var eigen mat.EigenSym
	if !eigen.Factorize(h, true) {
		t.Fatal("no eigenvalues")
	}
	var axes mat.Dense
	eigen.VectorsTo(&axes)
	for _, m := range []SWA{
		{Averaging{Members: 1, Rate: 0.02, Momentum: 0, Warmup: 0, Snapshots: 1}},
		{Averaging{Members: 1, Rate: 0.02, Momentum: 0, Warmup: 3, Snapshots: 9}},
		{Averaging{Members: 2, Rate: 0.01, Momentum: 0.9, Warmup: 5, Snapshots: 12}},
	} {
		for i, part := range averages(t, job, m) {
			start := job.Points.at(i, 1)
			if m.Members == 1 {
				start = job.Points.Best()
			}
			want := append([]float64(nil), minimum...)
			for k, value := range eigen.Values(nil) {
				d := 0.0 // the start in this direction; the step before it was none
				for l := range 3 {
					d += axes.At(l, k) * (start[l] - minimum[l])
				}
				c := mat.NewDense(2, 2, []float64{1 + m.Momentum - m.Rate*value, -m.Momentum, 1, 0})
				var first, last, rest, inverse, sum mat.Dense
				first.Pow(c, m.Warmup+1)
				last.Pow(c, m.Snapshots)
				identity := mat.NewDiagDense(2, []float64{1, 1})
				last.Sub(identity, &last)
				rest.Sub(identity, c)
				if err := inverse.Inverse(&rest); err != nil {
					t.Fatal(err)
				}
				sum.Product(&first, &last, &inverse)
				mean := (sum.At(0, 0) + sum.At(0, 1)) * d / float64(m.Snapshots)
				for l := range 3 {
					want[l] += axes.At(l, k) * mean
				}
			}
			wantNear(t, fmt.Sprintf("%+v, member %d", m, i), part.Mean, want, 2e-6)
		}
	}
}

// Mean, squares and deviations are those of the snapshots, by the definitions of Maddox et al. (2019): the second moment minus the
// squared mean, and the deviation of each of the last snapshots from the mean of its time. Saved and restored after every epoch,
// a trajectory ends with the same bytes.
func TestSnapshots(t *testing.T) {
	job := newJob(t, 1).provide(SWAG{}.Settle(Around{}, unheard()))
	if err := job.search(t.Context(), newOutcome()); err != nil {
		t.Fatal(err)
	}
	m := SWAG{Averaging: Averaging{Rate: 0.05, Warmup: 2, Snapshots: 7}, Rank: 3}.Settle(Around{}, unheard()).(SWAG)
	fresh := func() *average {
		phases, err := m.Phases(job)
		if err != nil {
			t.Fatal(err)
		}
		return phases[0].Parts[0].(*average)
	}
	a, again := fresh(), fresh()
	var snapshots [][]float64
	for !a.Done() {
		if _, err := a.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
		if a.taken() > 0 {
			snapshots = append(snapshots, append([]float64(nil), a.Theta...))
		}
		if err := again.UnmarshalBinary(packed(t, again.from(a))); err != nil {
			t.Fatalf("epoch %d: %v", a.Epochs, err)
		}
		if again.Done() {
			break
		}
		next, err := runs.RunPart(t.Context(), again, nil)
		if err != nil {
			t.Fatal(err)
		}
		if end := averagedEnd(t, fresh()); !bytes.Equal(next, end) {
			t.Fatalf("a trajectory that was restored after epoch %d ends with other bytes", a.Epochs)
		}
		again = fresh()
	}
	if len(snapshots) != 7 {
		t.Fatalf("%d snapshots", len(snapshots))
	}
	d := job.Net.Dim()
	for i := range d {
		m1, m2 := 0.0, 0.0
		for k, s := range snapshots {
			m1 += (s[i] - m1) / float64(k+1)
			m2 += (s[i]*s[i] - m2) / float64(k+1)
			if k >= 4 {
				wantNear(t, "deviation", a.Deviations[k%3*d+i:][:1], []float64{s[i] - m1}, 1e-12)
			}
		}
		wantNear(t, "mean", a.Mean[i:i+1], []float64{m1}, 1e-12)
		wantNear(t, "variance", []float64{variance(a.Squares[i], 7)}, []float64{m2 - m1*m1}, 1e-12)
	}
	for _, other := range []Method{SWA{Averaging{Members: 1, Rate: 0.05, Warmup: 2, Snapshots: 7}}, SWA{Averaging{Members: 1, Rate: 0.05, Snapshots: 3}}} {
		phases, err := other.Phases(job)
		if err != nil {
			t.Fatal(err)
		}
		if err := phases[0].Parts[0].UnmarshalBinary(packed(t, a)); err == nil || !strings.Contains(err.Error(), "a trajectory of 9 epochs") {
			t.Errorf("%s takes a state of %s: %v", other.Title(), m.Title(), err)
		}
	}
}

// from is the trajectory with the state of another.
func (a *average) from(other *average) *average {
	a.averaged = other.averaged
	return a
}

// averagedEnd runs a trajectory to its end.
func averagedEnd(t *testing.T, a *average) []byte {
	t.Helper()
	end, err := runs.RunPart(t.Context(), a, nil)
	if err != nil {
		t.Fatal(err)
	}
	return end
}

// The covariance of 20,000 draws is that of the formula. For a Gaussian, an entry of the sample covariance of n draws has the
// variance (Σ_ii Σ_jj + Σ_ij²)/n. Of 27 distinct means and entries, one is 5.6 standard deviations away once in 1.7·10⁶ seeds; the
// test finds an error of 6 % in a variance.
func TestSWAGCovariance(t *testing.T) {
	const n, snapshots = 20000, 5
	a := &averaged{
		Mean: []float64{1, -2, 0.5}, Squares: []float64{5 * 0.5, 5 * 0.2, 0},
		Deviations: []float64{1, 0.5, 0, -0.5, 0.5, 0.3, 0.2, -1, 0.4},
	}
	for _, m := range []SWAG{
		{Averaging: Averaging{Snapshots: snapshots}, Rank: 3, Scale: 0.5},
		{Averaging: Averaging{Snapshots: snapshots}, Rank: 2, Scale: 2},
		{Averaging: Averaging{Snapshots: snapshots}, Diagonal: true, Scale: 1},
	} {
		var want [3][3]float64
		for i := range 3 {
			want[i][i] = m.Scale * a.Squares[i] / snapshots
			for j := range 3 {
				for k := range m.Rank {
					want[i][j] += m.Scale * a.Deviations[3*k+i] * a.Deviations[3*k+j] / float64(m.Rank-1)
				}
			}
		}
		var sum [3]float64
		var square [3][3]float64
		theta := make([]float64, 3)
		for draw := range n {
			m.draw(a, rng.Key{Seed: 5, Purpose: rng.Draw, Iteration: draw}.Stream(), theta)
			for i := range 3 {
				sum[i] += theta[i] - a.Mean[i]
				for j := range 3 {
					square[i][j] += (theta[i] - a.Mean[i]) * (theta[j] - a.Mean[j])
				}
			}
		}
		for i := range 3 {
			if !(math.Abs(sum[i]/n) <= 5.6*math.Sqrt(want[i][i]/n)) {
				t.Errorf("%s: mean %d is %v off", m.Title(), i, sum[i]/n)
			}
			for j := range 3 {
				bound := 5.6 * math.Sqrt((want[i][i]*want[j][j]+want[i][j]*want[i][j])/n)
				if got := square[i][j] / n; !(math.Abs(got-want[i][j]) <= bound) {
					t.Errorf("%s: covariance %d, %d is %v, want %v ± %v", m.Title(), i, j, got, want[i][j], bound)
				}
			}
		}
	}
}

// A diagonal SWAG of one snapshot has no spread: its draws are that snapshot.
func TestSWAGOfOneSnapshot(t *testing.T) {
	m := SWAG{Averaging: Averaging{Rate: 0.01, Warmup: 1, Snapshots: 1}, Diagonal: true}.Settle(Around{}, unheard()).(SWAG)
	job := newJob(t, 2).provide(m)
	out := do(t, job, m)
	part := averages(t, job, m)[0]
	if out.Posterior.Size() != 10 || away(out.Posterior, part.Theta) > 1e-6 || away(out.Posterior, job.Points.Best()) < 1e-6 {
		t.Errorf("%d draws, %v from the snapshot", out.Posterior.Size(), away(out.Posterior, part.Theta))
	}
}

// Each member of MultiSWAG has draws of its own: members that begin at the same network, and whose batches are the same, draw other
// networks.
func TestSWAGMembersDiffer(t *testing.T) {
	m := SWAG{Averaging: Averaging{Members: 2, Rate: 0.01, Snapshots: 4}, Draws: 3}.Settle(Around{}, unheard()).(SWAG)
	job := newJob(t, 2).provide(m)
	job.Search.Batch = 60
	if err := job.search(t.Context(), newOutcome()); err != nil {
		t.Fatal(err)
	}
	d := job.Net.Dim()
	copy(job.Points.Theta[d:], job.Points.Theta[:d])
	phases, err := m.Phases(job)
	if err != nil {
		t.Fatal(err)
	}
	if err := job.Run.Phase(t.Context(), job.Pool, phases[0]); err != nil {
		t.Fatal(err)
	}
	e, _, err := m.Gather(job, phases, nil)
	if err != nil {
		t.Fatal(err)
	}
	wantNear(t, "means", phases[0].Parts[0].(*average).Mean, phases[0].Parts[1].(*average).Mean, 1e-5)
	for k := range 3 {
		apart := 0.0
		for i := range d {
			apart = max(apart, math.Abs(float64(e.Theta[k*d+i]-e.Theta[(3+k)*d+i])))
		}
		if !(apart > 1e-3) {
			t.Errorf("draw %d of both members is the same within %v", k, apart)
		}
	}
}

// A single member goes on from the best restart, and each of several from a restart of its own; a rate that is too large is named.
func TestAveragesStart(t *testing.T) {
	still := Averaging{Members: 1, Rate: 1e-12, Warmup: 0, Snapshots: 1}
	job := newJob(t, 1).provide(SWA{still})
	if err := job.search(t.Context(), newOutcome()); err != nil {
		t.Fatal(err)
	}
	job.Points.Chosen = 5
	wantNear(t, "one member", averages(t, job, SWA{still})[0].Mean, job.Points.at(5, 1), 1e-9)
	still.Members = 3
	for i, part := range averages(t, job, SWA{still}) {
		wantNear(t, "a member", part.Mean, job.Points.at(i, 1), 1e-9)
	}
	still.Rate = 1e200
	phases, err := SWA{still}.Phases(job)
	if err != nil {
		t.Fatal(err)
	}
	part := phases[0].Parts[1].(*average)
	if _, err := part.Step(t.Context()); err == nil || !strings.Contains(err.Error(), "member 1, epoch 1: the log-likelihood at the end is") || part.Epochs != 0 {
		t.Errorf("a rate of 1e200: %v after %d epochs", err, part.Epochs)
	}
}
