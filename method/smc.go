package method

import (
	"fmt"
	"strings"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/smc"
)

// pathOfSMC is the path of the method in a config.
const pathOfSMC = "method.smc"

// SMC is independent islands of particles on a path of targets from prior to posterior. On path tempering, with the prior's anchor, it is
// S-SMC, Algorithm 2 of Scalable Bayesian Monte Carlo (SBMC; scalable-bayesian-monte-carlo, section 3.2). On paths of batches it is data
// annealing (data-annealing-smc, section 3). Where layers are learned it is GOHSMC, and with the move walk OHSMC (guided-open-horizon-smc,
// sections 3.2 and 3.3a). With the move epoch and bootstrap weights it is SMC-SGHMC (smc-sghmc-ensembles, section 2.2).
type SMC struct {
	// Particles are the particles of an island, at least 2. auto, the default: on paths of batches 10; else as many as can be evaluated
	// once on all training examples, with gradients, in 5e7 operations: a multiple of 10 from 10 to 400, of all islands together at most
	// 800, or 10 each. The run's config has the number.
	Particles int `yaml:"particles" words:"auto=0"`

	// WasteFree is m, the number of chains of a waste-free sampler: an iteration draws m parents of the particles, moves each
	// particles/m − 1 times, and keeps the parents and all states on the way as the next particles. particles must be a multiple of m,
	// and at least 2m. It goes with temperatures and moves with accept or reject, whose mutations are then left out. Default: all
	// particles move, and only where they end counts.
	WasteFree int `yaml:"waste_free,omitempty"`

	Islands int `yaml:"islands"` // populations that never meet; default 1

	// Temperature is T of a cold posterior, above 0 and at most 1, on path tempering: likelihood and prior both to the power 1/T. It has no
	// log evidence. Default 1, the posterior. (T of weight: bootstrap is that of weights alone, and decide.temperature corrects predictions.)
	Temperature float64 `yaml:"temperature,omitempty,nonzero"`

	Combine  bnn.Combination `yaml:"combine"`         // how islands are weighted in the posterior; default equal
	Pilot    bool            `yaml:"pilot,omitempty"` // with path tempering: a run of its own, with other random numbers, chooses the temperatures before the islands begin, and all islands follow them. The islands' own particles then do not choose the temperatures, and the choice does not bias the log evidence
	Path     smc.Path        `yaml:"path"`            // the targets from the prior to the posterior; default tempering or, where layers are learned, constant of 100 epochs with batches of 50
	Move     mcmc.Move       `yaml:"move"`            // how particles move; default hmc
	Resample smc.Resampler   `yaml:"resample"`        // how and when particles are copied and dropped; default multinomial; when: the path's default

	// Start is where particles begin. On paths of batches (docs/data-annealing-smc.md, section 3.7) the default is prior, draws weighted by the
	// likelihood of the first batch. On other paths: prior, written as nothing, or init. On any path the default is init where model.init is given,
	// and neither anchor nor map.
	Start Place `yaml:"start,omitempty"`

	// Weight must suit the move, and by default it is the move's own. With accept or reject: reversal. Without: momentum, or
	// bootstrap, or, for comparison only, equal, or literal, as eq. 12 is printed (docs/data-annealing-smc.md, section 5, A3).
	Weight smc.Weighting `yaml:"weight,omitempty"`

	Learning `yaml:",inline"`
	Keep     smc.Keeper  `yaml:"keep,omitempty"`  // the states that make the ensemble; default: the last
	Trace    IslandTrace `yaml:"trace,omitempty"` // a line of the trace: 1 iteration by default or, on a path in epochs, 1 epoch

	// Stop ends an island before its path does. Default: none.
	Stop Stop `yaml:"stop,omitempty"`

	own bool // each island has a prior of its own (Way)
}

var _ Method = SMC{}

// Title describes the islands.
func (m SMC) Title() string {
	particles, by := "", ""
	if m.Particles > 0 {
		particles = " of " + numeral.Several(m.Particles, "particle")
	}
	if m.WasteFree > 0 {
		particles += fmt.Sprintf(", waste-free from %s,", numeral.Several(m.WasteFree, "chain"))
	}
	if m.Pilot {
		by = " on the temperatures of a pilot run"
	}
	return fmt.Sprintf("%s%s by %v%s with %v%s%s", numeral.Several(m.Islands, "island"), particles, m.Path, by, m.Move, m.start().words, coldly(m.Temperature))
}

