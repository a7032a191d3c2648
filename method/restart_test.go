package method

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/nn"
)

// One logit is that of class 1 against class 0, and of equal outputs the first counts.
func TestClass(t *testing.T) {
	for _, c := range []struct {
		outputs []float32
		want    int32
	}{{[]float32{-1}, 0}, {[]float32{0}, 0}, {[]float32{1}, 1}, {[]float32{1, 3, 3}, 1}, {[]float32{5, 3, 3}, 0}, {[]float32{-5, -3, -2}, 2}} {
		if got := class(c.outputs); got != c.want {
			t.Errorf("outputs %v are class %d, want %d", c.outputs, got, c.want)
		}
	}
}

// countdown is a context that ends when it was asked so many times whether it has.
type countdown struct {
	context.Context
	left atomic.Int64
}

func (c *countdown) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// A restart that is stopped within an epoch is as it was before, wherever that is, and makes the epoch with the same bits then.
// Alone, from bytes to bytes, it ends with those of the search, whenever it was saved.
func TestRestartAlone(t *testing.T) {
	net, train, validate := mlp(t), blobs(1, 100), blobs(2, 50)
	whole := looking{Search: Search{Restarts: 2, Epochs: 6, Patience: 3, Rate: 0.3}, first: make([]float64, net.Dim())}
	for i := range whole.first {
		whole.first[i] = 0.1 * math.Cos(float64(i))
	}
	want := whole.fit(t, net, 0.5, train, validate, 1)
	whole.Complete(0, true, nil)
	b, err := newSearch(whole.Search, whole.seed, net, prior(t, net, 0.5), whole.first, &data.Problem{Train: train, Validate: validate}, pool.New(1))
	if err != nil {
		t.Fatal(err)
	}
	for k, end := range want.restarts {
		r, stopped := b.restarts()[k], 0
		for !r.Done() {
			before, epochs := packed(t, r), r.Epochs
			for n := int64(0); ; n++ {
				ctx := &countdown{Context: t.Context()}
				ctx.left.Store(n)
				_, err := r.Step(ctx)
				if err == nil {
					break
				}
				stopped++
				if !errors.Is(err, context.Canceled) || r.Epochs != epochs || epochs > 0 && !bytes.Equal(packed(t, r), before) {
					t.Fatalf("restart %d, epoch %d, stopped after %d questions: %v; it has made %d", k, epochs+1, n, err, r.Epochs)
				}
				if begun := r.Theta != nil; k == 0 && begun != (r.Watch.Theta != nil) {
					t.Fatalf("stopped after %d questions, the restart has begun: %v, and is scored: %v", n, begun, !begun)
				}
			}
			saved := packed(t, r)
			got, err := runs.RunPart(t.Context(), b.restarts()[k], saved)
			if err != nil || !bytes.Equal(got, packed(t, end)) {
				t.Errorf("restart %d from epoch %d on: other bytes than within the search, %v", k, r.Epochs, err)
			}
		}
		if stopped < 3*r.Epochs {
			t.Errorf("restart %d was stopped %d times in %d epochs", k, stopped, r.Epochs)
		}
		if !bytes.Equal(packed(t, r), packed(t, end)) {
			t.Errorf("restart %d: other bytes than within the search", k)
		}
	}
	other, err := newSearch(whole.Search, 0, linear(t, nn.Gaussian{SD: 1}), prior(t, linear(t, nn.Gaussian{SD: 1}), 1), nil, &data.Problem{Train: regression(9), Validate: regression(5)}, pool.New(1))
	if err != nil {
		t.Fatal(err)
	}
	for saved, reason := range map[string]string{"STARLING": "", string(packed(t, want.restarts[0])): "the network has 3"} {
		if err := other.restarts()[0].UnmarshalBinary([]byte(saved)); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%d bytes: error %v, want one about %q", len(saved), err, reason)
		}
	}
}
