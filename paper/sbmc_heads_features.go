package paper

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/arrays"
	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/safetensors"
	"github.com/starling-smc/starling/nn"
)

// Features of a trained network: what its last layer takes, for each example of a set. A head learns from them as the whole network would
// with its other layers fixed.

// featuresFile is a file of the features of the network that a cell begins at, in a folder beside that of its run.
func featuresFile(at Place, name string) string { return filepath.Join(at.network()+".features", name) }

// headFile has the last layer's weights. madeFile is written last, and says of which run all the files are.
const headFile, madeFile = "head.safetensors", "made.json"

// featuresOf is the madeFile: the checksum of the run's manifest.
type featuresOf struct {
	Run string `json:"run"`
}

// shakespeareFeatures are those of the set tinyshakespeare-update.
func shakespeareFeatures(ctx context.Context, at Place, o starling.Options) error {
	return writeFeatures(ctx, "tinyshakespeare-update", at, o)
}

// writeFeatures writes the features of a set, if they are not there: train.npy, validate.npy and test.npy with their labels, and the weights
// of the head.
func writeFeatures(ctx context.Context, set string, at Place, o starling.Options) error {
	run, err := starling.OpenRun(at.network())
	if err != nil {
		return fmt.Errorf("the network that the cell begins at: %w", err)
	}
	var before featuresOf
	text, err := os.ReadFile(featuresFile(at, madeFile))
	if err == nil && jsontext.Read(text, &before) == nil && before.Run == run.Manifest.Checksum {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	p, err := data.Load(set, o.DataDir)
	if err != nil {
		return &starling.DataError{Err: err}
	}
	if err := os.MkdirAll(featuresFile(at, ""), 0o777); err != nil {
		return err
	}
	net := run.Posterior.Net
	theta := make([]float64, net.Dim())
	for i := range theta {
		theta[i] = float64(run.Posterior.Theta[i])
	}
	layers := net.Layers()
	body, err := nn.New(net.Input(), layers[:len(layers)-1], nn.Gaussian{SD: 1})
	if err != nil {
		return err
	}
	write := func(name, dtype string, shape []int, values any) error {
		return ckpt.Replace(featuresFile(at, name), "", func(w io.Writer) error {
			if _, err := w.Write(arrays.NPYBegin(dtype, shape)); err != nil {
				return err
			}
			return binary.Write(w, binary.LittleEndian, values)
		})
	}
	for _, part := range []*data.Set{p.Train, p.Validate, p.Test} {
		model, err := nn.NewModel(body, &data.Set{Name: part.Name, Shape: part.Shape, U8: part.U8, F32: part.F32}, pool.New(o.Threads))
		if err != nil {
			return err
		}
		n, width := part.Len(), body.Outputs()
		out := make([]float32, n*width)
		if err := model.Outputs(ctx, nil, theta[:body.Dim()], out); err != nil {
			return err
		}
		if err := write(part.Name+".npy", "<f4", []int{n, width}, out); err != nil {
			return err
		}
		if err := write(part.Name+"-labels.npy", "<i4", []int{n}, part.Labels); err != nil {
			return err
		}
	}
	if err := ckpt.Replace(featuresFile(at, headFile), "", func(w io.Writer) error { return safetensors.Write(w, head(net, theta, body.Dim())) }); err != nil {
		return err
	}
	return ckpt.Replace(featuresFile(at, madeFile), "", func(w io.Writer) error { return jsontext.Write(w, featuresOf{run.Manifest.Checksum}) })
}

// head are the weights of a network's last layer, whose parameters begin at first, as those of a network that has this layer alone.
func head(net *nn.Net, theta []float64, first int) (tensors []safetensors.Tensor) {
	names := map[nn.Kind]string{nn.Weights: "0.weight", nn.Biases: "0.bias"}
	for _, t := range net.Tensors() {
		if t.Offset < first {
			continue
		}
		var values []byte
		for _, x := range theta[t.Offset:][:t.Size] {
			values = binary.LittleEndian.AppendUint32(values, math.Float32bits(float32(x)))
		}
		tensors = append(tensors, safetensors.Tensor{Name: names[t.Kind], DType: "F32", Shape: t.Shape, Data: values})
	}
	return tensors
}
