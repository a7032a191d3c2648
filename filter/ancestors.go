package filter

import (
	"errors"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/ssm"
)

// Ancestors says which coordinates of a state come from one particle of the scan before. With ancestors f(a), the chain of a scan has the law
//
//	π(x, a) ∝ p(z | x) p(x | f(a)),   ByTarget: a = (a_1 … a_P), f(a) = [f_1(a_1) … f_P(a_P)];   Together: a is one index.
//
// N particles of P targets are N states of them together, and N^P states if each target takes its coordinates from a particle of its own.
// Few of N states are near the truth in all targets at once, and their number falls by a factor with each further target. So Together dies
// out as targets become more, or as the noise of the motion becomes small beside what the scans tell.
//
// ByTarget predicts from the product of the targets' own laws, Π_r p(x_r | z_1:k−1), and forgets how targets depend on each other before
// the scan: which of two targets has been where, after a scan in which they shared returns. Within a scan the likelihood couples them,
// and the chain samples that exactly. Where targets have never shared returns there is nothing to forget: their posterior is a product.
type Ancestors string

const (
	ByTarget Ancestors = "target"
	Together Ancestors = "joint"
)

// Check implements config.Checker.
func (a Ancestors) Check(f *config.Faults) {
	if a != "" {
		f.OneOf("", string(a), string(ByTarget), string(Together))
	}
}

// suits says why a model cannot have such ancestors.
func (a Ancestors) suits(m ssm.Model) error {
	if _, ok := m.(ssm.Tracker); a == ByTarget && !ok {
		return errors.New("ancestors: target needs a model that says which coordinates are a target's (ssm.Tracker), as clutter does: " +
			"take ancestors: joint, or leave it out")
	}
	return nil
}

// groups are the blocks of coordinates that have an index of their own after k scans. Before the first scan these are the targets in any
// case: the particles are draws of the model's start, where targets are independent.
func (a Ancestors) groups(targets []ssm.Block, k int) []ssm.Block {
	if k > 0 && a == Together {
		return []ssm.Block{{From: 0, To: targets[len(targets)-1].To}}
	}
	return targets
}
