package spec

import (
	"fmt"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/nn"
)

// normed lists the layers that need the statistics of a trained network, or have some inside.
func (s *Spec) normed() (paths []string) {
	for _, i := range nn.Normed(s.Model.Layers) {
		paths = append(paths, fmt.Sprint("model.layers.", i))
	}
	return paths
}

// checkNorms refuses batch norms where their statistics are not those of the network that is trained or sampled: without model.init, or
// from draws of the prior.
func (s Spec) checkNorms(f *config.Faults) {
	layers := s.normed()
	if layers == nil {
		return
	}
	where := func(path string) []string { return append([]string{path}, layers[0]) }
	const drawn = "the statistics of batch norms are those of model.init, and do not fit draws of the prior: "
	switch {
	case s.Model.Init == "":
		f.Add(layers[0], "a batch norm has the statistics of a trained network, and there is none: name the file of its weights, model.init, "+
			"or take frn, which needs no statistics, in place of norm")
	case s.MAP != nil && s.MAP.Restarts > 1:
		f.Conflict(where("map.restarts"), drawn+"the first restart begins at model.init, and the other %d at draws; want restarts: 1 and a method that "+
			"begins there, such as mcmc with start: init", s.MAP.Restarts-1)
	case s.Method != nil && s.InitUnused():
		f.Conflict(where("prior.anchor.s"), drawn+"want s below 0.5")
	case method.Drawn(s.Method) && s.Model.Random.All() && !s.anchored():
		f.Conflict(where(s.At()), drawn+"%s begins there; want mcmc or smc with start: init, or another method that begins at the trained network",
			method.Methods.Name(s.Method))
	}
}
