package method

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/pool"
)

// A search of no epoch results in the network that it is given, scored, whatever it keeps, and costs no gradient. It is saved and restored.
func TestNoEpochs(t *testing.T) {
	net, train, validate := mlp(t), blobs(1, 60), blobs(2, 300)
	first := make([]float64, net.Dim())
	for i := range first {
		first[i] = 0.01 * float64(i%7)
	}
	nll, accuracy := scored(t, net, validate, first)
	for _, keep := range []string{KeepBestEpoch, KeepLastEpoch} {
		s := Search{Restarts: 1, Rate: 0.1, Batch: 4, Keep: keep}
		s.Complete(1, true, nil)
		s.Epochs = 0 // as a config writes it: Complete takes a zero for what is left out
		b, err := newSearch(s, 1, net, prior(t, net, 0.5), first, &data.Problem{Train: train, Validate: validate}, pool.New(2))
		if err != nil {
			t.Fatal(err)
		}
		restarts := b.restarts()
		if err := b.take(t.Context(), restarts); err != nil || !restarts[0].Done() || restarts[0].K() != 0 {
			t.Fatalf("%s: %v, done %v after %d epochs", keep, err, restarts[0].Done(), restarts[0].K())
		}
		var packed bytes.Buffer
		if _, err := restarts[0].WriteTo(&packed); err != nil {
			t.Fatal(err)
		}
		again := b.restarts()
		if err := again[0].UnmarshalBinary(packed.Bytes()); err != nil || !again[0].Done() {
			t.Fatalf("%s: %v", keep, err)
		}
		r, err := b.points(t.Context(), again)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(r.Best(), first) || r.Epoch[0] != 0 || !(math.Abs(r.NLL[0]-nll) <= 1e-9) || r.Accuracy[0] != accuracy {
			t.Errorf("%s: the network of epoch %d with NLL %v and accuracy %v, want %v and %v", keep, r.Epoch[0], r.NLL[0], r.Accuracy[0], nll, accuracy)
		}
		if spent := again[0].spent(); spent.Gradients != 0 || spent.Validation != validate.Len() {
			t.Errorf("%s: spent %+v", keep, spent)
		}
		b.first = slices.Repeat([]float64{math.Inf(1)}, net.Dim())
		if err := b.take(t.Context(), b.restarts()); err == nil || !strings.Contains(err.Error(), "MAP restart 0, at its start: ") {
			t.Errorf("%s: a network that cannot be scored: %v", keep, err)
		}
	}
}

// No epochs without a network to begin at, or of several restarts, are refused with the mend.
func TestNoEpochsRefused(t *testing.T) {
	for _, c := range []struct {
		s    Search
		init bool
		want string
	}{
		{Search{Restarts: 1}, false, "map.epochs: 0 epochs leave a restart where it begins, and without model.init that is a draw: name a trained network, model.init, or take at least 1 epoch"},
		{Search{Restarts: 8}, true, "with 0 epochs the network of model.init is the result, and the other restarts would be draws: write restarts: 1"},
		{Search{Restarts: 1}, true, ""},
		{Search{Restarts: 8, Epochs: 1}, false, ""},
	} {
		f := config.NewFaults()
		c.s.CheckWithin(Around{Init: c.init, Judged: true}, f)
		var said []string
		for _, fault := range f.All() {
			said = append(said, fault.Path+": "+fault.Message)
		}
		if text := strings.Join(said, "\n"); (c.want == "") != (text == "") || !strings.Contains(text, c.want) {
			t.Errorf("%+v, init %v: %q, want %q", c.s, c.init, text, c.want)
		}
	}
}