// Settle fills in defaults, and refuses settings that contradict each other or the settings around the method.
func (m SMC) Settle(around Around, f *config.Faults) Method {
	m.checkWithin(around, f)
	fill(&m.Islands, 1)
	if m.Combine == nil {
		m.Combine = bnn.Equal{}
	}
	m.Learning.complete(around)
	if m.Path == nil {
		m.Path = smc.Tempering{}
		if m.Learn != nil { // adaptive temperatures and learning do not go together
			m.Path = smc.Schedule[smc.Constant]{Epochs: 100, Rule: smc.Constant{Batch: 50}}
		}
	}
	if m.Path.Traits().Batches {
		fill(&m.Particles, fewParticles)
	}
	free := around.Init && !around.Partly && around.Search == nil && !around.Prior.Moved() // nothing else uses model.init
	if free {
		fill(&m.Start, Place(FromInit{}))
	}
	if m.Path.Traits().Batches {
		fill(&m.Start, Place(FromPrior{}))
	}
	if m.Move == nil {
		m.Move = mcmc.HMC{}
	}
	repeats := smc.DefaultMutations(m.Path)
	if m.WasteFree > 0 { // which say themselves how often
		repeats = mcmc.Mutations{}
		if m.Resample.When == nil {
			m.Resample.When = smc.Always{}
		}
	}
	m.Move = m.Move.ForPopulation(repeats, m.Learn != nil)
	if m.Weight == nil && !m.Move.Traits().Invariant() { // other moves have one weighting, which a config leaves out
		m.Weight = smc.DefaultWeighting(m.Move)
	}
	if m.Weight != nil {
		m.Weight = m.Weight.ForPopulation(m.Learn != nil)
	}
	if m.Resample.When == nil {
		m.Resample.When = smc.DefaultOccasion(m.Path, m.Weight)
	}
	m.Resample.Defaults()
	return m
}

// Defaults fills in defaults without the settings around the method, as MCMC.Defaults does.
func (m *SMC) Defaults() { *m = m.Settle(Around{}, config.NewFaults()).(SMC) }

// drawn reports whether the particles begin at draws of the prior.
func (m SMC) drawn() bool { return m.start().drawn }

// start returns the place where the particles begin.
func (m SMC) start() start {
	place := m.Start
	if place == nil {
		place = FromPrior{}
	}
	s := place.start()
	s.name = Places.Name(place)
	return s
}

// Check refuses settings that are wrong for any islands.
func (m SMC) Check(f *config.Faults) {
	if m.Particles != 0 { // auto
		f.Within("particles", m.Particles, fewestParticles, rng.MaxParticles)
	}
	f.Within("islands", m.Islands, 1, rng.MaxIslands)
	checkTemperature(m.Temperature, f)
	if m.WasteFree < 0 || m.WasteFree > 0 && m.Particles != 0 {
		if err := smc.WasteFreeParticles(m.Particles, m.WasteFree); err != nil {
			f.Add("waste_free", "%v", err)
		}
	}
	if m.Path == nil || m.Move == nil {
		f.If(m.Path == nil, "path", "want one of %s", strings.Join(smc.Paths.Names(), ", "))
		f.If(m.Move == nil, "move", "want one of %s", strings.Join(mcmc.Moves.Names(), ", "))
		return
	}
	mcmc.CheckForPopulation(m.Move, m.Learn != nil, f.In("move."+mcmc.Moves.Name(m.Move)))
	if start := m.start(); m.Start != nil && !start.init && !m.Path.Traits().Batches {
		f.Add("start", "%s goes with a path of batches: with path %s leave start out, which begins at the prior (at model.init, if nothing else uses it)",
			start.name, smc.Paths.Name(m.Path))
	}
	if err := m.sampler().SuitsWasteFree(); err != nil {
		f.Add("waste_free", "%v", err)
	}
	if m.Weight != nil {
		if err := smc.SuitsMove(m.Weight, m.Move); err != nil {
			f.Add("weight", "%v (%s); leave weight out for the move's own", err, strings.Join(mcmc.MovesWhere(!m.Move.Traits().Invariant()), " or "))
		}
	}
}

