package spec

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/decide"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/regular"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/nn"
)

// DataError is a fault of the examples or of a run's files: a file is missing or malformed, or the network cannot learn the
// examples.
type DataError struct{ Err error }

func (e *DataError) Error() string { return e.Err.Error() }
func (e *DataError) Unwrap() error { return e.Err }

// Plan is a run that can begin: its settings suit each other, the data, the network and the memory. Nothing has been computed.
type Plan struct {
	Spec Spec // resolved: with every default
	method.Plan
	Job      method.Job
	InitSum  string            // checksum of the file of model.init
	Findings []finding.Finding // about the data and the settings, kept with the run; Short is told before it begins, and not kept
}

// Plan loads the data, makes the network and the prior, and refuses a run that cannot be carried out. dir is the folder of data sets that
// are not built in, memory the limit in bytes, 0 for none, and job has what the machine gives: Pool, Files and Tell. The error is a
// *config.Error for a fault of the settings, and a *DataError for a fault of the examples or of model.init.
func (s Spec) Plan(dir string, memory int64, job method.Job) (*Plan, error) {
	if err := s.Verify(); err != nil {
		return nil, err
	}
	faults := config.NewFaults()
	if method.CheckLoading(s.placed().LoadBytes(dir), memory, faults.In("data")); len(faults.All()) > 0 {
		return nil, s.Error(faults.All()...)
	}
	set, err := s.Load(dir, nil)
	if err != nil {
		return nil, err
	}
	net := s.Model.Network(set, faults.In("model"))
	if net == nil || len(faults.All()) > 0 {
		return nil, s.Error(faults.All()...)
	}
	net = s.Freeze(net)
	if s.Decide != nil {
		if s.Decide.CheckWith(DecideFrom(net, set, s.Method.Needs().Single), faults.In("decide")); len(faults.All()) > 0 {
			return nil, s.Error(faults.All()...)
		}
	}
	p := &Plan{Job: job, Findings: s.findings(set)}
	init, sum, err := s.readInit(net)
	if err != nil {
		return nil, &DataError{fmt.Errorf("model.init: %w", err)}
	}
	if init != nil {
		net, p.Job.Init, p.InitSum = init.Net, init.Whole, sum
		if len(init.Ignored) > 0 {
			p.Findings = append(p.Findings, finding.Of(finding.CountersIgnored{Counters: len(init.Ignored), Name: init.Ignored[0]}))
		}
	}
	p.Job.Seed, p.Job.Data, p.Job.Net, p.Job.Search, p.Job.About = s.Seed, set, net, s.MAP, s.Prior
	if p.Job.Model, err = nn.NewTraining(net, set, job.Pool); err != nil {
		return nil, s.Fault("model", "%v", err)
	}
	p.Plan = p.Job.Plan(s.Method, s.around(), memory, faults)
	if err := s.Error(faults.All()...); err != nil {
		return nil, err
	}
	s.Method, s.MAP = p.Method, p.Job.Search
	p.Spec = s
	if family := s.Prior.Family; family != nil {
		p.Job.Prior, err = family.Prior(net.Random(), set.Train.Len())
	}
	return p, err
}

// DecideFrom says what there is to learn decisions from. single: the posterior is one network.
func DecideFrom(net *nn.Net, p *data.Problem, single bool) decide.Given {
	g := decide.Given{
		Numbers: net.Likelihood().Regression(), Targets: net.Targets(), Energies: net.Classes() == net.Outputs(), Single: single, Names: p.Schema.Names,
	}
	if p.Validate != nil {
		g.Validate = p.Validate.Len()
	}
	if p.Calibrate != nil {
		g.Calibrate = p.Calibrate.Len()
		if !g.Numbers {
			g.ByClass = make([]int, net.Classes())
			for _, y := range p.Calibrate.Labels {
				if y >= 0 && int(y) < len(g.ByClass) { // others are refused in their own words
					g.ByClass[y]++
				}
			}
		}
	}
	for _, group := range p.Foreign {
		g.Foreign += group.Set.Len()
	}
	return g
}

// Verify checks a Spec as Parse does, for one that a Go program built or changed: every field, and that the config which YAML
// writes reads back to the same Spec. A run is known by its config: what that cannot hold would be lost. The error is a
// *config.Error.
func (s Spec) Verify() error {
	if err := config.Check(s, Families...); err != nil {
		return err
	}
	back, err := Parse("", s.YAML())
	if err != nil {
		return s.Fault("", "cannot be kept as a config, which reads: %v (Complete fills in what was left out)", err)
	}
	back.source, back.Data.Memory = s.source, s.Data.Memory
	was, is := reflect.ValueOf(s), reflect.ValueOf(back)
	for i := range was.NumField() {
		if f := was.Type().Field(i); f.IsExported() && !reflect.DeepEqual(was.Field(i).Interface(), is.Field(i).Interface()) {
			name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			return s.Fault(name, "has a setting that a config cannot hold, so that the run could not be read back: leave it at its default, "+
				"or use its package without Fit")
		}
	}
	return nil
}

