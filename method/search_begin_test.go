package method

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The first restart begins where it is told to, the others where they would have.
func TestMAPFirst(t *testing.T) {
	net, train := mlp(t), blobs(1, 60)
	first := make([]float64, net.Dim())
	for i := range first {
		first[i] = 0.01 * float64(i)
	}
	s := looking{Search: Search{Restarts: 2, Epochs: 1, Rate: 1e-9}}
	drawn := s.fit(t, net, 0.5, train, nil, 1)
	s.first = first
	r := s.fit(t, net, 0.5, train, nil, 1)
	for i, x := range first {
		if !(math.Abs(r.at(0, 1)[i]-x) < 1e-6) {
			t.Fatalf("parameter %d is %v, began at %v", i, r.at(0, 1)[i], x)
		}
	}
	if slices.Equal(drawn.at(0, 1), r.at(0, 1)) || !slices.Equal(drawn.at(1, 1), r.at(1, 1)) {
		t.Error("the second restart begins elsewhere")
	}
}

// A first restart that only gets worse ends where it began, which counts like an epoch: for patience, for the choice
// among the restarts, and over stops. The others are as they would have been, and so are all where it gets better.
func TestMAPFirstIsScored(t *testing.T) {
	net, train, validate := mlp(t), blobs(1, 60), blobs(2, 300)
	good := looking{Search: Search{Restarts: 1, Rate: 0.1, Epochs: 100}}.fit(t, net, 0.5, train, validate, 1)
	s := looking{Search: Search{Restarts: 2, Rate: 30, Batch: 4, Epochs: 9, Patience: 5}} // of steps far too long
	drawn := s.fit(t, net, 0.5, train, validate, 1)
	s.first = good.Best()
	epochs := 0
	s.watch = func(r *restart) error {
		if r.number == 0 {
			epochs++
			nll, _ := scored(t, net, validate, r.Theta)
			if !(nll > good.NLL[0]) || r.Done() != (epochs == 5) {
				t.Errorf("epoch %d: NLL %v, done %v; the start has %v", r.Epochs, nll, r.Done(), good.NLL[0])
			}
		}
		return nil
	}
	r := s.fit(t, net, 0.5, train, validate, 1)
	if !slices.Equal(r.Best(), s.first) || r.Chosen != 0 || r.Epoch[0] != 0 || r.NLL[0] != good.NLL[0] || r.Accuracy[0] != good.Accuracy[0] {
		t.Errorf("restart %d was chosen, the first is of epoch %d, NLL %v and accuracy %v; it began at %v and %v",
			r.Chosen, r.Epoch[0], r.NLL[0], r.Accuracy[0], good.NLL[0], good.Accuracy[0])
	}
	if !slices.Equal(r.at(1, 1), drawn.at(1, 1)) || r.Epoch[1] != drawn.Epoch[1] {
		t.Error("the second restart is another one")
	}

	want, dir := r.figures(), filepath.Join(t.TempDir(), "run")
	s.watch = func(*restart) error { return context.Canceled }
	for stops := 0; ; stops++ {
		r, err := s.again(t.Context(), t, dir, net, train, validate, 2)
		if err == nil {
			if got := r.figures(); got != want || stops < 5 {
				t.Errorf("stopped after every epoch, %d times:\n%s\nwant\n%s", stops, got, want)
			}
			break
		}
		if stops > 50 {
			t.Fatal(err)
		}
	}

	s = looking{Search: Search{Restarts: 1, Rate: 0.1, Epochs: 3}, first: make([]float64, net.Dim())}
	for i := range s.first {
		s.first[i] = math.Inf(1) // a network that cannot be scored is no better than any
	}
	if _, err := s.in(t.Context(), without(t), net, prior(t, net, 0.5), train, validate, 2); err == nil || !strings.Contains(err.Error(), "restart 0, epoch 1") {
		t.Errorf("infinite weights: error %v", err)
	}
}

// In a run the first restart begins at the trained network, and it alone.
func TestFirstRestartBeginsAtInit(t *testing.T) {
	job := newJob(t, 1).provide(AsIs{})
	job.Data.Validate = nil
	job.Search = &Search{Restarts: 2, Rate: 1e-12, Batch: 64, Epochs: 1}
	job.Search.Complete(0, false, nil)
	if err := job.search(t.Context(), newOutcome()); err != nil {
		t.Fatal(err)
	}
	wantNear(t, "restart 0", job.Points.at(0, 1), job.Init, 1e-9)
	if second := job.Points.at(1, 1); !(math.Abs(second[0]-job.Init[0]) > 1e-3) {
		t.Errorf("restart 1 begins at %v, the network at %v", second[0], job.Init[0])
	}
}