func (m SMC) checkWithin(around Around, f *config.Faults) {
	if m.Path == nil || m.Move == nil {
		return
	}
	in := func(fields ...string) (paths []string) {
		for _, field := range fields {
			paths = append(paths, pathOfSMC+"."+field)
		}
		return paths
	}
	start := m.start()
	f.If(start.init && !around.Init, pathOfSMC+".start", "%s is the network of model.init, which is not given", start.name)
	if start.each && around.Partly {
		f.Conflict(append(in("start"), "model.random"),
			"%s gives each particle a restart of its own, and the particles of a partly random network share a part of it: want start: map, or leave model.random out",
			start.name)
	}
	if start.alone() && (m.Start == nil || m.Path.Traits().Batches) && around.Init && !around.Partly && around.Search == nil && !around.Prior.Moved() {
		f.Conflict(append(in("start"), "model.init"),
			"%s draws all particles and does not use model.init: want start: init, or no model.init", start.name)
	}
	if p, n := around.Search, m.Needs().Restarts; p != nil && p.Restarts < n {
		f.Conflict(append([]string{"map.restarts"}, in("particles", "islands", "start")...),
			"%d particles start from %d MAP restarts, one each: want map.restarts of at least %d, or another start", n, p.Restarts, n)
	}
	if share := m.path().Traits().Share; m.Particles > 1 && smc.LeavesOne(share, m.Particles) {
		f.Conflict(in("particles", "path."+smc.Paths.Name(m.Path)+".ess", "start"),
			"tempering keeps a share of %v of %d particles effective: at most one particle, so the path would be one step; want more than %.4g particles",
			share, m.Particles, 1/share)
	}
	m.checkPilot(around, in, f)
	checkMove(m.Move, around, pathOfSMC, f)
	if m.Weight != nil {
		if err := smc.SuitsWeighting(m.path(), m.Weight); err != nil {
			f.Conflict(in("start", "weight"), "weight %v; leave weight out for the move's own, or take another start", err)
		}
		if err := smc.SuitsWarmUp(m.Weight, m.Keep); err != nil {
			f.Conflict(in("weight", "keep"), "weight %s %v", smc.Weightings.Name(m.Weight), err)
		}
	}
	if m.Combine != nil && m.Combine.NeedsEvidence() {
		m.checkComparable(around, in, f)
	}
	checkCold(m.Temperature, m.Path, m.Learn, around, pathOfSMC, f)
	m.Learning.checkWithin(around, pathOfSMC, f)
	checkKeep(m.Keep, around, pathOfSMC, f)
	m.Trace.checkWithin(m, pathOfSMC, f)
	m.checkStop(around, pathOfSMC, f)
	if m.Learn != nil && m.path().Traits().Share > 0 {
		f.Conflict(in("learn", "path", "start"),
			"adaptive tempering chooses each temperature by likelihoods that learning changes at once: take path constant, as in "+
				"{constant: {epochs: 100, batch: 50}}, or leave learn out (model.init has the other layers then)")
	}
	if m.Learn != nil && m.Path.Traits().AnnealsIn {
		f.Conflict(in("learn", "path."+smc.Paths.Name(m.Path)),
			"the likelihood of examples that are annealed in changes with the layers that are learned: take another path, as constant, or leave learn out")
	}
	m.checkSubsample(pathOfSMC, f)
}

