package starling

import (
	"fmt"

	"github.com/starling-smc/starling/data"
)

// programBytes is what the program takes before it does anything: its code, and the data that come with it.
const programBytes = 32 << 20

// memory is an estimate of the most bytes that are in use at the same time. Particles dominate it where there are many:
// of J particles of D parameters, with s = 2 numbers of 8 bytes for each parameter (itself and the likelihood's gradient;
// s = 3 where examples settle, which have a gradient of their own; s = 1 for moves without gradients),
//
//	every island that has begun   state s, packed for the checkpoint s
//	and those that run            state before the step s, proposal s, momentum 1,
//	                              and 2 where trajectories have gradients of a mini-batch
//
// J·D each. Measured peaks of five runs of 0.1 to 0.8 GB were 0.91 to 1.06 of it (docs/benchmarks.md, section 5).
func (r *run) memory(particles, islands int) int64 {
	d, threads := int64(r.Net.Dim()), int64(r.pool.Threads())
	total := int64(programBytes) + problemBytes(r.Data)
	total += 2 * threads * int64(r.Net.Scratch(particles)) // the models of training, and of validation

	if m := r.Spec.MAP; m != nil {
		restarts := int64(m.Restarts)
		total += 8 * d * (5*restarts + 4*min(restarts, threads)) // now, at its best, packed, and as an ensemble
	}
	if r.Spec.pointOnly() {
		return total
	}
	s, kept := int64(2), int64(0)
	move, apart := Move{}, int64(0)
	if m := r.Spec.Method.MCMC; m != nil {
		move, kept = m.Move, max(0, int64(m.Keep))*int64(islands)/int64(m.Chains)
	} else {
		move = r.Spec.Method.SMC.Move
		if r.Spec.Method.SMC.Path.SDA != nil {
			s = 3
		}
	}
	if l := move.Leapfrog; l != nil && l.Gradient != nil {
		s, apart = 1, 2
	} else if move.PCN != nil {
		s = 1
	}
	all, running := int64(islands), min(int64(islands), threads)
	jd := int64(particles) * d
	total += 8 * jd * (2*s*all + (2*s+1+apart)*running)
	total += 8 * d * kept * 3                               // as they grow, and packed
	return total + 4*3*jd*running + 4*3*max(all*jd, kept*d) // scored, and as an ensemble and its file
}

func problemBytes(p *data.Problem) (total int64) {
	sets := []*data.Set{p.Train, p.Validate, p.Test}
	for _, g := range p.Groups {
		sets = append(sets, g.Set)
	}
	for _, s := range sets {
		if s != nil {
			total += int64(len(s.U8) + 4*(len(s.F32)+len(s.Labels)+len(s.Values)))
		}
	}
	return total
}

// fits refuses a run that will need more than limit bytes, with what would fit; a limit of 0 is none.
func (r *run) fits(limit int64) error {
	particles, islands, path := 0, 1, ""
	switch m := r.Spec.Method; {
	case r.Spec.pointOnly():
	case m.MCMC != nil:
		particles, islands, path = 1, m.MCMC.Chains, "method.mcmc.chains"
	default:
		particles, islands, path = m.SMC.Particles, m.SMC.Islands, "method.smc.particles"
	}
	need := r.memory(particles, islands)
	if limit <= 0 || need <= limit {
		return nil
	}
	text := fmt.Sprintf("the run needs about %s of memory, and %s are there", bytesText(need), bytesText(limit))
	switch fewer := largest(islands, func(n int) bool { return r.memory(particles, n) <= limit }); {
	case path == "method.mcmc.chains" && fewer > 0:
		text += fmt.Sprintf("; %d chains would fit", fewer)
	case path == "method.smc.particles":
		if j := largest(particles, func(n int) bool { return r.memory(n, islands) <= limit }); j > 0 {
			text += fmt.Sprintf("; %d particles would fit", j)
		}
		if fewer == 1 {
			text += fmt.Sprintf("; one island of %d would fit", particles)
		} else if fewer > 0 {
			text += fmt.Sprintf("; %d islands of %d would fit", fewer, particles)
		}
	}
	text += " (GOMEMLIMIT sets another limit)"
	if path == "" {
		path = "model"
	}
	return r.Spec.fault(path, "%s", text)
}

// largest is the largest number below n for which ok holds, which it does up to some number; 0 if for none.
func largest(n int, ok func(n int) bool) int {
	low, high := 0, n
	for high-low > 1 {
		if mid := low + (high-low)/2; ok(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// bytesText writes a number of bytes for people.
func bytesText(n int64) string {
	if n < 10<<30 {
		return fmt.Sprintf("%.0f MB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.0f GB", float64(n)/(1<<30))
}
