package starling

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/spelling"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/smc"
)

// checker collects what is impossible in a Spec. A zero that was not written down is a default to come and passes.
type checker struct {
	faults []fault
	places map[string]place // of what was written down; nil for a Spec built in Go

	parsing bool // the Spec comes from a file just now: a zero that was written down is meant
}

func (c *checker) fault(path, format string, args ...any) {
	c.faults = append(c.faults, fault{c.place(path), path, fmt.Sprintf(format, args...)})
}

// place is that of path, or of the nearest part around it that was written down.
func (c *checker) place(path string) place {
	for {
		if p, ok := c.places[path]; ok || path == "" {
			return p
		}
		path = path[:max(0, strings.LastIndexByte(path, '.'))]
	}
}

// conflict is a fault of several paths together. It stands where a --set brought one of them, else at the first.
func (c *checker) conflict(paths []string, format string, args ...any) {
	at := paths[0]
	for _, p := range paths[1:] {
		if c.place(at).set == "" && c.place(p).set != "" {
			at = p
		}
	}
	c.faults = append(c.faults, fault{c.place(at), paths[0], fmt.Sprintf(format, args...)})
}

// want is a fault unless ok; a zero that was not written down is a default to come.
func (c *checker) want(ok bool, path, what string, v float64) {
	if _, written := c.places[path]; !ok && (v != 0 || written && c.parsing) {
		c.fault(path, "want %s, have %.12g", what, v)
	}
}

func (c *checker) atLeast(path string, v, low int) {
	c.want(v >= low, path, fmt.Sprintf("at least %d", low), float64(v))
}

// within wants low ≤ v < most, most being what random streams can tell apart.
func (c *checker) within(path string, v, low, most int) {
	c.atLeast(path, v, low)
	c.want(v < most, path, fmt.Sprintf("below %d", most), float64(v))
}

func (c *checker) positive(path string, v float64) {
	c.want(v > 0 && !math.IsInf(v, 1), path, "a number above 0", v)
}

func (c *checker) share(path string, v float64) {
	c.want(v > 0 && v < 1, path, "a number above 0 and below 1", v)
}

// oneOf wants one of the names, or nothing.
func (c *checker) oneOf(path, name string, known ...string) {
	if name != "" && !slices.Contains(known, name) {
		c.fault(path, "unknown name %q%s (known: %s)", name, spelling.Suggest(name, known), strings.Join(known, ", "))
	}
}

// exactlyOne wants one of the parts to be there.
func (c *checker) exactlyOne(path string, parts map[string]bool) {
	var names, there []string
	for name, is := range parts {
		names = append(names, name)
		if is {
			there = append(there, name)
		}
	}
	slices.Sort(names)
	slices.Sort(there)
	switch {
	case len(there) == 0:
		c.fault(path, "want one of %s", strings.Join(names, ", "))
	case len(there) > 1:
		paths := []string{path}
		for _, name := range there {
			paths = append(paths, join(path, name))
		}
		c.conflict(paths, "has %s: want one of them", strings.Join(there, " and "))
	}
}

