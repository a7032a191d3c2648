package bnn

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/starling-smc/starling/internal/safetensors"
	"github.com/starling-smc/starling/nn"
)

// The files of a run that hold parameters are safetensors files that PyTorch reads as they are. Each tensor of the
// network, named and ordered as in the state_dict of an nn.Sequential of the same layers, is stacked over its J
// particles or restarts: [J, shape…], F32, or BF16 for states that were kept as bfloat16. In addition the files hold
//
//	posterior.safetensors   log_weights F64 [J], log_evidence F64 [islands], island I32 [J]
//	map.safetensors         val_nll F64 [J], chosen I32 []
//
// F64 comes first, so that data are aligned to their size. Equal content gives equal bytes.
//
// Where not every tensor is random (nn.Role) the file's metadata have the role of each, "roles": {"0.weight": "learned", …}. Tensors that
// are frozen or fixed are the same for all particles, and stand there once: F32 [1, shape…]. Those that are learned are stacked over rows,
// F32 [rows, shape…]: one for each island, or for each of the times at which its states were kept. For these there is
//
//	posterior.safetensors   shared I32 [J], the row of each particle
//
// Of an ensemble that predicts linearised (Ensemble.Centre) the metadata have "predict": "linearised", and
//
//	posterior.safetensors   centre/NAME F32, for each random tensor NAME: its part of θ*
//
// The restarts of a search are whole networks, in which no tensor is learned or frozen.

// WritePosterior writes an ensemble as posterior.safetensors.
func WritePosterior(w io.Writer, e *Ensemble) error {
	metadata, tensors, err := posterior(e)
	if err != nil {
		return err
	}
	return safetensors.WriteWith(w, metadata, tensors)
}

// PosteriorFiles returns the files of an ensemble: WritePosterior's, by this name, or several and an index if it would have more than most
// bytes (safetensors.Cut).
func PosteriorFiles(e *Ensemble, name string, most int64) ([]safetensors.Output, error) {
	metadata, tensors, err := posterior(e)
	if err != nil {
		return nil, err
	}
	return safetensors.Cut(name, most, metadata, tensors)
}

func posterior(e *Ensemble) (metadata map[string]string, tensors []safetensors.Tensor, err error) {
	tensors = []safetensors.Tensor{
		floats("log_weights", e.LogWeights),
		floats("log_evidence", e.LogEvidence),
	}
	tensors = append(append(tensors, stack(e)...), integers("island", e.Island))
	if e.Net.Learned() > 0 {
		tensors = append(tensors, integers("shared", e.Row))
	}
	if metadata, err = writeRoles(e.Net); err != nil {
		return nil, nil, err
	}
	if e.Centre != nil {
		metadata[predicts], tensors = linearised, append(tensors, e.centre()...)
	}
	return metadata, tensors, nil
}

// ReadPosterior reads a file of WritePosterior whole. Errors are those of OpenPosterior.
func ReadPosterior(file []byte, net *nn.Net) (*Ensemble, error) {
	opened, err := safetensors.Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, err
	}
	return OpenPosterior(opened, net)
}

// OpenPosterior reads a file of WritePosterior, or those of PosteriorFiles as one. It reads them once, in their order. Parameters of many
// particles stay there, and are read a few particles at a time: see Members. An error names the first tensor that does not fit net, with
// both shapes, or a fault of the weights.
func OpenPosterior(file *safetensors.File, net *nn.Net) (*Ensemble, error) {
	centre, err := centreOf(file.Metadata, net)
	if err != nil {
		return nil, err
	}
	f, err := open(file, net, slices.Concat(ofPosterior, centre)...)
	if err != nil {
		return nil, err
	}
	e := &Ensemble{Net: f.net, Theta: f.theta, Members: f.members, Shared: f.shared, Row: f.row, Format: f.format}
	if e.LogWeights, err = f.values("log_weights", "F64", f.particles); err != nil {
		return nil, err
	}
	if e.LogEvidence, err = f.values("log_evidence", "F64", -1); err != nil {
		return nil, err
	}
	if e.Island, err = f.integers("island"); err != nil {
		return nil, err
	}
	if centre != nil {
		if e.Centre, err = f.centre(); err != nil {
			return nil, err
		}
	}
	if err := e.check(); err != nil {
		return nil, fmt.Errorf("posterior: %w", err)
	}
	return e, nil
}

// WriteRestarts writes the MAP restarts of a network, an ensemble of equal weights of a network whose parameters are all random
// (nn.Net.Whole), as map.safetensors: nll is the validation NLL of each, chosen the index of the anchor.
func WriteRestarts(w io.Writer, e *Ensemble, nll []float64, chosen int) error {
	tensors := append([]safetensors.Tensor{floats("val_nll", nll)}, stack(e)...)
	index := binary.LittleEndian.AppendUint32(nil, uint32(chosen))
	metadata, err := writeRoles(e.Net)
	if err != nil {
		return err
	}
	return safetensors.WriteWith(w, metadata, append(tensors, safetensors.Tensor{Name: "chosen", DType: "I32", Data: index}))
}

// ReadRestarts reads a file of WriteRestarts as an ensemble of net.Whole().
func ReadRestarts(file []byte, net *nn.Net) (e *Ensemble, nll []float64, chosen int, err error) {
	net = net.Whole()
	opened, err := safetensors.Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, nil, 0, err
	}
	f, err := open(opened, net, ofRestarts...)
	if err != nil {
		return nil, nil, 0, err
	}
	if nll, err = f.values("val_nll", "F64", f.particles); err != nil {
		return nil, nil, 0, err
	}
	a := f.extra["chosen"]
	if a.DType != "I32" || len(a.Shape) != 0 {
		return nil, nil, 0, fmt.Errorf("tensor chosen is %s %v, want I32 []", a.DType, a.Shape)
	}
	if chosen = int(a.Float64s()[0]); chosen < 0 || chosen >= f.particles {
		return nil, nil, 0, fmt.Errorf("restart %d is chosen of %d", chosen, f.particles)
	}
	e = &Ensemble{Net: f.net, Theta: f.theta, Members: f.members, LogWeights: make([]float64, f.particles), Island: make([]int32, f.particles), LogEvidence: []float64{0}}
	e.LogWeights, err = e.Weigh(Equal{})
	return e, nll, chosen, err
}
