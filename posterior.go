package starling

import (
	"fmt"
	"path/filepath"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/internal/safetensors"
	"github.com/starling-smc/starling/method"
)

// readPosterior opens the posterior, whether it is one file or several with an index: whoever needs the posterior of a run that is done
// has it from here. Files in which many particles lie stay open.
func (r *Run) readPosterior() error {
	damaged := func(file string, err error) error {
		return &DataError{Err: fmt.Errorf("%s: %w", filepath.Join(r.Dir, file), err)}
	}
	name, names := posteriorFile, []string{posteriorFile}
	var index *safetensors.Index
	if i := safetensors.IndexName(posteriorFile); r.record.Has(i) {
		text, err := r.record.File(i)
		if err != nil {
			return damage(err)
		}
		if index, err = safetensors.ReadIndex(posteriorFile, text); err != nil {
			return damaged(i, err)
		}
		name, names = i, index.Files
	}
	var files []*runs.Large
	err := r.record.Open(names, func(opened []*runs.Large) error {
		files = opened
		parts := make([]*safetensors.File, len(files))
		for i, f := range files {
			var err error
			if parts[i], err = safetensors.Open(f, f.Size()); err != nil {
				return damaged(names[i], err)
			}
		}
		whole := parts[0]
		if index != nil {
			var err error
			if whole, err = index.Join(parts); err != nil {
				return damaged(name, err)
			}
		}
		if err := r.takePosterior(whole); err != nil {
			return damaged(name, err)
		}
		return nil
	})
	if err != nil {
		return damage(err)
	}
	if r.Posterior.Members == nil {
		for _, f := range files {
			f.Close()
		}
	}
	return nil
}

// takePosterior reads the posterior's tensors.
func (r *Run) takePosterior(file *safetensors.File) (err error) {
	if r.Posterior, err = bnn.OpenPosterior(file, r.Net); err != nil {
		return err
	}
	if s, n := r.Spec.Way().Sampling(), len(r.Posterior.LogEvidence); s != nil && n != method.Islands(r.Trace) {
		return fmt.Errorf("has the particles of %s, and the run has %d: want the file that the run wrote", numeral.Several(n, s.Unit), method.Islands(r.Trace))
	}
	return nil
}