// findings are about the data and the settings.
func (s *Spec) findings(set *data.Problem) []finding.Finding {
	found := set.Findings()
	if set.Amounts > 0 {
		last := fmt.Sprint("model.layers.", len(s.Model.Layers)-1)
		found = append(found, finding.Of(finding.WholeAmounts{Target: set.Schema.Target, Values: set.Amounts, Layer: last}))
	}
	if set.Zeros >= finding.Many {
		found = append(found, finding.Of(finding.ManyZeros{Target: set.Schema.Target, Share: set.Zeros}))
	}
	if s.InitUnused() {
		found = append(found, finding.Of(finding.InitUnused{}))
	}
	if s.Prior.Family != nil {
		found = append(found, s.Prior.Family.Findings(set.Train.Len())...)
	}
	return found
}

// Load loads the examples into memory as the network's inputs and targets. schema is the schema of an earlier run, nil to
// measure it. A fault of the settings is a *config.Error; every other error is a *DataError.
func (s *Spec) Load(dir string, schema *data.Schema) (*data.Problem, error) {
	regression := s.Model.Likelihood.Regression()
	from := s.placed()
	p, err := from.Load(dir, data.Need{Regression: regression, Whole: s.Method.Needs().Whole, Seed: s.Seed, Schema: schema})
	var field *data.FieldError
	var names *data.NamesError
	switch {
	case errors.As(err, &field):
		return nil, s.Fault("data."+field.Field, "%s", field.Message)
	case errors.As(err, &names) && regression:
		return nil, s.Fault("model.likelihood", "%s predicts numbers, but %v: want %s",
			nn.Likelihoods.Name(s.Model.Likelihood), err, strings.Join(nn.LikelihoodsWhere(false), " or "))
	case err != nil:
		return nil, &DataError{err}
	}
	if s.places != nil {
		p.Called(from, s.Data)
	}
	return p, nil
}

// Files lists the files that a Spec names, each once; not those of a known set.
func (s *Spec) Files() []string {
	names := s.Data.Files()
	if s.Model.Init != "" && !slices.Contains(names, s.Model.Init) {
		names = append(names, s.Model.Init)
	}
	return names
}

// Placed returns the Spec of a machine on which the files that it names lie elsewhere: at places[name]. Everything else is the same, and
// messages have the names.
func (s Spec) Placed(places map[string]string) Spec {
	s.places = places
	return s
}

// placed are the settings of the data with the files where they lie.
func (s *Spec) placed() data.Settings {
	if s.places == nil {
		return s.Data
	}
	return s.Data.Moved(func(name string) string { return s.places[name] })
}

// readInit reads the network of model.init where it lies, and begins the low-rank updates that it lacks.
func (s *Spec) readInit(net *nn.Net) (init *bnn.Weights, sum string, err error) {
	m := s.Model
	if place, is := s.places[m.Init]; is {
		m.Init = place
	}
	if init, sum, err = m.ReadInit(net); init != nil && init.Untrained != nil {
		init.Draw(rng.Key{Seed: s.Seed, Purpose: rng.Start, Mutation: 2}.Stream()) // 0 are those of restarts, 1 of what islands share
	}
	return init, sum, err
}

// ReadInit reads the weights of the trained network, Init, for net, and the file's checksum; nil if Init is empty.
func (m *Model) ReadInit(net *nn.Net) (init *bnn.Weights, sum string, err error) {
	if m.Init == "" {
		return nil, "", nil
	}
	file, err := regular.Read(m.Init, math.MaxInt64)
	if err != nil {
		return nil, "", err
	}
	if init, err = bnn.ReadNetwork(file, net); err != nil {
		return nil, "", fmt.Errorf("%s: %w", m.Init, err)
	}
	return init, fmt.Sprintf("%x", sha256.Sum256(file)), nil
}

// Freeze returns the network with its layers frozen that nothing learns and that are the same in all networks of the posterior.
func (s *Spec) Freeze(net *nn.Net) *nn.Net {
	if s.Method.Needs().Frozen {
		return net.Frozen()
	}
	return net
}

// InitUnused reports whether Init is given, but nothing begins there and no prior is anchored there.
func (s *Spec) InitUnused() bool {
	return s.Model.Init != "" && !s.Method.Needs().Init && s.MAP == nil && s.Prior.Moved() && !s.Prior.About()
}
