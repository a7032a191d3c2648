package spec

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/smc"
)

// built is a Spec as a Go program builds it.
func built(m method.Method) Spec {
	return Spec{
		Data: data.Settings{CSV: &data.CSV{File: "trees.csv", Target: "kind"}},
		Model: Model{Architecture: nn.Architecture{
			Layers: []nn.Layer{nn.Dense{Units: 6}, nn.Tanh, nn.Dense{Units: 3}}, Likelihood: nn.Categorical{},
		}},
		Prior:  bnn.PriorSettings{Family: bnn.NormalPrior{Variance: 1}},
		Method: m,
	}
}

// with has another layer before the last one.
func with(l nn.Layer, m method.Method) Spec {
	s := built(m)
	s.Model.Layers = slices.Insert(s.Model.Layers, 2, l)
	return s
}

// TestVerify: a Spec that Complete filled in is kept as a config that reads back; one with settings that a config cannot hold, or
// with zeros that a config would fill in, is refused by the name of the field, since a run is known by its config.
func TestVerify(t *testing.T) {
	for name, c := range map[string]struct {
		spec     Spec
		complete bool
		want     string // part of the error; empty: none
	}{
		"smc":                  {built(method.SMC{Particles: 50}), true, ""},
		"chains":               {built(method.MCMC{Chains: 2, Start: "prior"}), true, ""},
		"map":                  {built(method.MAP{}), true, ""},
		"ensemble":             {built(method.Ensemble{}), true, ""},
		"passes":               {with(nn.Dropout(0.2), method.Dropout{}), true, ""},
		"dropout, and swa":     {with(nn.Dropout(0.2), method.SWA{}), true, ""},
		"no dropout layer":     {built(method.Dropout{}), true, "method.dropout: model.layers has no dropout"},
		"dropout, and chains":  {with(nn.Dropout(0.2), method.MCMC{}), true, "model.layers.2: dropout is noise in training, and the posterior that mcmc samples has none"},
		"dropout, and islands": {with(nn.Dropout(0), method.SMC{}), true, "model.layers.2: dropout is noise in training, and the posterior that smc samples has none"},
		"anchored passes":      {anchored(method.Dropout{}), true, "prior.anchor: is for sampling"},
		"first step of hmc":    {built(method.SMC{Move: mcmc.HMC{Start: .3}}), true, "method: has a setting that a config cannot hold"},
		"first step of chains": {built(method.MCMC{Start: "prior", Chains: 1, Epochs: 80, Keep: 1, Move: mcmc.HMC{Steps: 5, Start: .1}}), true, "method: has a setting that a config cannot hold"},
		"tempering left out":   {built(method.SMC{Particles: 50, Islands: 1, Path: smc.Tempering{}, Move: mcmc.HMC{}}), false, "Complete fills in"},
		"no particles":         {built(method.SMC{Particles: 1}), true, "method.smc.particles: want at least 2, have 1"},
		"no method":            {built(nil), true, "method: want one of"},
		"a pointer":            {built(&method.SMC{}), false, "method"},
		"anchored map":         {anchored(method.MAP{}), true, "prior.anchor: is for sampling"},
		"anchored ensemble":    {anchored(method.Ensemble{}), true, "prior.anchor: is for sampling"},
		"augment, and map":     {augmented(method.MAP{}, nil), true, ""},
		"augment, and epochs":  {augmented(method.SMC{Particles: 5, Start: method.FromPrior{}, Weight: smc.Equal{}, Move: mcmc.Epoch{Batch: 9, Step: 1e-3}, Path: smc.Schedule[smc.Full]{Iterations: 3}}, nil), true, ""},
		"augment, and hmc":     {augmented(method.SMC{}, nil), true, "data.augment: smc cannot train on images that change from gradient to gradient: leave data.augment out, or take one of the methods map, ensemble, swa, swag, dropout, or smc with the move epoch"},
		"augment, and chains":  {augmented(method.MCMC{}, nil), true, "data.augment: mcmc cannot train on images that change from gradient to gradient"},
		"augment, and sghmc":   {augmented(method.MCMC{Chains: 2, Epochs: 20, Start: "prior", Move: mcmc.SGHMC{Batch: 9, Step: 1e-3}}, nil), true, "data.augment: mcmc cannot train on images that change from gradient to gradient"},
		"augment, and vi":      {augmented(method.VI{}, nil), true, "data.augment: vi cannot train on images that change from gradient to gradient"},
		"augment, and svgd":    {augmented(method.SVGD{}, nil), true, "data.augment: svgd cannot train on images that change from gradient to gradient"},
		"augment, and as-is":   {augmented(method.AsIs{}, nil), true, "data.augment: as-is cannot train on images that change from gradient to gradient"},
		"augmented, and layers that learn": {augmented(method.SMC{Particles: 5, Start: method.FromPrior{}, Weight: smc.Equal{}, Move: mcmc.Epoch{Batch: 9, Step: 1e-3}, Path: smc.Schedule[smc.Full]{Iterations: 3}}, nn.Random{nn.FirstLayer}),
			true, "data.augment: particles would see augmented images, and the layers that they share would learn from images as they are"},
		"laplace":             {built(method.Laplace{}), true, ""},
		"laplace of the last": {built(method.Laplace{Of: "last"}), true, ""},
		"laplace of a layer":  {randomly(method.Laplace{}, nn.FirstLayer), true, ""},
		"last, and last":      {randomly(method.Laplace{Of: "last"}, nn.LastLayer), true, ""},
		"last, and first":     {randomly(method.Laplace{Of: "last"}, nn.FirstLayer), true, "model.random: the settings of laplace make other layers random: leave model.random out, or write random: last"},
		"a learned prior":     {learning(method.Laplace{}), true, "laplace needs a normal prior with a given width, and this prior learns its own: take method: mcmc, or a variance"},
		"nobody to judge":     {unjudged(method.Laplace{Precision: "validation"}), true, "take precision: evidence, or data with validation examples"},
		"anchored laplace":    {anchored(method.Laplace{}), true, ""},
		"evidence of an anchor": {anchored(method.Laplace{Precision: "evidence"}), true,
			"method.laplace.precision: the prior has its mean at the trained network itself, and its evidence is the higher the narrower it is: take precision: validation"},
		"an unknown structure": {built(method.Laplace{Structure: "krone"}), true, "method.laplace.structure: "},
		"no draws":             {built(method.Laplace{Draws: -1}), true, "method.laplace.draws: "},
		"anchored smc is kept": {anchored(method.SMC{}), true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if c.complete {
				c.spec.Complete()
			}
			err := c.spec.Verify()
			var faults *config.Error
			switch {
			case c.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.want != "" && (!errors.As(err, &faults) || !strings.Contains(err.Error(), c.want)):
				t.Errorf("error %v, want one about %q", err, c.want)
			}
		})
	}
}