// checkComparable refuses weights of islands by evidences that are not comparable. in returns the paths of fields in the config.
func (m SMC) checkComparable(around Around, in func(fields ...string) []string, f *config.Faults) {
	fields, causes := in("combine"), []string(nil)
	if start := m.start(); !start.drawn && (start.init || m.Path.Traits().Batches) { // Check refuses others
		if start.init {
			fields = append(fields, "model.init")
		}
		fields, causes = append(fields, in("start")...), append(causes, fmt.Sprintf("with start %s the weights of the first particles are unknown", start.name))
	}
	if name := m.noPath(); name != "" {
		fields, causes = append(fields, in("weight")...), append(causes, fmt.Sprintf("weight %s leaves out the change of target", name))
	}
	if m.Learn != nil {
		fields, causes = append(fields, in("learn")...), append(causes, "the model changes while it is learned")
	}
	switch facts := m.target().Traits().Evidence; {
	case facts.Cold:
		fields, causes = append(fields, in("temperature")...), append(causes, "a cold posterior has none")
	case !facts.Sure():
		fields, causes = append(fields, in("path")...), append(causes, fmt.Sprintf("path %s %s", smc.Paths.Name(m.Path), facts.Unsure))
	}
	if around.Prior.Anchor.Apart() {
		fields, causes = append(fields, "prior.anchor.per"), append(causes, "each has a prior of its own")
	}
	if causes != nil {
		f.Conflict(fields, "islands cannot be weighted by evidence, because %s: want combine: %s",
			strings.Join(causes, ", and "), bnn.Combinations.Name(bnn.Equal{}))
	}
}

// checkSubsample refuses mini-batch gradients where they save nothing or cannot be used.
func (m SMC) checkSubsample(at string, f *config.Faults) {
	n := m.Move.Traits().Subsample
	if n == 0 || !m.Path.Traits().Batches || m.Move.Traits().Biased() { // Check refuses biased moves
		return
	}
	gradient, path := m.gradient(at), at+".path."+smc.Paths.Name(m.Path)
	if m.Path.Traits().AnnealsIn {
		f.Conflict([]string{gradient, path},
			"cannot be used with %s, where examples have different powers: leave it out, or choose another path", smc.Paths.Name(m.Path))
	}
	if batch := m.Path.Traits().Evidence.Batch; batch > 0 && n >= batch {
		f.Conflict([]string{gradient, path + ".batch"},
			"%d examples save nothing: a mini-batch must be smaller than the path's batches of %d; leave it out, or take fewer", n, batch)
	}
}

// gradient returns the path of the move's mini-batch in the config.
func (m SMC) gradient(at string) string { return at + ".move." + mcmc.Moves.Name(m.Move) + ".gradient" }

// SettleWith fills in the number of particles. It refuses mini-batch gradients whose mini-batches are not smaller than the training set,
// scales that are too large, and states to keep that the path does not have.
func (m SMC) SettleWith(around Around, s Sizes, f *config.Faults) Method {
	if m.Path.Traits().Batches {
		fill(&m.Particles, fewParticles)
	}
	if m.Particles == 0 {
		m.Particles = particlesFor(s.Operations, m.Islands)
		if n := m.WasteFree; n > 0 {
			m.Particles = max(2*n, m.Particles/n*n)
		}
	}
	m.checkWithin(around, f)
	mcmc.CheckWith(m.Move, s.Examples, s.Parameters, f.In(pathOfSMC+".move."+mcmc.Moves.Name(m.Move)))
	if n := m.Move.Traits().Subsample; n >= s.Examples {
		f.Add(m.gradient(pathOfSMC),
			"%d examples save nothing: a mini-batch must be smaller than the training set of %d; leave it out, or take fewer", n, s.Examples)
	}
	checkKept(m.sampler(), s.Examples, pathOfSMC, f)
	return m
}

// Needs is a restart for each particle that starts from one, or several to choose the best from.
func (m SMC) Needs() Needs {
	n := m.start().needs(m.Islands * m.Particles)
	n.Islands = max(1, m.Islands)
	n.Frozen = m.Learn == nil && !m.start().each
	n.Augments = m.Move != nil && m.Move.Traits().Augments
	return n
}

// noPath is the name of the weighting if it leaves out the change of target, else empty.
func (m SMC) noPath() string {
	if m.Weight == nil || !m.Weight.Traits().Untargeted {
		return ""
	}
	return smc.Weightings.Name(m.Weight)
}

// comparable reports whether the final target is always the posterior, so that the islands' evidences are comparable.
func (m SMC) comparable() bool {
	return m.start().drawn && m.Learn == nil && m.noPath() == "" && m.target().Traits().Evidence.Sure() && !m.own
}

// apart is the same, with a prior for each island.
func (m SMC) apart() Method {
	m.own = true
	return m
}

