package smc

import (
	"sort"

	"github.com/starling-smc/starling/internal/config"
)

// Resampler multiplies particles of large weight and drops particles of small weight. All weights are equal afterwards.
type Resampler struct {
	Scheme Scheme   `yaml:"scheme"` // nil: Multinomial
	When   Occasion `yaml:"when"`   // nil: below an effective sample size of J/2
}

// Schemes lists the ways of drawing ancestors.
var Schemes = config.Table[Scheme]{
	{Name: "multinomial", Part: Multinomial{}},
	{Name: "systematic", Part: Systematic{}},
	{Name: "stratified", Part: Stratified{}},
	{Name: "residual", Part: Residual{}},
}

// Scheme is a way of drawing ancestors. Every scheme gives particle j on average J·W_j copies; schemes differ in the variance
// of the number of copies (Douc, Cappé, Moulines 2005).
type Scheme interface {
	// Ancestors fills ancestors, of any length n, with the indices of parents, drawn with normalised weights w. uniform
	// returns numbers in [0, 1). A position u belongs to the smallest j with W_0 + … + W_j > u, so that a particle of
	// weight 0 never has children.
	Ancestors(w []float64, uniform func() float64, ancestors []int32)
}

// Occasions lists when to resample.
var Occasions = config.Table[Occasion]{
	{Name: "always", Part: Always{}},
	{Name: "never", Part: Never{}},
	{Name: "ess", Part: BelowRatio(0.5)},
}

// Occasion says at which iterations resampling takes place.
type Occasion interface {
	// Due says whether it does, at an effective sample size of so many particles.
	Due(ess float64, particles int) bool
	// Ratio is the share of the particles below which an effective sample size is resampled; 0 if it does not decide.
	Ratio() float64
}

// Always is every iteration.
type Always struct{}

// Due is true.
func (Always) Due(float64, int) bool { return true }

// Ratio is 0.
func (Always) Ratio() float64 { return 0 }

// Never is no iteration.
type Never struct{}

// Due is false.
func (Never) Due(float64, int) bool { return false }

// Ratio is 0.
func (Never) Ratio() float64 { return 0 }

// BelowRatio is an effective sample size below this share of the particles.
type BelowRatio float64

// Due is ESS < ratio·J, strictly.
func (r BelowRatio) Due(ess float64, particles int) bool { return ess < float64(r)*float64(particles) }

// Ratio is that share.
func (r BelowRatio) Ratio() float64 { return float64(r) }

// Check notes impossible settings.
func (r BelowRatio) Check(f *config.Faults) { f.Share("", float64(r)) }

// Defaults sets what is nil.
func (r *Resampler) Defaults() { r.Scheme, r.When = r.scheme(), r.when() }

func (r Resampler) scheme() Scheme {
	if r.Scheme == nil {
		return Multinomial{}
	}
	return r.Scheme
}

func (r Resampler) when() Occasion {
	if r.When == nil {
		return BelowRatio(0.5)
	}
	return r.When
}

// finder looks positions up in cumulated weights.
type finder struct {
	cumulated []float64
	last      int // the last particle that is alive: for positions beyond a sum that rounding left below 1
}

func newFinder(w []float64) finder {
	f := finder{cumulated: make([]float64, len(w))}
	var sum float64
	for j, v := range w {
		sum += v
		f.cumulated[j] = sum
		if v > 0 {
			f.last = j
		}
	}
	return f
}

func (f finder) at(position float64) int32 {
	j := sort.Search(len(f.cumulated), func(j int) bool { return f.cumulated[j] > position })
	return int32(min(j, f.last))
}
