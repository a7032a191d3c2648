package decide

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/uq"
)

// Features is the number of values that the classifier of wrong answers sees of a prediction.
const Features = 7

// FeaturesOf are the seven features of each row, [n, 7]: max p̄, H_tot, E[p_max], E[gap], H_ep, Var[p_max], Var[gap] (Liang et al.,
// section 3.8). The last three are 0 for a single network. The prediction must have its Tops.
func FeaturesOf(p *uq.Predictive) []float64 {
	m := p.Tops
	out := make([]float64, 0, Features*p.Len())
	for i, c := range uq.Confidence(p.Probs, p.Classes) {
		out = append(out, c, p.Total[i], m.MeanTop[i], m.MeanGap[i], p.Epistemic[i], m.VarTop[i], m.VarGap[i])
	}
	return out
}

// Network says how probable it is that an answer is wrong: 7 features, standardised, 50 ReLU units, one logit. It is plain data.
type Network struct {
	Mean, SD []float64 // of the features, in the examples that it was trained on; an SD of 0 counts as 1
	Theta    []float64
	Epochs   int     // number of epochs until the best
	NLL      float64 // mean NLL of the held-out examples at the best
}

// How the network is trained.
const (
	hidden   = 50
	batch    = 64
	epochs   = 300
	patience = 20
)

// Learn is what a classifier of wrong answers learns from.
type Learn struct {
	Features []float64 // of labelled examples, [n, 7]
	Labels   []int32   // their classes
	Wrong    []bool    // which answers are wrong
	Foreign  []float64 // features of foreign inputs, [m, 7]
}

// Check reports examples from which no classifier can learn.
func (l *Learn) Check() error {
	n := len(l.Labels)
	if len(l.Features) != Features*n || len(l.Wrong) != n || len(l.Foreign)%Features != 0 {
		return fmt.Errorf("%d features of examples, %d of foreign inputs, %d answers for %d labels: want %d features a row", len(l.Features), len(l.Foreign), len(l.Wrong), n, Features)
	}
	wrong := 0
	for _, w := range l.Wrong {
		if w {
			wrong++
		}
	}
	switch {
	case n > 0 && !slices.ContainsFunc(l.Labels, func(y int32) bool { return y != l.Labels[0] }):
		return errors.New("all examples to calibrate with are of one class: the classifier of wrong answers needs examples of several classes")
	case wrong == 0:
		return errors.New("no answer to the examples to calibrate with is wrong: the classifier of wrong answers has none to learn from; give more examples, or abstain by entropy")
	case len(l.Foreign) == 0:
		return errors.New("the classifier of wrong answers needs foreign inputs to calibrate with, there is none: give inputs that are unlike the examples")
	case n-wrong < heldShare:
		return &NeedError{What: fmt.Sprintf("the classifier of wrong answers, of which %d are right,", n-wrong), Have: n, Need: wrong + heldShare}
	case wrong+len(l.Foreign)/Features < heldShare:
		return &NeedError{What: "the classifier of wrong answers, of foreign inputs,", Have: len(l.Foreign) / Features, Need: heldShare - wrong}
	}
	return nil
}

// all reports which rows should abstain: wrong answers, then all foreign inputs.
func (l *Learn) all() []bool {
	z := slices.Clone(l.Wrong)
	for range len(l.Foreign) / Features {
		z = append(z, true)
	}
	return z
}

// Train learns a Network: cross-entropy, Adam at a rate of .001, batches of 64, at most 300 epochs, until 20 epochs bring no better loss of the
// examples that are held out. Rows that are NaN do not count. The result is the same for any number of threads of the
// pool. Errors: those of Check and of ctx.
func (l *Learn) Train(ctx context.Context, seed uint64, p *nn.Pool) (*Network, error) {
	if err := l.Check(); err != nil {
		return nil, err
	}
	features, z := slices.Concat(l.Features, l.Foreign), l.all()
	var parts [2]struct {
		x []float64
		z []int32
	}
	for i, held := range HoldOut(z, seed) {
		x := features[i*Features : (i+1)*Features]
		if unknown(x) {
			continue
		}
		part, label := &parts[0], int32(0)
		if held {
			part = &parts[1]
		}
		if z[i] {
			label = 1
		}
		part.x, part.z = append(part.x, x...), append(part.z, label)
	}
	if len(parts[0].z) == 0 || len(parts[1].z) == 0 {
		return nil, errors.New("the classifier of wrong answers needs examples whose predictions are numbers")
	}
	w := &Network{}
	w.standardise(parts[0].x)
	net := w.net()
	var models [2]*nn.Model
	for k, part := range parts {
		set := &data.Set{Name: "wrong answers", Shape: []int{Features}, F32: w.inputs(part.x), Labels: part.z, Classes: 2}
		var err error
		if models[k], err = nn.NewModel(net, set, p); err != nil {
			return nil, err
		}
	}
	return w, w.descend(ctx, seed, models[0], models[1])
}

