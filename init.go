package starling

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"

	"github.com/starling-smc/starling/bnn"
)

// A run may go out from a network that was trained elsewhere, the file of model.init:
//
//	prior.anchor, no map    it is the anchor
//	map                     the first restart begins at it
//	mcmc.start: init        each chain begins at it: the default without map
//	smc, no anchor, no map  all particles begin at it; of a path of batches by smc.start: init, the default then
//	method: as-is           it is the posterior, an ensemble of one
//
// Islands whose particles begin there are no samplers of the path from the prior on: they estimate no evidence.

// readInit reads the weights of model.init; without one there is nothing to do.
func (r *run) readInit() error {
	name := r.Spec.Model.Init
	if name == "" {
		return nil
	}
	fault := func(err error) error { return &DataError{fmt.Errorf("model.init: %w", err)} }
	if info, err := os.Stat(name); err != nil {
		return fault(err)
	} else if !info.Mode().IsRegular() {
		return fault(fmt.Errorf("%s is no file", name))
	}
	file, err := os.ReadFile(name)
	if err != nil {
		return fault(err)
	}
	if r.init, err = bnn.ReadWeights(file, r.Net); err != nil {
		return fault(fmt.Errorf("%s: %w", name, err))
	}
	sum := sha256.Sum256(file)
	r.Init = hex.EncodeToString(sum[:])
	return nil
}

// beginsAtInit reports whether the particles of SMC start at model.init, where they should be draws of the prior.
func (s *Spec) beginsAtInit() bool {
	m := s.Method.SMC
	return m != nil && s.Model.Init != "" && (m.Start == "init" || m.Start == "" && s.MAP == nil && s.Prior.Anchor == nil)
}

// anchor is the point that the prior is anchored at: the best restart or, without a search, model.init.
func (r *run) anchor() []float64 {
	if r.search != nil {
		return r.search.Best()
	}
	return r.init
}

// point makes the posterior of a network alone.
func (r *run) point(theta []float64) (err error) {
	r.Posterior, err = bnn.Combine(r.Net, []bnn.Island{{Theta: theta}}, bnn.Equal{})
	return err
}

// noteInit says what a reader should know of a run that goes out from a trained network.
func (r *run) noteInit() {
	s := &r.Spec
	switch {
	case s.Model.Init == "":
	case s.beginsAtInit() && s.Method.SMC.Start == "init":
		r.Notes = append(r.Notes, "all particles began at model.init, not at draws of the prior")
	case s.beginsAtInit():
		r.Notes = append(r.Notes, "all particles began at model.init, not at draws of the prior: tempering is one step, and no evidence is estimated; "+
			"chains (method: mcmc) or prior.anchor make more of a trained network")
	case s.Method.SMC != nil && s.MAP == nil && s.Prior.Anchor.S >= 0.5:
		r.Notes = append(r.Notes, "model.init was not used: from s = 0.5 on, the anchored prior has its mean at 0")
	}
}
