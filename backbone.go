package starling

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/nn"
)

// Backbone returns the layers before one of a config's network, which is that of model.init: it computes the features that a head learns from.
// The layer is named as in model.random. Inputs are standardised as a run of the config has them, so its data are loaded. The error is a
// *ConfigError or a *DataError.
func Backbone(spec Spec, layer string, o Options) (*eval.Backbone, error) {
	if spec.Model.Init == "" {
		return nil, spec.Fault("model.init", "features are of a trained network, and none is given: name the file of its weights, or train it (starling fit) and name the run")
	}
	if err := spec.Verify(); err != nil {
		return nil, err
	}
	problem, err := spec.Load(o.DataDir, nil)
	if err != nil {
		return nil, err
	}
	faults := config.NewFaults()
	net := spec.Model.Network(problem, faults.In("model"))
	if len(faults.All()) > 0 {
		return nil, spec.Error(faults.All()...)
	}
	init, _, err := spec.Model.ReadInit(net.Whole())
	if err != nil {
		return nil, &DataError{Err: fmt.Errorf("model.init: %w", err)}
	}
	return backbone(init.Net, init.Whole, layer, problem.Schema, o)
}

// Backbone returns the layers before one of the run's network: of the best restart or, without restarts, of the one network of the posterior
// or that of model.init, whose file must not have changed. The error is a *ConfigError or a *DataError.
func (r *Run) Backbone(layer string, o Options) (*eval.Backbone, error) {
	switch {
	case r.Restarts != nil:
		best, err := r.Restarts.Random(r.Chosen)
		if err != nil {
			return nil, r.damaged(restartsFile, err)
		}
		return backbone(r.Restarts.Net, best, layer, r.Schema, o)
	case r.Spec.Model.Init != "":
		model := r.Spec.Model
		init, sum, err := model.ReadInit(r.Net.Whole())
		if errors.Is(err, fs.ErrNotExist) && r.Manifest.From != "" && !filepath.IsAbs(model.Init) { // where the run was made
			model.Init = filepath.Join(r.Dir, filepath.FromSlash(r.Manifest.From), model.Init)
			init, sum, err = model.ReadInit(r.Net.Whole())
		}
		if err == nil && sum != r.Manifest.Init {
			err = fmt.Errorf("%s is not the file that the run in %s began with: checksum %s, was %s", model.Init, r.Dir, sum, r.Manifest.Init)
		}
		if err != nil {
			return nil, &DataError{Err: fmt.Errorf("model.init: %w", err)}
		}
		return backbone(init.Net, init.Whole, layer, r.Schema, o)
	}
	return nil, wrongUse("the run in %s has networks of its posterior alone, and no best restart: train one with method: map (starling fit %s --set method=map), and name its folder",
		r.Dir, filepath.Join(r.Dir, "config.yaml"))
}

// backbone joins the layers before a layer with the parameters of the whole network.
func backbone(net *nn.Net, whole []float64, layer string, schema *data.Schema, o Options) (*eval.Backbone, error) {
	before, err := net.Before(layer)
	if err != nil {
		return nil, wrongUse("%v", err)
	}
	return &eval.Backbone{Net: before, Theta: whole[:before.Dim()], Schema: schema, Pool: pool.New(o.Threads)}, nil
}
