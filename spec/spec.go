// Package spec defines the contents of a config: everything that a run depends on, except the examples themselves. It joins
// the settings of the packages that do the work, fills in defaults that depend on several of them, and refuses settings that
// contradict each other.
package spec

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/decide"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/smc"
)

// Spec is everything that a run depends on, except the examples themselves. A config file holds it with the same names and
// the same nesting; a Go program can build or change it too. Its parts are the settings of the packages that do the work.
//
// Parse fills in every default, so that a run's config.yaml shows all of them. Complete does so for a Spec built in Go.
type Spec struct {
	Name   string            `yaml:"name"`             // of the run; default: run
	Seed   uint64            `yaml:"seed,zero"`        // of the start, the sampler and, unless data.seed is given, the parts that are held out; default 0
	Data   data.Settings     `yaml:"data"`             // the examples to learn from
	Model  Model             `yaml:"model"`            // the network
	Prior  bnn.PriorSettings `yaml:"prior,omitempty"`  // of the network's parameters; none for method as-is
	MAP    *method.Search    `yaml:"map,omitempty"`    // the search for point estimates. Without it (nil), there is none, unless the prior or the method needs it
	Method method.Method     `yaml:"method"`           // the way to the posterior
	Decide *decide.Settings  `yaml:"decide,omitempty"` // what is learnt from calibration examples, so that predictions come with a decision; none (nil) by default

	source *config.Source    // where the fields were written; nil unless Parse read the Spec
	places map[string]string // where the files that the fields name lie; nil: where they say
}

// Model is a network, the likelihood of its outputs, and optionally a file of trained weights.
type Model struct {
	nn.Architecture `yaml:",inline"`

	// Init is a .safetensors file of a trained network's weights; default: none. Without map it is the mean of an anchored
	// prior; with map the first restart begins there; mcmc and smc may begin there (start: init); as-is evaluates it as it
	// is.
	Init string `yaml:"init,omitempty"`
}

// Families lists the tables of all parts that a Spec may name.
var Families = append([]config.Family{
	method.Methods, mcmc.Moves, smc.Paths, smc.Weightings, smc.Schemes, smc.Occasions, nn.Layers, nn.Likelihoods, nn.Optimisers, nn.Schedules, bnn.Starts, smc.Learners, smc.Keepers, method.Places, method.Stops, bnn.Priors, bnn.Combinations,
}, decide.Families()...)

// Parse reads a config in strict YAML. Each of sets changes a value before decoding ("method.smc.islands=4": dotted keys,
// items of lists by index, a YAML value), so that file and sets meet the same checks. Every default is filled in. The error,
// a *config.Error, lists every fault with its place; file is the config's name in it.
func Parse(file string, text []byte, sets ...string) (Spec, error) {
	s, source, err := config.Parse[Spec](file, text, sets, Families...)
	s.source = source
	return s, err
}

// Keys lists the dotted keys of a config, as --set takes them.
func Keys() []string { return config.Keys[Spec](Families...) }

// Places lists the families of parts that a config can name, by their keys.
func Places() []config.Place { return config.Places[Spec](Families...) }

// YAML writes a Spec as a config that Parse reads back to the same Spec.
func (s Spec) YAML() []byte { return config.Encode(s, Families...) }

// Defaults fills in the name and the settings whose defaults depend on several parts: the standardisation of the data, the
// settings of the method, and the search for point estimates if prior or method needs one (config.Defaulter).
func (s *Spec) Defaults() {
	if s.Name == "" {
		s.Name = "run"
	}
	regression := s.Model.Likelihood != nil && s.Model.Likelihood.Regression()
	s.Data.DefaultsFor(regression)
	var needs method.Needs
	if random := s.random(); random != nil && s.Model.Random == nil {
		s.Model.Random = random
	}
	if s.Method != nil {
		s.Method = s.Method.Settle(s.around(), config.NewFaults())
		needs = s.Method.Needs()
	}
	if s.MAP == nil && (needs.Search || (needs.Point || s.anchored()) && s.Model.Init == "") {
		s.MAP = &method.Search{}
	}
	if s.MAP != nil {
		restarts := needs.Restarts
		if s.Prior.Anchor.Apart() {
			restarts = max(restarts, needs.Islands)
		}
		if s.normed() != nil {
			restarts = max(restarts, 1) // from model.init alone
		}
		s.MAP.Complete(restarts, s.Data.Validates(), s.Model.Layers)
	}
}

