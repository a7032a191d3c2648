package smc

// Resampler multiplies particles of large weight and drops particles of small weight. All weights are equal afterwards.
type Resampler struct {
	Scheme Scheme   `yaml:"scheme"` // nil: Multinomial
	When   Occasion `yaml:"when"`   // nil: below an effective sample size of J/2
}

// Scheme draws ancestors. Every scheme gives particle j on average J·W_j copies; schemes differ in the variance of the number
// of copies (Douc, Cappé, Moulines 2005).
type Scheme interface {
	// Ancestors fills ancestors, of any length n, with the indices of parents, drawn with normalised weights w. uniform
	// returns numbers in [0, 1). A position u belongs to the smallest j with W_0 + … + W_j > u, so that a particle of
	// weight 0 never has children.
	Ancestors(w []float64, uniform func() float64, ancestors []int32)
}

// Defaults sets fields that are nil.
func (r *Resampler) Defaults() { r.Scheme, r.When = r.scheme(), r.when() }

func (r Resampler) scheme() Scheme {
	if r.Scheme == nil {
		return Multinomial{}
	}
	return r.Scheme
}

func (r Resampler) when() Occasion {
	if r.When == nil {
		return BelowHalf
	}
	return r.When
}
