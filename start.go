package starling

import "slices"

// Where particles and chains begin (method.smc.start, method.mcmc.start), and what their evidence is worth then.

// start is where the particles of island i begin; nil: at draws of the prior.
func (r *run) start(i, particles int) []float64 {
	switch m := r.Spec.Method.MCMC; {
	case r.Spec.beginsAtInit(), m != nil && m.Start == "init":
		return slices.Repeat(r.init, particles)
	case m != nil && m.Start == "map":
		return r.search.Theta[i*r.Net.Dim() : (i+1)*r.Net.Dim()]
	}
	if m := r.Spec.Method.SMC; m != nil && m.Start == "map" {
		return slices.Repeat(r.search.Best(), particles)
	} else if m != nil && m.Start == "sgd" {
		return r.search.Theta[i*particles*r.Net.Dim() : (i+1)*particles*r.Net.Dim()]
	}
	return nil
}

// estimatesEvidence reports whether islands do: their particles begin at draws of the prior.
func (s *Spec) estimatesEvidence() bool {
	m := s.Method.SMC
	return m != nil && !s.beginsAtInit() && m.Start != "map" && m.Start != "sgd"
}

// weighsByEvidence reports whether the islands' evidences are of the same target, and can be put side by side.
func (s *Spec) weighsByEvidence() bool {
	if !s.estimatesEvidence() {
		return false
	}
	m := s.Method.SMC
	return m.Path.Constant == nil && m.Weight != "literal"
}