// descend finds the parameters.
func (w *Network) descend(ctx context.Context, seed uint64, train, held *nn.Model) error {
	net, adam := train.Net(), nn.Adam{}
	theta, grad, ll := make([]float64, net.Dim()), make([]float64, net.Dim()), make([]float64, 1)
	stream := rng.Key{Seed: seed, Purpose: rng.Decide, Particle: streamStart}.Stream()
	for _, t := range net.Tensors() {
		half := 1 / math.Sqrt(float64(t.FanIn))
		for i := range t.Size {
			theta[t.Offset+i] = half * (float64(2*stream.Float64()) - 1)
		}
	}
	var moments nn.Moments
	watch := nn.EarlyStop{Patience: patience}
	order := make([]int32, train.Examples())
	for epoch := 1; epoch <= epochs; epoch++ {
		rng.Key{Seed: seed, Purpose: rng.Decide, Particle: streamBatch, Iteration: epoch}.Stream().Perm(order)
		for rows := range slices.Chunk(order, batch) {
			if err := train.LogLik(ctx, rows, theta, ll, grad); err != nil {
				return err
			}
			for i := range grad {
				grad[i] /= -float64(len(rows))
			}
			adam.Step(&moments, theta, grad, adam.Usual())
		}
		if err := held.LogLik(ctx, nil, theta, ll, nil); err != nil {
			return err
		}
		if watch.Observe(-ll[0]/float64(held.Examples()), theta) {
			break
		}
	}
	if watch.BestAt == 0 {
		return errors.New("the classifier of wrong answers: no epoch has a loss that is a number")
	}
	w.Theta, w.Epochs, w.NLL = watch.Theta, watch.BestAt, watch.Best
	return nil
}

// net is the architecture.
func (w *Network) net() *nn.Net {
	net, err := nn.New([]int{Features}, []nn.Layer{nn.Dense{Units: hidden}, nn.ReLU, nn.Dense{Units: 1}}, nn.Bernoulli{})
	if err != nil {
		panic("decide: " + err.Error())
	}
	return net
}

// standardise measures mean and standard deviation of the features [n, 7].
func (w *Network) standardise(x []float64) {
	w.Mean, w.SD = make([]float64, Features), make([]float64, Features)
	n := float64(len(x) / Features)
	for i, v := range x {
		w.Mean[i%Features] += v / n
	}
	for i, v := range x {
		d := v - w.Mean[i%Features]
		w.SD[i%Features] += float64(d*d) / n
	}
	for k, v := range w.SD {
		if constant(x, k) {
			w.Mean[k], w.SD[k] = x[k], 1
		} else {
			w.SD[k] = math.Sqrt(v)
		}
	}
}

// constant reports a feature that is the same in all rows: rounding would give it a tiny standard deviation.
func constant(x []float64, k int) bool {
	for i := k; i < len(x); i += Features {
		if x[i] != x[k] {
			return false
		}
	}
	return true
}

// inputs are the standardised features; 0 for one that is NaN, whose row never answers.
func (w *Network) inputs(x []float64) []float32 {
	const most = 1e6 // standard deviations: the network would overflow
	out := make([]float32, len(x))
	for i, v := range x {
		if s := (v - w.Mean[i%Features]) / w.SD[i%Features]; s == s {
			out[i] = float32(min(max(s, -most), most))
		}
	}
	return out
}

// Wrong is the probability that an answer is wrong, or its input foreign, for features [n, 7]; NaN where a feature is. Errors are those
// of ctx, and features or parameters of another number.
func (w *Network) Wrong(ctx context.Context, x []float64, p *nn.Pool) ([]float64, error) {
	net := w.net()
	if len(x)%Features != 0 || len(w.Theta) != net.Dim() || len(w.Mean) != Features || len(w.SD) != Features {
		return nil, fmt.Errorf("%d features, a network of %d parameters: want %d a row, and %d", len(x), len(w.Theta), Features, net.Dim())
	}
	n := len(x) / Features
	if n == 0 {
		return []float64{}, nil
	}
	model, err := nn.NewModel(net, &data.Set{Name: "predictions", Shape: []int{Features}, F32: w.inputs(x)}, p)
	if err != nil {
		return nil, err
	}
	logits := make([]float32, n)
	if err := model.Outputs(ctx, nil, w.Theta, logits); err != nil {
		return nil, err
	}
	out := make([]float64, n)
	for i, z := range logits {
		if out[i] = 1 / (1 + rng.Exp(-float64(z))); unknown(x[i*Features : (i+1)*Features]) {
			out[i] = math.NaN()
		}
	}
	return out, nil
}