// TestVerifyChanged: a program may change a setting of a Spec that was completed.
func TestVerifyChanged(t *testing.T) {
	s := built(method.MCMC{Chains: 2, Start: "prior"})
	s.Complete()
	chains := s.Method.(method.MCMC)
	move := chains.Move.(mcmc.HMC)
	move.Steps, move.Length = 5, 0
	chains.Move = move
	s.Method = chains
	if err := s.Verify(); err != nil {
		t.Errorf("other steps: %v", err)
	}
}

// randomly has a network of which some layers are random.
func randomly(m method.Method, layers ...string) Spec {
	s := built(m)
	s.Model.Random = layers
	return s
}

// learning has a prior that learns its widths.
func learning(m method.Method) Spec {
	s := built(m)
	s.Prior = bnn.PriorSettings{Family: bnn.LearnedPrior{Shape: 1, Rate: 1}}
	return s
}

// unjudged has no validation examples.
func unjudged(m method.Method) Spec {
	s := built(m)
	s.Data.Whole = true
	return s
}

// augmented has images that are augmented. random says which layers are; nil: all.
func augmented(m method.Method, random nn.Random) Spec {
	s := built(m)
	s.Data = data.Settings{Set: "mnist7", Augment: &data.Augment{Crop: 2, Flip: true}}
	s.Model.Random = random
	return s
}

func anchored(m method.Method) Spec {
	s := built(m)
	s.Prior.Anchor = &bnn.Anchor{S: 0.1}
	return s
}

// A likelihood of numbers, whichever it is, is refused by its own name where the targets are names of classes.
func TestNamesAreNoNumbers(t *testing.T) {
	was := nn.Likelihoods
	defer func() { nn.Likelihoods = was }()
	type heavy struct{ nn.Gaussian }
	nn.Likelihoods = append(was[:len(was):len(was)], config.Row[nn.Likelihood]{Name: "heavy", Part: heavy{}})
	s := built(method.MAP{})
	s.Data.CSV.File, s.Model.Likelihood = "../testdata/trees.csv", heavy{}
	_, err := s.Load("", nil)
	if err == nil || !strings.Contains(err.Error(), "model.likelihood: heavy predicts numbers, but ../testdata/trees.csv: column 5 (kind) holds names") ||
		!strings.HasSuffix(err.Error(), ": want categorical or bernoulli") {
		t.Errorf("%v", err)
	}
}
