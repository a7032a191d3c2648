package starling

import (
	"cmp"
	"slices"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/smc"
)

// fill sets what was left out to its default. Parts are copied before they are changed: a Spec that a caller holds
// stays as it is.
func (s Spec) fill() Spec {
	def(&s.Name, "run")
	_, regression := s.Model.Likelihood.(nn.Gaussian)
	switch {
	case !s.tabular():
		def(&s.Data.Standardise, "none")
	case regression:
		def(&s.Data.Standardise, "both")
	default:
		def(&s.Data.Standardise, "inputs")
	}
	s.Model.Layers = slices.Clone(s.Model.Layers)
	for i, l := range s.Model.Layers {
		switch l := l.(type) {
		case nn.Conv:
			l.Stride = cmp.Or(l.Stride, [2]int{1, 1})
			s.Model.Layers[i] = l
		case nn.MaxPool:
			l.Stride = cmp.Or(l.Stride, l.Size)
			s.Model.Layers[i] = l
		case nn.AvgPool:
			l.Stride = cmp.Or(l.Stride, l.Size)
			s.Model.Layers[i] = l
		}
	}
	if s.Method.MCMC != nil {
		m := *s.Method.MCMC
		m.fill(&s)
		s.Method.MCMC = &m
	}
	if s.Method.SMC != nil {
		m := *s.Method.SMC
		m.fill(&s)
		s.Method.SMC = &m
	}
	if s.MAP != nil || s.needsMAP() {
		m := MAP{}
		if s.MAP != nil {
			m = *s.MAP
		}
		if c := s.Method.MCMC; c != nil && c.Start == "map" {
			def(&m.Restarts, c.Chains)
		}
		if c := s.Method.SMC; c != nil && c.Start == "sgd" {
			def(&m.Restarts, c.Particles*c.Islands)
		}
		def(&m.Restarts, 8)
		def(&m.Rate, 0.03)
		def(&m.Batch, 64)
		if s.validates() {
			def(&m.Epochs, 300)
			def(&m.Patience, 20)
		}
		def(&m.Epochs, 5) // all of them are made: nothing says when to stop
		s.MAP = &m
	}
	return s
}

// tabular reports whether the examples are the rows of a table, each of whose columns has a unit of its own.
func (s *Spec) tabular() bool {
	return s.Data.CSV != nil || data.Tabular(s.Data.Set)
}

// validates reports whether there are validation examples: those of the data themselves, or a part that is held out.
func (s *Spec) validates() bool {
	whole, own := s.Data.Whole, s.Data.Validate != nil
	for _, k := range data.List("") {
		if k.Name == s.Data.Set {
			whole, own = whole || k.Whole, own || k.Validate > 0
		}
	}
	return own || !whole
}

// needsMAP reports whether prior or method start from a point estimate that has to be searched.
func (s *Spec) needsMAP() bool {
	anchored := s.Prior.Anchor != nil && s.Prior.Anchor.S < 0.5
	starts := s.Method.MCMC != nil && s.Method.MCMC.Start == "map" || s.Method.SMC != nil && (s.Method.SMC.Start == "map" || s.Method.SMC.Start == "sgd")
	return anchored && s.Model.Init == "" || starts
}

// fill sets the defaults of chains; s is the Spec around them.
func (m *MCMC) fill(s *Spec) {
	def(&m.Chains, 8)
	if s.Model.Init != "" && s.MAP == nil {
		def(&m.Start, "init")
	}
	def(&m.Start, "map")
	def(&m.Epochs, 1600)
	if m.Move == (Move{}) {
		m.Move.HMC = &HMC{}
	}
	m.Move.fill(80, 0.75, 0.2)
	if m.Keep == 0 {
		m.Keep = Keep(m.Chains * min(10, m.late()))
	}
	if m.Keep == 0 {
		m.Keep = KeepLast
	}
}