// anchored reports whether the prior's mean is a point estimate or, without a search, model.init.
func (s *Spec) anchored() bool { return s.Prior.About() }

// random is what the method wants model.random to be; nil: anything.
func (s *Spec) random() nn.Random {
	if m, ok := s.Method.(method.Randomly); ok {
		return m.Random()
	}
	return nil
}

func (s *Spec) around() method.Around {
	return method.Around{
		Init: s.Model.Init != "", Partly: !s.Model.Random.All(), Judged: s.Data.Validates(), Prior: s.Prior, Search: s.MAP,
	}
}

// Check refuses settings that contradict each other (config.Checker). Each part has checks of its own.
func (s Spec) Check(f *config.Faults) {
	checkName(f, s.Name)
	if s.Model.Likelihood != nil {
		s.Data.CheckTargets(f.In("data"), s.Model.Likelihood.Regression())
	}
	if s.Method == nil {
		f.Add("method", "want one of %s", strings.Join(slices.Sorted(slices.Values(method.Methods.Names())), ", "))
	} else {
		s.Method.Settle(s.around(), f)
	}
	if (s.Method == nil || s.Method.Needs().Prior) && s.Prior.Family == nil {
		f.Add("prior", "needs a family: want one of %s, as in {normal: {variance: 1}}", strings.Join(bnn.Priors.Names(), ", "))
	}
	if random := s.random(); random != nil && !slices.Equal(random, s.Model.Random) {
		f.Conflict([]string{"model.random", s.At()}, "the settings of %s make other layers random: leave model.random out, or write random: %s",
			method.Methods.Name(s.Method), strings.Join(random, ", "))
	}
	s.checkDropout(f)
	s.checkAugment(f)
	s.checkNorms(f)
	s.checkUpdates(f)
	s.checkApart(f)
	if s.Method != nil && !s.Model.Random.All() && !s.Method.Needs().Partly {
		f.Conflict([]string{"model.random", s.At()},
			"%s makes networks whose layers are all of one kind: leave model.random out, or take one of the methods %s", method.Methods.Name(s.Method),
			strings.Join(method.MethodsWhere(func(n method.Needs) bool { return n.Partly }), ", "))
	}
	if s.MAP != nil {
		s.MAP.CheckWithin(s.around(), f)
	}
	if m := s.MAP; m != nil && m.Patience != 0 && !s.Data.Validates() {
		by := "data.set" // a data set that is always whole
		if s.Data.Whole {
			by = "data.whole"
		}
		f.Conflict([]string{"map.patience", by},
			"needs validation examples, and %s holds none out: leave it out; every restart then makes map.epochs epochs", by)
	}
}