func (c *checker) spec(s *Spec) {
	if strings.ContainsAny(s.Name, `/\`) || strings.HasPrefix(s.Name, ".") || !printable(s.Name) {
		c.fault("name", "%q cannot name a folder: want at most %d bytes, without slashes and control characters, and no dot at the start", s.Name, longest)
	}
	c.data(&s.Data, s.Model.Likelihood)
	c.model(&s.Model)
	c.method(s)
	if s.Method.AsIs {
		return
	}
	c.exactlyOne("prior.normal", map[string]bool{"variance": s.Prior.Normal.Variance != 0, "fan_in": s.Prior.Normal.FanIn != 0})
	c.positive("prior.normal.variance", s.Prior.Normal.Variance)
	c.positive("prior.normal.fan_in", s.Prior.Normal.FanIn)
	if a := s.Prior.Anchor; a != nil {
		if _, written := c.places["prior.anchor.s"]; c.parsing && !written {
			c.fault("prior.anchor", "needs s, from 0 (the MAP itself) to 1 (no shrinking), as in {s: 0.1}")
		}
		c.want(a.S >= 0 && a.S <= 1, "prior.anchor.s", "0 to 1", a.S)
	}
	if m := s.MAP; m != nil {
		c.within("map.restarts", m.Restarts, 1, rng.MaxParticles)
		c.positive("map.rate", m.Rate)
		c.atLeast("map.batch", m.Batch, 1)
		c.atLeast("map.epochs", m.Epochs, 1)
		c.atLeast("map.patience", m.Patience, 1)
		if m.Patience != 0 && !s.validates() {
			by := "data.whole"
			if !s.Data.Whole {
				by = "data.set" // one that is whole by itself
			}
			c.conflict([]string{"map.patience", by},
				"waits for a better score on validation examples, and %s holds none out: leave it out; map.epochs alone says when to stop", by)
		}
	}
}

// notGroups are names that scores and parts of the data have.
var notGroups = []string{"train", "validate", "test", "correct", "incorrect"}

// data looks at names and what goes with what; files are opened later.
func (c *checker) data(d *Data, likelihood nn.Likelihood) {
	c.exactlyOne("data", map[string]bool{"set": d.Set != "", "csv": d.CSV != nil, "train": d.Train != nil})
	var sets []string
	for _, known := range data.List("") {
		sets = append(sets, known.Name)
	}
	c.oneOf("data.set", d.Set, sets...)
	if csv := d.CSV; csv != nil {
		if csv.File == "" {
			c.fault("data.csv", "needs a file")
		}
		if csv.Target == "" {
			c.fault("data.csv", "needs a target, the column to predict")
		}
		if csv.Delimiter != "" {
			if err := data.CheckDelimiter(csv.Delimiter); err != nil {
				c.fault("data.csv.delimiter", "%v", err)
			}
		}
		if k := slices.Index(csv.Drop, csv.Target); k >= 0 && csv.Target != "" {
			c.fault(join("data.csv.drop", fmt.Sprint(k)), "%s is the target: name columns that are neither target nor inputs", csv.Target)
		}
	}
	for _, part := range []struct {
		path   string
		arrays *Arrays
	}{{"data.train", d.Train}, {"data.validate", d.Validate}, {"data.test", d.Test}} {
		switch {
		case part.arrays == nil:
		case d.Train == nil:
			c.fault(part.path, "goes with train, arrays of your own; a set has its own parts, a csv is split by the seed")
		case part.arrays.Inputs == "" || part.arrays.Targets == "":
			c.fault(part.path, "needs inputs and targets, as in {inputs: x.npy, targets: y.npy}")
		}
	}
	for i, g := range d.Groups {
		path := join("data.groups", g.Name)
		switch {
		case g.Name == "" || !printable(g.Name):
			c.fault(path, "%q: want a name of at most %d bytes without control characters", g.Name, longest)
		case slices.Contains(notGroups, g.Name):
			c.fault(path, "%s is the name of a part of the data or of the scores: choose another", g.Name)
		case slices.ContainsFunc(d.Groups[:i], func(other Group) bool { return other.Name == g.Name }):
			c.fault(path, "two groups are named %s", g.Name)
		case g.File == "":
			c.fault(path, "needs a file of inputs")
		}
	}
	c.oneOf("data.standardise", d.Standardise, "none", "inputs", "both")
	if _, regression := likelihood.(nn.Gaussian); likelihood != nil && !regression && d.Standardise == "both" {
		c.fault("data.standardise", "both is for a regression: classes are not scaled; want inputs or none")
	}
}

// method looks at how it is sampled, and at what that needs of the rest.
func (c *checker) method(s *Spec) {
	m := &s.Method
	c.exactlyOne("method", map[string]bool{"mcmc": m.MCMC != nil, "smc": m.SMC != nil, "as-is": m.AsIs})
	if m.MCMC != nil {
		c.mcmc(s)
	}
	if m.SMC != nil {
		c.smc(s)
		full := *m.SMC
		full.fill(s)
		c.few(&full)
		if p := s.MAP; full.Start == "sgd" && p != nil && p.Restarts != 0 && p.Restarts < full.Particles*full.Islands {
			c.conflict([]string{"map.restarts", "method.smc.particles", "method.smc.islands", "method.smc.start"},
				"%d particles start from %d MAP restarts, one each: want map.restarts of at least %d, or another start",
				full.Particles*full.Islands, p.Restarts, full.Particles*full.Islands)
		}
		if m.SMC.Combine == "evidence" && !s.weighsByEvidence() {
			c.conflict([]string{"method.smc.combine", "model.init", "method.smc.start", "method.smc.path", "method.smc.weight"},
				"islands whose particles do not begin at the prior estimate no evidence, and those of literal weights, constant batches, "+
					"smooth annealing or fewer than 10 iterations none that compares: want combine: equal")
		}
	}
	if !m.AsIs {
		return
	}
	if s.Model.Init == "" {
		c.fault("method", "as-is judges a trained network as it is: name the file of its weights, model.init")
	}
	if s.Prior != (Prior{}) {
		c.fault("prior", "is for sampling: method as-is takes the network of model.init as it is")
	}
	if s.MAP != nil {
		c.fault("map", "is for sampling: method as-is takes the network of model.init as it is")
	}
}

const longest = 100 // bytes of a name

// printable reports whether a name can stand in a line of text, and not fill it.
func printable(name string) bool {
	return len(name) <= longest && utf8.ValidString(name) && !strings.ContainsFunc(name, unicode.IsControl)
}

func (c *checker) model(m *Model) {
	for i, layer := range m.Layers {
		name := ""
		switch l := layer.(type) {
		case nn.Dense:
			name = l.Name
		case nn.Conv:
			name = l.Name
		}
		if !printable(name) {
			c.fault(join("model.layers", fmt.Sprint(i)+".name"), "%q: want at most %d bytes without control characters", name, longest)
			return
		}
	}
	for i, size := range m.Input {
		if size < 1 || size > most {
			c.fault(join("model.input", fmt.Sprint(i)), "want 1 to %d, have %d", most, size)
			return
		}
	}
	switch {
	case len(m.Layers) == 0:
		c.fault("model", "needs layers, as in [{dense: 50}, relu, {dense: 1}]")
	case m.Likelihood == nil:
		c.fault("model", "needs a likelihood: categorical, bernoulli, {gaussian: {sd: 1}} or {gaussian: {sd: learned}}")
	case m.Input != nil && !slices.Contains(m.Layers, nil):
		c.shapes(m)
	}
}

// shapes lets the network derive its shapes and points at the first layer that does not fit: the last of the shortest
// part of the network that fails, whatever follows.
func (c *checker) shapes(m *Model) {
	net, err := nn.New(m.Input, m.Layers, m.Likelihood)
	if err == nil {
		if net.Dim() > math.MaxInt32 {
			c.fault("model.layers", "%d parameters are more than the %d that a network may have", net.Dim(), math.MaxInt32)
		}
		return
	}
	for i := range m.Layers {
		part := append(slices.Clone(m.Layers[:i+1]), nn.Dense{Units: 1, Name: "the rest"})
		if _, err := nn.New(m.Input, part, nn.Gaussian{SD: 1}); err != nil {
			path := join("model.layers", fmt.Sprint(i))
			c.faults = append(c.faults, fault{c.brought(path), path, err.Error()})
			return
		}
	}
	c.fault("model.likelihood", "%v", err)
}

// brought is the place of the first part of path that a --set brought, else that of path.
func (c *checker) brought(path string) place {
	at := ""
	for p, where := range c.places {
		if where.set != "" && strings.HasPrefix(p, path+".") && (at == "" || p < at) {
			at = p
		}
	}
	if at == "" {
		at = path
	}
	return c.place(at)
}

func (c *checker) mcmc(s *Spec) {
	m, point := s.Method.MCMC, s.MAP
	c.within("method.mcmc.chains", m.Chains, 1, rng.MaxIslands)
	c.oneOf("method.mcmc.start", m.Start, "map", "prior", "init")
	if m.Start == "init" && s.Model.Init == "" {
		c.fault("method.mcmc.start", "init is the network of model.init, which is not given")
	}
	c.atLeast("method.mcmc.epochs", m.Epochs, 1)
	if m.Keep != KeepLast {
		c.atLeast("method.mcmc.keep", int(m.Keep), 1)
	}
	if m.Move != (Move{}) {
		c.move("method.mcmc.move", m.Move)
	}
	if m.Move.HMC != nil && m.Move.HMC.Mutations != (Mutations{}) {
		c.fault("method.mcmc.move.hmc.mutations", "belongs to smc; chains move for their epochs")
	}
	if m.Move.PCN != nil && m.Move.PCN.Mutations != (Mutations{}) {
		c.fault("method.mcmc.move.pcn.mutations", "belongs to smc; chains move for their epochs")
	}
	if m.Move.Leapfrog != nil {
		c.fault("method.mcmc.move.leapfrog", "belongs to smc, whose weights take up its errors: chains need hmc or pcn")
	}
	full := *m
	full.fill(s)
	if full.Start == "map" && point != nil && point.Restarts != 0 && point.Restarts < full.Chains {
		c.conflict([]string{"method.mcmc.chains", "map.restarts", "method.mcmc.start"},
			"%d chains start from %d MAP restarts, one each: want map.restarts of at least %d, or start: prior",
			full.Chains, point.Restarts, full.Chains)
	}
	if m.Keep <= 0 || full.Chains < 1 {
		return
	}
	if int(m.Keep)%full.Chains != 0 {
		c.conflict([]string{"method.mcmc.keep", "method.mcmc.chains"}, "%d states are no multiple of %d chains", m.Keep, full.Chains)
	} else if full.Epochs > 0 && full.late() >= 0 && full.late() < int(m.Keep)/full.Chains {
		c.conflict([]string{"method.mcmc.keep", "method.mcmc.chains", "method.mcmc.epochs", "method.mcmc.move.hmc.steps"},
			"%d states of %d chains, but the second half of %d epochs has only %d moves: keep at most %d, or last",
			m.Keep, full.Chains, full.Epochs, full.late(), full.late()*full.Chains)
	}
}

func (c *checker) smc(s *Spec) {
	m := s.Method.SMC
	c.within("method.smc.particles", m.Particles, 2, rng.MaxParticles)
	c.within("method.smc.islands", m.Islands, 1, rng.MaxIslands)
	c.oneOf("method.smc.combine", m.Combine, "equal", "evidence")
	c.path(m)
	c.start(s)
	if m.Move != (Move{}) {
		c.move("method.smc.move", m.Move)
	}
	c.oneOf("method.smc.resample.scheme", m.Resample.Scheme, "multinomial", "systematic", "stratified", "residual")
	c.oneOf("method.smc.resample.when", m.Resample.When.Rule, "always", "never")
	c.share("method.smc.resample.when.ess", m.Resample.When.ESS)
}

func (c *checker) move(path string, m Move) {
	c.exactlyOne(path, map[string]bool{"hmc": m.HMC != nil, "pcn": m.PCN != nil, "leapfrog": m.Leapfrog != nil})
	if h := m.HMC; h != nil {
		p := join(path, "hmc")
		c.atLeast(join(p, "steps"), h.Steps, 1)
		c.positive(join(p, "step"), float64(h.Step))
		c.share(join(p, "accept"), h.Accept)
		if h.Jitter != nil {
			c.want(*h.Jitter >= 0 && *h.Jitter < 1, join(p, "jitter"), "0 or a number below 1", *h.Jitter)
		}
		c.mutations(join(p, "mutations"), h.Mutations)
	}
	if k := m.PCN; k != nil {
		p := join(path, "pcn")
		c.want(k.Step > 0 && k.Step <= 1, join(p, "step"), "a number above 0, at most 1", float64(k.Step))
		c.share(join(p, "accept"), k.Accept)
		c.mutations(join(p, "mutations"), k.Mutations)
	}
	if l := m.Leapfrog; l != nil {
		p := join(path, "leapfrog")
		c.atLeast(join(p, "steps"), l.Steps, 1)
		c.positive(join(p, "step"), l.Step)
		if l.Step == 0 {
			c.fault(p, "needs a step, as in {steps: 3, step: 0.002}: without accept or reject there is nothing to adapt it to")
		}
		if l.Gradient != nil {
			c.want(l.Gradient.Batch >= 1, join(p, "gradient.batch"), "at least 1", float64(l.Gradient.Batch))
			if l.Gradient.Batch == 0 {
				c.fault(join(p, "gradient"), "needs a batch, as in {batch: 500}")
			}
		}
	}
}

// path looks at where targets come from, and at what goes with it.
func (c *checker) path(m *SMC) {
	const at = "method.smc.path"
	parts := map[string]bool{"tempering": m.Path.Tempering != nil}
	for _, s := range m.Path.schedules() {
		parts[s.name] = *s.schedule != nil
	}
	if m.Path != (Path{}) {
		c.exactlyOne(at, parts)
	}
	if t := m.Path.Tempering; t != nil {
		c.share(join(at, "tempering.ess"), t.ESS)
	}
	name, schedule := m.Path.schedule()
	c.oneOf("method.smc.weight", m.Weight, "momentum", "literal")
	if m.Weight != "" && m.Move.Leapfrog == nil {
		c.fault("method.smc.weight", "is that of moves without accept or reject: it goes with move: {leapfrog: …}")
	}
	if schedule == nil {
		return
	}
	p := join(at, name)
	c.within(join(p, "iterations"), schedule.Iterations, 1, rng.MaxIterations)
	c.atLeast(join(p, "batch"), schedule.Batch, 1)
	c.atLeast(join(p, "grow"), schedule.Grow, 1)
	if schedule.Batch != 0 && name == "full" {
		c.fault(join(p, "batch"), "full sees all examples: leave it out")
	}
	grows := slices.ContainsFunc(m.Path.schedules(), func(s namedSchedule) bool { return s.name == name && s.grows })
	if schedule.Grow != 0 && !grows {
		c.fault(join(p, "grow"), "is for linear, automated and sda")
	}
	if schedule.Exact && name != "sda" {
		c.fault(join(p, "exact"), "is for sda")
	}
	if schedule.Scale && name != "sda" {
		c.fault(join(p, "scale"), "is for sda; the other schedules always scale")
	}
	if l := m.Move.Leapfrog; l != nil && l.Gradient != nil {
		const gradient = "method.smc.move.leapfrog.gradient"
		batch, _ := smc.BatchSizes(schedule.Batch, 0)
		switch {
		case name == "sda":
			c.conflict([]string{gradient, p},
				"has no place in sda, where some examples have settled and others have a power of their own: leave it out, or take another path")
		case name == "constant" && l.Gradient.Batch >= batch:
			c.conflict([]string{gradient, join(p, "batch")},
				"%d examples are not fewer than the %d of every batch, whose own gradients cost less: leave it out, or take fewer", l.Gradient.Batch, batch)
		}
	}
}

// few wants more than one particle of those that tempering is to keep effective; one always is. m has its defaults.
func (c *checker) few(m *SMC) {
	share := 0.5 // on the way to the first batch
	if m.Path.Tempering != nil {
		share = m.Path.Tempering.ESS
	} else if m.Start != "tempered" {
		return
	}
	if share > 0 && m.Particles > 1 && share*float64(m.Particles) <= 1 {
		c.conflict([]string{"method.smc.particles", "method.smc.path.tempering.ess", "method.smc.start"},
			"tempering keeps a share of %v of %d particles effective, which is not more than one, and would do it all in one step: want more than %.4g of them",
			share, m.Particles, 1/share)
	}
}

// start looks at where particles begin.
func (c *checker) start(s *Spec) {
	const at = "method.smc.start"
	m := s.Method.SMC
	c.oneOf(at, m.Start, "prior", "tempered", "map", "sgd", "init")
	_, schedule := m.Path.schedule()
	switch {
	case schedule == nil && m.Start != "":
		c.fault(at, "goes with a path of batches; tempering begins at the prior, or at model.init")
	case m.Start == "init" && s.Model.Init == "":
		c.fault(at, "init is the network of model.init, which is not given")
	case (m.Start == "prior" || m.Start == "tempered") && s.Model.Init != "" && s.MAP == nil && s.Prior.Anchor == nil:
		c.conflict([]string{at, "model.init"},
			"%s draws all particles from the prior, and nothing is left to do for model.init: want start: init, or no model.init", m.Start)
	case m.Start == "tempered" && m.Weight == "literal":
		c.conflict([]string{at, "method.smc.weight"},
			"tempered leads to the first batch by changes of target alone, which weight literal leaves out: no likelihood would ever be weighed")
	}
}

func (c *checker) mutations(path string, m Mutations) {
	if m.Eta == 0 && m.Max == 0 {
		c.within(path, m.N, 1, rng.MaxMutations+1)
		return
	}
	c.positive(join(path, "eta"), m.Eta)
	c.within(join(path, "max"), m.Max, 2, rng.MaxMutations+1)
}