// target is the path, to the cold posterior if there is a temperature.
func (m SMC) target() smc.Path {
	path, _ := smc.Cooled(m.Path, m.Temperature) // checkCold refuses others
	return path
}

// Sampling describes the islands.
func (m SMC) Sampling() *Sampling {
	return &Sampling{
		Unit: "island", Islands: m.Islands, Particles: m.Particles, Path: m.target(), Pilot: m.Pilot, Move: m.Move, Resample: m.Resample, Combine: m.Combine,
		Step: stepOf(pathOfSMC, m.Move), Start: m.start().name, Whole: m.path(), NoPath: m.noPath(), Weighted: m.Weight != nil && m.Weight.Traits().Energy, Drawn: m.start().drawn, Learned: m.Learn != nil, WasteFree: m.WasteFree, Comparable: m.comparable(), couldWasteFree: m.couldWasteFree(),
		at: pathOfSMC, apart: m.own, temperature: m.Temperature, every: m.Trace.Every, unlearning: m.Trace.Unlearning, patience: m.patience(), words: m.words,
	}
}

// couldWasteFree reports whether waste_free would go with the other settings, but for mutations, which are left out then.
func (m SMC) couldWasteFree() bool {
	t := m.Path.Traits()
	return m.Move != nil && m.Move.Traits().Invariant() && !t.Batches && t.Epochs == 0 && m.Learn == nil
}

// words describes the progress of islands: on a path of batches by iteration or epoch and examples, on a path of temperatures by the
// power of the likelihood.
func (m SMC) words(f figures) (long, short string) {
	if m.Path.Traits().Batches {
		unit, letter := unit(m.Path)
		return fmt.Sprintf("%s %.0f  %s examples  ESS %.1f/%d  ancestors %.0f", unit, f.iteration, numeral.Count(int(f.examples)), f.ess, m.Particles, f.ancestors),
			fmt.Sprintf("%s %.0f  n %.0f  ESS %.1f  anc %.0f", letter, f.iteration, f.examples, f.ess, f.ancestors)
	}
	return fmt.Sprintf("λ %.2g  ESS %.1f/%d  accepted %.2f  ancestors %.0f", f.lambda, f.ess, m.Particles, f.acceptance, f.ancestors),
		fmt.Sprintf("λ %.2g  ESS %.0f  acc %.2f  anc %.0f", f.lambda, f.ess, f.acceptance, f.ancestors)
}

// path returns the path, after the tempered start if there is one.
func (m SMC) path() smc.Path {
	if m.start().tempers {
		return smc.TemperedStart{Then: m.Path}
	}
	return m.target()
}

// fewestParticles are those of the smallest island: one particle is a chain, which method mcmc samples.
const fewestParticles = 2

// takesParticles reports whether an island may have n particles.
func (m SMC) takesParticles(n int) bool {
	return n >= fewestParticles && !smc.LeavesOne(m.path().Traits().Share, n)
}

// Memory estimates the memory of the islands.
func (m SMC) Memory(job *Job) Memory { return m.Sampling().memory(job, m.Keep, m.takesParticles) }

// Phases is the islands, after a pilot if there is one.
func (m SMC) Phases(job *Job) ([]runs.Phase, error) {
	s := m.Sampling()
	islands, err := s.islands(job, m.start(), func(int) *smc.Sampler { return m.sampler() })
	if err != nil {
		return nil, err
	}
	if m.Pilot {
		return []runs.Phase{m.pilotPhase(job, islands), islands}, nil
	}
	return []runs.Phase{islands}, nil
}

// sampler is an island's settings, as far as they are the method's.
func (m SMC) sampler() *smc.Sampler {
	one := &smc.Sampler{Path: m.path(), Move: m.Move, Resample: m.Resample, Particles: m.Particles, WasteFree: m.WasteFree, Learn: m.Learn, Keep: m.Keep}
	if m.Weight != nil {
		one.Weighting = m.Weight
	}
	return one
}