// late is the number of moves in the second half of a chain: as many of its states can be kept.
func (m *MCMC) late() int {
	steps := 1
	if m.Move.HMC != nil {
		steps = m.Move.HMC.Steps
	}
	return m.Epochs / (2 * steps)
}

// fill sets the defaults of islands; s is the Spec around them.
func (m *SMC) fill(s *Spec) {
	def(&m.Particles, 10)
	def(&m.Islands, 1)
	def(&m.Combine, "equal")
	_, schedule := m.Path.schedule()
	if schedule == nil {
		t := Tempering{}
		if m.Path.Tempering != nil {
			t = *m.Path.Tempering
		}
		def(&t.ESS, 0.5)
		m.Path.Tempering = &t
	} else {
		m.Path = m.Path.fill()
		if s.Model.Init != "" && s.MAP == nil && s.Prior.Anchor == nil {
			def(&m.Start, "init")
		}
		def(&m.Start, "prior")
	}
	if m.Move == (Move{}) {
		m.Move.HMC = &HMC{}
	}
	m.Move.fill(1, 0.65, 0)
	if m.Move.Leapfrog != nil {
		def(&m.Weight, "momentum")
	}
	if m.Move.HMC != nil {
		m.Move.HMC.Mutations.fill()
	}
	if m.Move.PCN != nil {
		m.Move.PCN.Mutations.fill()
	}
	def(&m.Resample.Scheme, "multinomial")
	switch {
	case m.Resample.When != When{}:
	case schedule != nil:
		m.Resample.When.ESS = 0.5
	default:
		m.Resample.When.Rule = "always"
	}
}

// fill returns a path of batches with its defaults.
func (p Path) fill() Path {
	for _, s := range p.schedules() {
		if *s.schedule == nil {
			continue
		}
		full := **s.schedule
		def(&full.Iterations, 200)
		batch, grow := smc.BatchSizes(full.Batch, full.Grow)
		if s.name != "full" {
			full.Batch = batch
		}
		if s.grows {
			full.Grow = grow
		}
		*s.schedule = &full
	}
	return p
}

// namedSchedule is one of a Path's schedules; nil if it is not the one.
type namedSchedule struct {
	name     string
	schedule **Schedule
	grows    bool
}

func (p *Path) schedules() []namedSchedule {
	return []namedSchedule{
		{"constant", &p.Constant, false}, {"full", &p.Full, false}, {"ctr", &p.CTR, false},
		{"linear", &p.Linear, true}, {"automated", &p.Automated, true}, {"sda", &p.SDA, true},
	}
}

// schedule is the path's schedule and its name; nil for tempering.
func (p Path) schedule() (name string, s *Schedule) {
	for _, s := range p.schedules() {
		if *s.schedule != nil {
			return s.name, *s.schedule
		}
	}
	return "", nil
}

// fill takes the number of leapfrogs, and what more than one of them aim at and differ by.
func (m *Move) fill(steps int, accept, jitter float64) {
	if m.HMC != nil {
		h := *m.HMC
		def(&h.Steps, steps)
		if h.Steps == 1 {
			accept, jitter = 0.574, 0 // optimal for one leapfrog, as for MALA
		}
		if h.Step == 0 {
			def(&h.Accept, accept)
		}
		def(&h.Jitter, &jitter)
		m.HMC = &h
	}
	if m.PCN != nil {
		p := *m.PCN
		if p.Step == 0 {
			def(&p.Accept, 0.25)
		}
		m.PCN = &p
	}
	if m.Leapfrog != nil {
		l := *m.Leapfrog
		def(&l.Steps, 3)
		m.Leapfrog = &l
	}
}

func (m *Mutations) fill() {
	switch {
	case *m == Mutations{}:
		m.N = 10
	case m.N == 0:
		def(&m.Eta, 0.05)
		def(&m.Max, 50)
	}
}

func def[T comparable](v *T, value T) {
	var zero T
	if *v == zero {
		*v = value
	}
}
