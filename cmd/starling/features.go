package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/method"
)

func newFeatures() *cobra.Command {
	var (
		layer, in, out, dtype string
		options               starling.Options
		jsonOut, quiet, force bool
	)
	cmd := &cobra.Command{
		Use:   "features RUN|CONFIG --layer NAME --in FILE --out FILE.npy",
		Short: "Write the inputs of a layer: features of a trained network",
		Long: `Features takes a trained network as far as a layer, and writes the inputs of that layer for every row of a file, as
an NPY. A head, a small network that learns from these features, is then trained in seconds:

  starling new features.npy --target labels.npy > head.yaml
  starling fit head.yaml

The network is that of model.init of a config or, of a run, the best restart (without restarts model.init). Files are read and
standardised as predict does. A layer is named as in model.random: by its name, by its number in an nn.Sequential of the
layers, or last. Rows are computed in blocks, so that neither file need fit in memory.

predict with --backbone applies such a head to the original inputs.`,
		Example: `  starling features resnet.yaml --layer fc --in images.npy --out features.npy
  starling features runs/digits --layer last --in new.npy --out new-features.npy
  starling features runs/x --layer 2 --in new.npy --out f.npy --dtype float16`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkThreads(options.Threads); err != nil {
				return err
			}
			switch {
			case layer == "":
				return wrongUse("name the layer whose inputs are written: --layer NAME, or --layer last")
			case in == "":
				return wrongUse("name the file of inputs: --in FILE, a CSV, Parquet, NPY or IDX")
			case out == "":
				return wrongUse("name the file to write: --out FILE, a .npy")
			case !strings.EqualFold(filepath.Ext(out), ".npy"):
				return wrongUse("--out %s: features are written as .npy", out)
			case sameFile(in, out):
				return wrongUse("%s is the file of inputs: name another file to write to", out)
			}
			if err := checkNew("--out", out, written{"empty", func([]byte) bool { return false }}, force); err != nil {
				return err
			}
			line := newProgress(quiet, jsonOut)
			defer line.end()
			line.show(method.Status{Phase: "reading the network"})
			backbone, err := backboneOf(args[0], layer, options)
			if err != nil {
				return err
			}
			var noted []string
			backbone.Note = func(text string) { noted = append(noted, text) }
			backbone.Progress = func(done, rows int) { line.show(rowsDone("features", done, rows)) }
			rows, err := backbone.File(cmd.Context(), in, out, dtype)
			if err != nil {
				return err
			}
			line.end()
			writeNotes(cmd.ErrOrStderr(), noted)
			shape := append([]int{rows}, backbone.Net.Output()...)
			if jsonOut {
				return jsontext.Write(cmd.OutOrStdout(), map[string]any{"shape": shape, "dtype": dtype, "out": out})
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "features of %s of %s: %s %s, written to %s\n",
				numeral.Several(rows, "row"), filepath.Base(in), dtype, dimensions(shape), out)
			return err
		},
	}
	cmd.Flags().StringVar(&layer, "layer", "", "the layer whose inputs are written: its `NAME`, its number, or last")
	cmd.Flags().StringVar(&in, "in", "", "`FILE` of inputs: CSV (packed with gzip or not), Parquet, NPY or IDX")
	cmd.Flags().StringVar(&out, "out", "", "`FILE` of features: .npy")
	cmd.Flags().StringVar(&dtype, "dtype", eval.Float32, "write numbers as `TYPE`, float32 or float16")
	forced(cmd, &force)
	dataDir(cmd, &options.DataDir)
	threads(cmd, &options.Threads)
	asJSON(cmd, &jsonOut)
	quietly(cmd, &quiet)
	return cmd
}

// backboneOf reads the layers before a layer of a run's network or, if name is no folder, of a config's.
func backboneOf(name, layer string, o starling.Options) (*eval.Backbone, error) {
	if info, err := os.Stat(name); err != nil || !info.IsDir() {
		spec, err := readSpec(name, nil)
		if err != nil {
			return nil, err
		}
		return starling.Backbone(spec, layer, o)
	}
	run, err := openRun(name)
	if err != nil {
		return nil, err
	}
	return run.Backbone(layer, o)
}

// rowsDone is the status of work on the rows of a file.
func rowsDone(phase string, done, rows int) method.Status {
	text := fmt.Sprintf("%s of %s rows", numeral.Count(done), numeral.Count(rows))
	return method.Status{Phase: phase, Share: float64(done) / float64(max(1, rows)), Ended: done == rows, Long: text}
}