// Gather joins the islands, weighted by Combine, and returns findings about their weights.
func (m SMC) Gather(job *Job, phases []runs.Phase, trace []TraceLine) (*bnn.Ensemble, []finding.Finding, error) {
	s := m.Sampling()
	s.anchored = job.About.Anchor != nil
	e, found, err := s.gather(job, phases, m.Combine)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case m.start().init && m.Path.Traits().Batches:
		found = append(found, finding.Of(finding.BeganAtInit{}))
	case m.start().init:
		found = append(found, finding.Of(finding.BeganAtInitTempering{}))
	}
	if move, ok := m.Move.(mcmc.Reporter); ok {
		found = append(found, move.Findings(m.seen(job.Data.Train.Len()))...)
	}
	remain := remaining(phases[len(phases)-1])
	found = append(append(found, m.stopped(remain, job.Data.Train.Len())...), chosenBy(m.Keep, pathOfSMC+".keep")...)
	exploded, err := m.exploded(job, remain, trace)
	if err != nil {
		return nil, nil, err
	}
	found = append(found, exploded...)
	return e, append(found, s.Findings(trace, e, job.Data.Train.Len())...), nil
}

// seen is the number of examples that an iteration sees at the end, of n.
func (m SMC) seen(n int) int {
	if batch := m.Path.Traits().Evidence.Batch; batch > 0 {
		return min(n, batch)
	}
	return n
}

// IslandTrace is what a line of the trace of islands has.
type IslandTrace struct {
	Trace `yaml:",inline"`

	// Unlearning adds the scores of Unlearning to every line. No state depends on them. A line costs two passes over the validation
	// examples and one over the training examples, for each particle.
	Unlearning bool `yaml:"unlearning,omitempty"`
}

// checkWithin refuses the scores where particles are not evaluated on all training examples, at the parameters that they share now.
func (t IslandTrace) checkWithin(m SMC, at string, f *config.Faults) {
	if !t.Unlearning {
		return
	}
	if !m.Path.Traits().Evidence.Every {
		f.Conflict([]string{at + ".trace.unlearning", at + ".path"},
			"compares the particles on all training examples, which only path full evaluates in every iteration: take path full, or leave unlearning out")
	}
	if m.Learn != nil {
		f.Conflict([]string{at + ".trace.unlearning", at + ".learn"},
			"the layers that are learned move after the particles are evaluated: leave unlearning out, or learn")
	}
}

// patience is the number of iterations that m.Stop waits for; 0: it does not stop.
func (m SMC) patience() int {
	if m.Stop == nil {
		return 0
	}
	return m.Stop.Iterations()
}

// stopped reports which islands the rule ended before their path.
func (m SMC) stopped(islands []*island, examples int) (found []finding.Finding) {
	ends := newExtent()
	n := 0
	for _, p := range islands {
		if p.stopping.Stopped && !p.sampler.Done(p.state) {
			n++
			ends.add(float64(p.state.K))
		}
	}
	if n > 0 {
		found = append(found, finding.Of(finding.Stopped{
			Stopped: n, Islands: len(islands), First: int(ends.low), Last: int(ends.high), All: smc.Iterations(m.Path, examples), Patience: m.patience(),
		}))
	}
	return found
}

// checkStop refuses a rule that has nothing to judge, or whose end would leave a target of the path unreached.
func (m SMC) checkStop(around Around, at string, f *config.Faults) {
	if m.patience() == 0 {
		return
	}
	if !around.Judged {
		f.Conflict([]string{at + ".stop", "data.whole", "data.set"},
			"judges the kept states by the validation examples, and the data hold none out: take stop: none, or data with validation examples")
	}
	if _, ok := m.Keep.(after); !ok {
		f.Conflict([]string{at + ".stop", at + ".keep"}, "judges the states that are kept after a warm-up: say how long that is, as in keep: {after: {iterations: 25}}, or take stop: none")
	}
	if !m.Path.Traits().Evidence.Every {
		f.Conflict([]string{at + ".stop", at + ".path"}, "may end the path anywhere, and only the targets of path full are all the posterior: take path full, or stop: none")
	}
	if m.Trace.Every > 1 {
		f.Conflict([]string{at + ".stop", at + ".trace.every"}, "judges every iteration, and a line of the trace has %d: leave trace.every out, or take stop: none", m.Trace.Every)
	}
}
