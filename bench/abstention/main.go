// Abstention measures what mnist7-chains, mnist7-ensemble and mnist7-smc learn to decide by: docs/results/abstention.md.
//
//	go run ./bench/abstention [-out runs/abstention] [-seeds 5]
//
// It fits the presets with each seed, unless the folder has the run already, and prints the tables of the page: temperatures, classifiers of wrong
// answers beside single scores, sets and risks over 200 divisions of the 9,000 examples that no network has seen into 2,000 to calibrate and 7,000
// to test. With -npy it writes the probabilities and labels of the first seed, which bench/abstention/sets.py compares with MAPIE.
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/uq"
)

var presets = []string{"mnist7-chains", "mnist7-ensemble", "mnist7-smc"}

const classes = 8

func main() {
	out := flag.String("out", "runs/abstention", "folder of the runs")
	seeds := flag.Int("seeds", 5, "number of seeds")
	npy := flag.String("npy", "", "folder to write the probabilities of the first seed to")
	flag.Parse()
	if err := measure(context.Background(), *out, *seeds, *npy); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// made is a run with what is measured of it.
type made struct {
	preset string
	run    *starling.Run
	a      *eval.Assessment
}

func measure(ctx context.Context, out string, seeds int, npy string) error {
	var all []made
	for _, preset := range presets {
		for seed := 1; seed <= seeds; seed++ {
			m, err := fitted(ctx, filepath.Join(out, fmt.Sprintf("%s-%d", preset, seed)), preset, seed)
			if err != nil {
				return err
			}
			all = append(all, m)
		}
	}
	temperatures(all)
	if err := classifiers(ctx, all); err != nil {
		return err
	}
	for _, preset := range presets {
		var runs []made
		for _, m := range all {
			if m.preset == preset {
				runs = append(runs, m)
			}
		}
		if err := divisions(ctx, preset, runs); err != nil {
			return err
		}
	}
	if npy == "" {
		return nil
	}
	x, err := unseen(ctx, all[0])
	if err != nil {
		return err
	}
	return x.write(npy)
}

// fitted is a run, made unless the folder has it.
func fitted(ctx context.Context, dir, preset string, seed int) (made, error) {
	spec, err := starling.Preset(preset, fmt.Sprint("seed=", seed), "decide={temperature: true, sets: {score: lac, rate: 0.95}, abstain: {by: classifier, at: f1}}")
	if err != nil {
		return made{}, err
	}
	folder, err := starling.ResumeFolder(dir, starling.FitRuns)
	if err != nil {
		return made{}, err
	}
	if _, err := starling.Fit(ctx, spec, starling.Options{Folder: folder}); err != nil {
		return made{}, err
	}
	run, err := starling.OpenRun(dir)
	if err != nil {
		return made{}, err
	}
	a, err := run.Evaluate(ctx, starling.On{}, starling.Options{})
	return made{preset, run, a}, err
}

// over are mean and standard deviation of a figure of the runs of a preset.
func over(all []made, preset string, figure func(m made) float64) (mean, sd float64) {
	var x []float64
	for _, m := range all {
		if m.preset == preset {
			x = append(x, figure(m))
		}
	}
	mean, se := uq.MeanSE(x)
	return mean, se * math.Sqrt(float64(len(x)))
}

func temperatures(all []made) {
	fmt.Print("## Temperature\n\n| ensemble | T | NLL | tempered | ECE | tempered | Brier | tempered |\n|---|---|---|---|---|---|---|---|\n")
	for _, preset := range presets {
		for _, e := range []struct {
			name string
			of   func(m *eval.Metrics) *eval.Evaluation
		}{
			{"posterior", func(m *eval.Metrics) *eval.Evaluation { return &m.Evaluation }},
			{"restarts together", func(m *eval.Metrics) *eval.Evaluation { return m.DeepEnsemble }},
			{"best MAP", func(m *eval.Metrics) *eval.Evaluation { return m.MAP }},
		} {
			if e.of(all[0].a.Metrics) == nil {
				continue
			}
			fmt.Printf("| %s: %s |", preset, e.name)
			for _, figure := range []func(v *eval.Evaluation) uq.Number{
				func(v *eval.Evaluation) uq.Number { return *v.Tempered.Temperature },
				func(v *eval.Evaluation) uq.Number { return v.NLL }, func(v *eval.Evaluation) uq.Number { return v.Tempered.NLL },
				func(v *eval.Evaluation) uq.Number { return *v.ECE }, func(v *eval.Evaluation) uq.Number { return *v.Tempered.ECE },
				func(v *eval.Evaluation) uq.Number { return *v.Brier }, func(v *eval.Evaluation) uq.Number { return *v.Tempered.Brier },
			} {
				mean, sd := over(all, preset, func(m made) float64 { return float64(figure(e.of(m.a.Metrics))) })
				fmt.Printf(" %.4f ± %.4f |", mean, sd)
			}
			fmt.Println()
		}
	}
}
