package spec

import (
	"fmt"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/nn"
)

// checkUpdates refuses low-rank updates of a network that nobody has trained.
func (s Spec) checkUpdates(f *config.Faults) {
	if s.Model.Init != "" {
		return
	}
	for _, i := range nn.Updated(s.Model.Layers) {
		f.Add(fmt.Sprint("model.layers.", i), "lora adds to the weights of a trained layer, and there is none: name the file of its weights, model.init, "+
			"or take dense, whose weights are learnt")
	}
}
