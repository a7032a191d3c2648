package method

import (
	"fmt"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/smc"
)

// pathOfSVGD is the path of the method in a config.
const pathOfSVGD = "method.svgd"

// SVGD is Stein variational gradient descent on mini-batches (mcmc.SVGD; guided-open-horizon-smc, section 3.5): the sampler's loop
// with one island on a path of batches in epochs, and no weights. Layers that are not random are learned between the moves.
type SVGD struct {
	Particles int     `yaml:"particles"`           // number of particles; default 20
	Epochs    int     `yaml:"epochs"`              // passes over the examples; default 100
	Batch     int     `yaml:"batch"`               // examples of a mini-batch; default 50
	Rate      float64 `yaml:"rate" words:"auto=0"` // η, the step size; auto: Particles/(10 N) for N examples, with which a particle far from others follows .1 of the gradient of the mean loss, and less in a coordinate that would go too far
	Learning  `yaml:",inline"`
	Keep      smc.Keeper `yaml:"keep,omitempty"`  // the state that makes the ensemble; default: the last
	Trace     Trace      `yaml:"trace,omitempty"` // a line of the trace: by default 1 epoch
}

var _ Method = SVGD{}

// Title describes the particles.
func (m SVGD) Title() string {
	return fmt.Sprintf("SVGD of %s, %s", numeral.Several(m.Particles, "particle"), numeral.Several(m.Epochs, "epoch"))
}

// Defaults fills in defaults without the settings around the method.
func (m *SVGD) Defaults() {
	fill(&m.Particles, 20)
	fill(&m.Epochs, 100)
	fill(&m.Batch, 50)
}

// Check refuses settings that are wrong for any particles.
func (m SVGD) Check(f *config.Faults) {
	f.Within("particles", m.Particles, fewestParticles, rng.MaxParticles)
	f.Within("epochs", m.Epochs, 1, rng.MaxIterations)
	f.AtLeast("batch", m.Batch, 1)
	if m.Rate != 0 {
		f.Positive("rate", m.Rate)
	}
}

// Settle refuses settings that contradict the settings around the method.
func (m SVGD) Settle(around Around, f *config.Faults) Method {
	m.Learning.checkWithin(around, pathOfSVGD, f)
	checkKeep(m.Keep, around, pathOfSVGD, f)
	m.Defaults()
	m.Learning.complete(around)
	return m
}

// SettleWith refuses states to keep that the epochs do not have.
func (m SVGD) SettleWith(_ Around, s Sizes, f *config.Faults) Method {
	checkKept(m.sampler(m.Sampling()), s.Examples, pathOfSVGD, f)
	return m
}

// drawn is true.
func (SVGD) drawn() bool { return true }

// Needs is a prior.
func (m SVGD) Needs() Needs {
	return Needs{Prior: true, Posterior: true, Partly: true, Frozen: m.Learn == nil}
}

// Sampling describes the particles.
func (m SVGD) Sampling() *Sampling {
	path := smc.Schedule[smc.Constant]{Epochs: m.Epochs, Rule: smc.Constant{Batch: m.Batch}}
	return &Sampling{
		Unit: "island", Islands: 1, Particles: m.Particles, Path: path, Whole: path, Move: mcmc.SVGD{Rate: m.Rate}, Step: pathOfSVGD + ".rate",
		Resample: smc.Resampler{Scheme: smc.Multinomial{}, When: smc.Never{}}, Combine: bnn.Equal{}, Start: "prior", Drawn: true,
		at: pathOfSVGD, Learned: m.Learn != nil, every: m.Trace.Every, words: m.words,
	}
}

// words describes the progress.
func (m SVGD) words(f figures) (long, short string) {
	return fmt.Sprintf("epoch %.0f", f.iteration), fmt.Sprintf("ep %.0f", f.iteration)
}

// Memory estimates the memory of the particles and of their kernel.
func (m SVGD) Memory(job *Job) Memory {
	return m.Sampling().memory(job, m.Keep, func(n int) bool { return n >= fewestParticles })
}

// Phases is one island.
func (m SVGD) Phases(job *Job) ([]runs.Phase, error) {
	s := m.Sampling()
	phase, err := s.islands(job, start{name: "prior", drawn: true}, func(int) *smc.Sampler { return m.sampler(s) })
	return []runs.Phase{phase}, err
}

// sampler is the settings of the island, as far as they are the method's.
func (m SVGD) sampler(s *Sampling) *smc.Sampler {
	return &smc.Sampler{
		Path: s.Path, Move: s.Move, Weighting: smc.Unweighted{}, Resample: s.Resample, Particles: m.Particles, Learn: m.Learn, Keep: m.Keep,
	}
}

// Gather is the particles, equally weighted.
func (m SVGD) Gather(job *Job, phases []runs.Phase, trace []TraceLine) (*bnn.Ensemble, []finding.Finding, error) {
	s := m.Sampling()
	e, found, err := s.gather(job, phases, bnn.Equal{})
	if err != nil {
		return nil, nil, err
	}
	found = append(append(found, finding.Of(finding.SVGD{})), chosenBy(m.Keep, pathOfSVGD+".keep")...)
	return e, append(found, s.Findings(trace, e, job.Data.Train.Len())...), nil
}
