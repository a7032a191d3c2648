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

// weighsByEvidence reports whether the islands' evidences are the model's, whatever the data are: those of the posterior, so
// that they can be put side by side. Constant batches never get there. Smooth annealing may, but on every island by blocks
// and powers of its own, and only its end tells. The other schedules see all examples in the last tenth of their iterations.
func (s *Spec) weighsByEvidence() bool {
	m := s.Method.SMC
	if !s.estimatesEvidence() || m.Weight == "literal" {
		return false
	}
	switch name, schedule := m.Path.fill().schedule(); name {
	case "constant", "sda":
		return false
	case "ctr", "linear", "automated":
		return schedule.Iterations >= 10 // of fewer, none is in the last tenth
	}
	return true
}
