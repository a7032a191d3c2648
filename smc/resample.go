package smc

// Resampler multiplies particles of large weight and drops particles of small weight. All weights are equal afterwards.
type Resampler struct {
	Scheme Scheme   `yaml:"scheme"` // draws the ancestors (nil: Multinomial)
	When   Occasion `yaml:"when"`   // says after which iterations (nil: DefaultOccasion)
}

// Scheme draws ancestors. Every scheme gives particle j on average J·W_j copies; schemes differ in the variance of the number
// of copies (Douc, Cappé, Moulines 2005).
type Scheme interface {
	// Ancestors fills ancestors, of any length n, with the indices of parents, drawn with normalised weights w. uniform
	// returns numbers in [0, 1). A position u belongs to the smallest j with W_0 + … + W_j > u, so that a particle of
	// weight 0 never has children.
	Ancestors(w []float64, uniform func() float64, ancestors []int32)
}

// Defaults sets the scheme. The occasion depends on the path.
func (r *Resampler) Defaults() { r.Scheme = r.scheme() }

func (r Resampler) scheme() Scheme {
	if r.Scheme == nil {
		return Multinomial{}
	}
	return r.Scheme
}

// when returns the occasion on a path.
func (r Resampler) when(path Targets, w Weigher) Occasion {
	if r.When != nil {
		return r.When
	}
	return DefaultOccasion(path, w)
}

// DefaultOccasion is when to resample on a path where nothing else is said. It is the weighting's own if it has one, else the path's.
// Adaptive tempering resamples always: it stops where ESS is ρJ, so that an occasion below ρJ would be decided by rounding.
func DefaultOccasion(path Targets, w Weigher) Occasion {
	if w != nil {
		if t := w.Traits(); t.Resampling != nil {
			return t.Resampling
		}
	}
	if t := path.Traits(); t.Resampling != nil {
		return t.Resampling
	}
	return BelowHalf
}
