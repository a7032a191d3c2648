package method

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/pool"
)

// A restart whose loss is not finite is left out while at least half of the restarts remain: the others are as they are without it, starts
// go round them, and its state is restored as it was. Where fewer remain, the error is that of the first that was lost.
func TestRestartsLeftOut(t *testing.T) {
	net, train := mlp(t), blobs(1, 60)
	far := slices.Repeat([]float64{1e38}, net.Dim())
	for _, validate := range []*data.Set{blobs(2, 30), nil} {
		s := looking{Search: Search{Restarts: 3, Epochs: 4}, seed: 3}
		want := s.fit(t, net, 0.5, train, validate, 1)
		s.first = far
		r := s.fit(t, net, 0.5, train, validate, 2)
		d := net.Dim()
		if !slices.Equal(r.Lost, []int{0}) || !slices.Equal(r.Theta, want.Theta[d:]) || len(r.NLL) != 2 || len(r.Accuracy) != 2 || len(r.Epoch) != 2 || want.Lost != nil {
			t.Fatalf("left out: %v and %v; %d scores", r.Lost, want.Lost, len(r.NLL))
		}
		if got := r.starts(1, 3); !slices.Equal(got, slices.Concat(r.at(1, 1), r.at(0, 2))) {
			t.Error("starts do not go round the restarts that remain")
		}
		if got := want.starts(1, 2); &got[0] != &want.Theta[d] {
			t.Error("where none is left out, starts are others than the restarts")
		}
		if !slices.Contains([]int{0, 1}, r.Chosen) || validate != nil && !(r.NLL[r.Chosen] == min(r.NLL[0], r.NLL[1])) {
			t.Errorf("chosen: %d of %v", r.Chosen, r.NLL)
		}
		lost := r.restarts[0]
		var b bytes.Buffer
		if _, err := lost.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		again := &restart{search: lost.search}
		if err := again.UnmarshalBinary(b.Bytes()); err != nil || !again.Done() || again.K() != 1 || again.lost() == nil || !slices.Equal(again.Theta, far) {
			t.Errorf("restored: %v, done %v after %d epochs, %v", err, again.Done(), again.K(), again.lost())
		}
		s.Restarts = 2 // of which one is half
		if r = s.fit(t, net, 0.5, train, validate, 1); !slices.Equal(r.Lost, []int{0}) {
			t.Errorf("of two: %v", r.Lost)
		}
		s.Restarts = 1
		if _, err := s.in(t.Context(), without(t), net, prior(t, net, 0.5), train, validate, 1); err == nil || !strings.Contains(err.Error(), "MAP restart 0, epoch 1: the log-likelihood of a batch is NaN; try a rate below") {
			t.Errorf("of one: %v", err)
		}
	}
}

// A validation loss that is not finite ends a restart, too. The restart counts as lost, and the others' ensemble is the result of the
// method, which says so.
func TestLostByValidation(t *testing.T) {
	j := newJob(t, 1)
	j.Search = &Search{Restarts: 6}
	j.Search.Complete(0, true, nil)
	j.Search.Epochs = 3
	b, err := newSearch(*j.Search, j.Seed, j.Net, j.Prior, nil, j.Data, pool.New(1))
	if err != nil {
		t.Fatal(err)
	}
	r := b.restarts()[1]
	if _, err := r.Step(context.Background()); err != nil {
		t.Fatal(err)
	}
	r.Val[0], r.Ended = math.Inf(1), true
	if err := r.lost(); err == nil || !strings.Contains(err.Error(), "the log-likelihood of the validation set is -Inf") {
		t.Errorf("lost: %v", err)
	}
	j.Init = slices.Repeat([]float64{1e38}, j.Net.Dim())
	out, err := j.Do(t.Context(), Ensemble{Members: 6})
	if err != nil {
		t.Fatal(err)
	}
	if out.Posterior.Size() != 5 || out.Restarts.Size() != 5 || len(out.NLL) != 5 || len(out.Courses) != 5 || out.Courses[0].Restart != 1 ||
		!strings.Contains(words(out.Findings), "1 of the 6 MAP restarts was left out") {
		t.Errorf("%d members, %d restarts, %d courses: %q", out.Posterior.Size(), out.Restarts.Size(), len(out.Courses), words(out.Findings))
	}
	var text bytes.Buffer
	if err := WriteCourses(&text, out.Courses); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadCourses(text.Bytes(), 5); err != nil {
		t.Error(err)
	}
}
