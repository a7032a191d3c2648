package method

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/nn"
)

func TestMAPSameBits(t *testing.T) {
	net, train, validate := mlp(t), blobs(1, 700), blobs(2, 50)
	s := looking{Search: Search{Restarts: 5, Batch: 300, Epochs: 4}, seed: 9}
	want := s.fit(t, net, 0.5, train, validate, 1).figures()
	for _, threads := range []int{2, 7} {
		if got := s.fit(t, net, 0.5, train, validate, threads).figures(); got != want {
			t.Errorf("%d threads: another result than with 1", threads)
		}
	}
	s.seed++
	if got := s.fit(t, net, 0.5, train, validate, 1).figures(); got == want {
		t.Error("another seed gave the same result")
	}
}

var kind = runs.Kind{Name: "search", Differ: func(_, _ []byte) error { return errors.New("another config") }}

// again carries a search out in a folder that was used before, or not.
func (l looking) again(ctx context.Context, t *testing.T, dir string, net *nn.Net, train, validate *data.Set, threads int) (found, error) {
	t.Helper()
	folder, err := runs.ResumeFolder(dir, kind)
	if err != nil {
		t.Fatal(err)
	}
	run, err := runs.Open(folder, []byte("a config"), runs.Manifest{}, runs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.in(ctx, run, net, prior(t, net, 0.5), train, validate, threads)
	if closed := errors.Join(run.Close(nil), folder.Close()); closed != nil {
		t.Fatal(closed)
	}
	return r, err
}

// A search that is interrupted again and again, its restarts saved and restored each time, ends with the same bits as one
// that was not, on any number of threads: by a write that fails after some epochs, or by a context that ends within one.
func TestMAPStopsAndContinues(t *testing.T) {
	net, train, validate := mlp(t), blobs(1, 100), blobs(2, 50)
	s := looking{Search: Search{Restarts: 3, Epochs: 12, Patience: 5, Rate: 0.3}}
	want := s.fit(t, net, 0.5, train, validate, 1).figures()
	full := errors.New("disk full")
	for _, threads := range []int{1, 2} {
		for _, cancelled := range []bool{false, true} {
			dir, made, stops := filepath.Join(t.TempDir(), "run"), make([]int, 3), 0
			for ; ; stops++ {
				ctx, cancel := context.WithCancel(t.Context())
				seen := 0
				s.watch = func(r *restart) error {
					if made[r.number]++; r.Epochs != made[r.number] {
						t.Errorf("restart %d makes epoch %d, want %d", r.number, r.Epochs, made[r.number])
					}
					if seen++; seen < 3 {
						return nil
					}
					if cancelled {
						cancel()
						return nil
					}
					return full
				}
				r, err := s.again(ctx, t, dir, net, train, validate, threads)
				cancel()
				if err == nil {
					if got := r.figures(); got != want {
						t.Errorf("%d threads, cancelled %v, after %d stops:\n%s\nwant\n%s", threads, cancelled, stops, got, want)
					}
					break
				}
				if !errors.Is(err, full) && !errors.Is(err, context.Canceled) || stops > 50 {
					t.Fatal(err)
				}
			}
			if stops < 5 {
				t.Errorf("stopped only %d times", stops)
			}
		}
	}
}

// figures are a result and what its restarts ended with, to be compared.
func (r found) figures() string {
	var b strings.Builder
	for _, s := range r.restarts {
		fmt.Fprintln(&b, s.descent)
	}
	fmt.Fprint(&b, *r.Points)
	return b.String()
}

// oneBad is a prior whose draw number bad, counted from 0, is so far off that the likelihood vanishes.
type oneBad struct {
	*bnn.Normal
	bad, drawn int
}

func (p *oneBad) Sample(s *rng.Stream, theta []float64) {
	p.Normal.Sample(s, theta)
	if p.drawn == p.bad {
		theta[0] = 1e30
	}
	p.drawn++
}

// When one restart diverges, the others go on to their ends, and it is left out.
func TestMAPGoesOn(t *testing.T) {
	net, set := linear(t, nn.Gaussian{SD: 1}), regression(20)
	epochs := 0
	s := looking{Search: Search{Restarts: 5, Rate: 1e-3, Epochs: 10}, watch: func(*restart) error { epochs++; return nil }}
	r, err := s.in(t.Context(), without(t), net, &oneBad{Normal: prior(t, net, 1), bad: 2}, set, nil, 1)
	if err != nil || !slices.Equal(r.Lost, []int{2}) || len(r.NLL) != 4 {
		t.Errorf("left out: %v of %d, error %v", r.Lost, len(r.NLL), err)
	}
	if epochs != 4*10+1 {
		t.Errorf("%d epochs, want 41", epochs)
	}
}