// checkName refuses a name that cannot be a run's folder.
func checkName(f *config.Faults, name string) {
	if strings.ContainsAny(name, `/\`) || strings.HasPrefix(name, ".") || !config.Printable(name) {
		f.Add("name", "%q cannot name a folder: want at most %d bytes, without slashes and control characters, and no dot at the start", name, config.LongestName)
	}
}

// checkDropout refuses a method that needs dropout layers if there are none, and dropout layers in a posterior that is sampled.
func (s Spec) checkDropout(f *config.Faults) {
	if s.Method == nil || len(s.Model.Layers) == 0 || slices.Contains(s.Model.Layers, nil) {
		return
	}
	layers, needs, name := nn.Dropouts(s.Model.Layers), s.Method.Needs(), method.Methods.Name(s.Method)
	if needs.Dropout && layers == nil {
		f.Conflict([]string{s.At(), "model.layers"},
			"model.layers has no dropout: add it before a dense layer, as in {dropout: 0.3}, or take method map")
	}
	for _, i := range layers {
		if needs.Posterior {
			trained := method.MethodsWhere(func(n method.Needs) bool { return n.Search && !n.Posterior })
			f.Conflict([]string{fmt.Sprint("model.layers.", i), s.At()},
				"dropout is noise in training, and the posterior that %s samples has none: leave it out, or take one of the methods %s",
				name, strings.Join(trained, ", "))
		}
	}
}

// checkAugment refuses augmentation where no gradient may see changed images, or where some would and others would not.
func (s Spec) checkAugment(f *config.Faults) {
	if s.Data.Augment == nil || s.Method == nil {
		return
	}
	needs := s.Method.Needs()
	if !needs.Augmented() {
		trained := method.MethodsWhere(method.Needs.Augmented)
		moves := mcmc.MovesWith(func(t mcmc.Traits) bool { return t.Augments })
		f.Conflict([]string{"data.augment", s.At()},
			"%s cannot train on images that change from gradient to gradient: leave data.augment out, or take one of the methods %s, or smc with the move %s",
			method.Methods.Name(s.Method), strings.Join(trained, ", "), strings.Join(moves, " or "))
	}
	if needs.Posterior && !s.Model.Random.All() {
		f.Conflict([]string{"data.augment", "model.random"},
			"particles would see augmented images, and the layers that they share would learn from images as they are: leave one of the two out")
	}
}

// checkApart refuses an anchor for each island where there are no islands, or no restart for each of them.
func (s Spec) checkApart(f *config.Faults) {
	if !s.Prior.Anchor.Apart() || s.Method == nil {
		return
	}
	const at, leave = "prior.anchor.per", ": leave per out"
	needs := s.Method.Needs()
	if needs.Islands == 0 {
		f.Conflict([]string{at, s.At()}, "gives each island an anchor, and %s makes one posterior"+leave+", or take one of the methods %s", method.Methods.Name(s.Method),
			strings.Join(method.MethodsWhere(func(n method.Needs) bool { return n.Islands > 0 }), ", "))
	}
	if s.Model.Init != "" {
		f.Conflict([]string{at, "model.init"}, "gives each island a restart as its anchor, and model.init is one network for all"+leave+", or model.init")
	}
	if !s.Model.Random.All() {
		f.Conflict([]string{at, "model.random"}, "gives each island a restart as its anchor, and the layers that are not random would be those of another one"+
			leave+", or model.random")
	}
	if s.MAP != nil && s.MAP.Restarts < needs.Islands {
		f.Conflict([]string{at, "map.restarts", s.At()}, "%d islands have a restart each as their anchor, and there are %d: want map.restarts of at least %d, or fewer islands",
			needs.Islands, s.MAP.Restarts, needs.Islands)
	}
}

// Way returns the method that is carried out (method.Way).
func (s *Spec) Way() method.Method { return method.Way(s.Method, s.Prior, s.MAP) }

// Title describes the method and the anchor of the prior in words: "8 chains of HMC (80 leapfrogs), 1,600 epochs each,
// anchored at the best MAP (s = 0.1)".
func (s *Spec) Title() string {
	point := "the best MAP"
	if s.MAP == nil { // without a search the anchor is the network of model.init
		point = "the network of model.init"
	}
	if s.Prior.Anchor.Point() {
		return point + " alone (s = 0)"
	}
	if named := s.Prior.Named(point); named != "" && s.Method.Needs().Posterior {
		return s.Method.Title() + ", " + named
	}
	return s.Method.Title()
}

// Complete fills in the defaults of a Spec that a Go program built. It takes every zero as a field that a config leaves out,
// so a field that must be 0, such as a jitter, has to be set afterwards.
func (s *Spec) Complete() { config.Complete(s, Families...) }

// Error returns a *config.Error of faults that were found in the data, with the places where the fields were written; nil if
// there are none.
func (s *Spec) Error(faults ...config.Fault) error { return s.source.Error(faults...) }

// Fault returns a *config.Error of one fault, of one field.
func (s *Spec) Fault(path, format string, args ...any) error {
	return s.Error(config.Fault{Path: path, Message: fmt.Sprintf(format, args...)})
}

// At returns the path of the method in a config: "method.smc".
func (s *Spec) At() string { return "method." + method.Methods.Name(s.Method) }

// Evaluate scores the ensembles of a run of the Spec on a problem, with the weights that its method gives them.
func (s *Spec) Evaluate(ctx context.Context, e *eval.Ensembles, p *data.Problem, workers *pool.Pool) (*eval.Assessment, error) {
	var combined bnn.Combination
	comparable := false
	if sampling := s.Way().Sampling(); sampling != nil {
		combined, comparable = sampling.Combine, sampling.Comparable
	}
	a, err := eval.Evaluate(ctx, e, p, combined, comparable, workers)
	if err == nil && s.Way().Needs().Posterior {
		a.Metrics.Widths, err = s.Prior.Family.Widths(e.Posterior)
	}
	return a, err
}
