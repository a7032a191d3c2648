package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/table"
	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/nn"
)

func newBench() *cobra.Command {
	var (
		b       bench
		jsonOut bool
		quiet   bool
	)
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure log-likelihoods and gradients against this machine's peak",
		Long: `Bench times the log-likelihood and its gradient, from parameters to float64 gradients, on generated pixels: for a population of
10 of LeNet-5, of the network of preset mnist7, and of one that nothing was tuned for, and for one ResNet-20 with filter
response normalisation. The peak is the speed of multiply-adds in registers. It changes with the machine's clock and load, so
calls alternate with short measurements of the peak; a share of the peak is the median over the repeats. Speeds are of the
fastest repeat.

FLOP are 2 × multiply-adds of forward, weight gradients and input gradients, the first layer's input gradient left out.`,
		Example: "  starling bench --images 60000 --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if b.images < 1 || b.repeats < 1 {
				return wrongUse("--images and --repeats must be at least 1")
			}
			if b.only != "" && !slices.Contains(benchNets, b.only) {
				return wrongUse("--only %s: the networks are %s", b.only, strings.Join(benchNets, ", "))
			}
			line := newProgress(quiet, jsonOut)
			defer line.end()
			r, err := b.run(cmd.Context(), line)
			if err != nil {
				return err
			}
			line.end()
			out := cmd.OutOrStdout()
			if jsonOut {
				return jsontext.Write(out, r)
			}
			r.write(out)
			return nil
		},
	}
	cmd.Flags().IntVar(&b.images, "images", 6000, "`N` images of LeNet-5's full batch")
	cmd.Flags().IntVar(&b.repeats, "repeats", 5, "`N` timed repeats, after one untimed")
	cmd.Flags().StringVar(&b.only, "only", "", "measure one `NETWORK`: "+strings.Join(benchNets, ", "))
	asJSON(cmd, &jsonOut)
	quietly(cmd, &quiet)
	return cmd
}

type bench struct {
	images, repeats int
	only            string
}

var benchNets = []string{"lenet5", "mnist7", "resnet20", "untuned"}

// benchResult is what bench prints as JSON: threads by their number, nets by name, batches by size.
type benchResult struct {
	Kernel  string                   `json:"kernel"`
	CPUs    int                      `json:"cpus"`
	Threads map[string]*benchThreads `json:"threads"`
	order   []string
}

type benchThreads struct {
	Peak  float64                          `json:"fma_peak_gflops"`
	Nets  map[string]map[string]*benchCase `json:"nets"`
	cases []*benchCase
}

type benchCase struct {
	GFLOPS     float64 `json:"gflops"`
	Share      float64 `json:"share_of_peak"`
	Rate       float64 `json:"image_particles_per_s"`
	Images     int     `json:"images"`
	Population int     `json:"population"`
	Dim        int     `json:"parameters"`
	FLOP       float64 `json:"flop_per_image"`
	Fastest    float64 `json:"min_s"`
	Median     float64 `json:"median_s"`

	net, batch string
	model      *nn.Model
	rows       []int32
	theta      []float64
}

// run measures with one thread, with two, and with all.
func (b *bench) run(ctx context.Context, line *progress) (*benchResult, error) {
	all := runtime.GOMAXPROCS(0)
	r := &benchResult{Kernel: lanes.Kernel(), CPUs: all, Threads: map[string]*benchThreads{}}
	counts := []int{1, min(2, all), all}
	for _, threads := range slices.Compact(counts) {
		t, err := b.threads(ctx, threads, line)
		if err != nil {
			return nil, err
		}
		r.order = append(r.order, fmt.Sprint(threads))
		r.Threads[fmt.Sprint(threads)] = t
	}
	return r, nil
}

func (b *bench) threads(ctx context.Context, threads int, line *progress) (*benchThreads, error) {
	p := pool.New(threads)
	cases, err := b.cases(p)
	if err != nil {
		return nil, err
	}
	t := &benchThreads{Nets: map[string]map[string]*benchCase{}, cases: cases}
	var peaks []float64
	times, shares := make([][]float64, len(cases)), make([][]float64, len(cases))
	for repeat := range b.repeats + 1 { // the cases take turns, so that a slow moment does not fall on one case
		for i, c := range cases {
			line.show(method.Status{
				Phase: "bench, " + numeral.Several(threads, "thread"), Share: float64(repeat*len(cases)+i) / float64((b.repeats+1)*len(cases)),
				Long: fmt.Sprintf("repeat %d of %d: %s, %s", repeat, b.repeats, c.net, c.batch),
			})
			s, peak, err := c.time(ctx, p)
			if err != nil {
				return nil, err
			}
			if repeat > 0 {
				peaks = append(peaks, peak)
				times[i] = append(times[i], s)
				shares[i] = append(shares[i], float64(c.Population*c.Images)*c.FLOP/s/1e9/peak)
			}
		}
	}
	t.Peak = numeral.Median(peaks)
	line.show(method.Status{Phase: "bench, " + numeral.Several(threads, "thread"), Share: 1, Ended: true})
	for i, c := range cases {
		c.Fastest, c.Median = slices.Min(times[i]), numeral.Median(times[i])
		c.Rate = float64(c.Population*c.Images) / c.Fastest
		c.GFLOPS = c.Rate * c.FLOP / 1e9
		c.Share = numeral.Median(shares[i])
		if t.Nets[c.net] == nil {
			t.Nets[c.net] = map[string]*benchCase{}
		}
		t.Nets[c.net][c.batch] = c
	}
	return t, nil
}

// cases are the networks and batches to measure: all images, and mini-batches of 500 of them.
func (b *bench) cases(p *pool.Pool) ([]*benchCase, error) {
	odd := []nn.Layer{
		nn.Conv{Filters: 7, Kernel: [2]int{7, 5}, Stride: [2]int{2, 2}, Pad: [2]int{1, 0}}, nn.Tanh,
		nn.Conv{Filters: 5, Kernel: [2]int{3, 2}, Pad: [2]int{1, 1}, NoBias: true}, nn.ReLU, nn.MaxPool{Size: [2]int{2, 2}},
		nn.Dense{Units: 13}, nn.GELU, nn.Dense{Units: 11},
	}
	nets := []struct {
		name       string
		images     int
		population int
		arch       nn.Architecture
	}{
		{"lenet5", b.images, 10, preset("mnist-lenet5")},
		{"mnist7", 1200, 10, preset("mnist7")},
		{"resnet20", 500, 1, nn.Architecture{Input: []int{3, 32, 32}, Layers: nn.ResNet20(10), Likelihood: nn.Categorical{}}},
		{"untuned", 1003, 10, nn.Architecture{Input: []int{3, 29, 23}, Layers: odd, Likelihood: nn.Categorical{}}},
	}
	var cases []*benchCase
	for _, n := range nets {
		if b.only != "" && b.only != n.name {
			continue
		}
		net, err := nn.New(n.arch.Input, n.arch.Layers, n.arch.Likelihood)
		if err != nil {
			return nil, err
		}
		set := pixels(n.name, net, n.images)
		model, err := nn.NewModel(net, set, p)
		if err != nil {
			return nil, err
		}
		theta := make([]float64, n.population*net.Dim())
		s := rng.Key{Seed: 1, Purpose: rng.Init}.Stream()
		for i := range theta {
			theta[i] = 0.05 * s.Normal()
		}
		full := &benchCase{net: n.name, batch: "full", Images: n.images, Population: n.population, Dim: net.Dim(), FLOP: net.Flops(), model: model, theta: theta}
		cases = append(cases, full)
		if size := min(500, n.images); size < n.images {
			some := *full
			some.batch, some.Images = fmt.Sprint(size), size
			some.rows = data.Order(n.images, rng.Key{Seed: 1, Purpose: rng.Batch})[:size]
			cases = append(cases, &some)
		}
	}
	return cases, nil
}

// preset returns the network of a preset.
func preset(name string) nn.Architecture {
	spec, err := starling.Preset(name)
	if err != nil {
		panic(err) // the presets are built in and tested
	}
	return spec.Model.Architecture
}

// pixels are random images with random labels.
func pixels(name string, net *nn.Net, n int) *data.Set {
	s := &data.Set{Name: name, Shape: net.Input(), Classes: net.Outputs(), Labels: make([]int32, n)}
	s.U8 = make([]uint8, n*s.Features())
	r := rng.Key{Seed: 1, Purpose: rng.Noise}.Stream()
	for i := range s.U8 {
		s.U8[i] = uint8(r.Uint64())
	}
	for i := range s.Labels {
		s.Labels[i] = int32(r.IntN(s.Classes))
	}
	return s
}

// time measures a log-likelihood and gradient of the population, in seconds, and the peak during the same time, in GFLOP/s.
// Short calls are repeated for a fifth of a second.
func (c *benchCase) time(ctx context.Context, p *pool.Pool) (seconds, peak float64, err error) {
	ll, grad := make([]float64, c.Population), make([]float64, len(c.theta))
	var busy, peakTime time.Duration
	calls, flop := 0, 0.0
	for busy < 200*time.Millisecond {
		start := time.Now()
		if err := c.model.LogLik(ctx, c.rows, c.theta, ll, grad); err != nil {
			return 0, 0, err
		}
		busy += time.Since(start)
		calls++
		for peakTime < busy/10 { // about a tenth of the time goes to the peak
			start := time.Now()
			flop += multiplyAdds(p)
			peakTime += time.Since(start)
		}
	}
	return busy.Seconds() / float64(calls), flop / peakTime.Seconds() / 1e9, nil
}

// multiplyAdds runs multiply-adds on registers alone, with all threads of the pool at once, for about a millisecond,
// and returns their floating-point operations.
func multiplyAdds(p *pool.Pool) (flop float64) {
	rounds := 1 << 17
	if lanes.Kernel() == "go" { // slower by a factor of hundreds
		rounds = 1 << 12
	}
	sums := make([]float64, p.Threads())
	p.Run(len(sums), func(i int) { sums[i] = lanes.PeakFMA(rounds) })
	for _, s := range sums {
		flop += s
	}
	return flop
}

func (r *benchResult) write(w io.Writer) {
	fmt.Fprintf(w, "kernels %s, %d CPUs; speeds of the fastest repeat, shares of the median one\n", r.Kernel, r.CPUs)
	for _, threads := range r.order {
		t := r.Threads[threads]
		fmt.Fprintf(w, "\n%s thread(s): peak %.0f GFLOP/s\n", threads, t.Peak)
		var tab table.Table
		tab.Add("", "images", "population", "parameters", "GFLOP/s", "of peak", "images × particles/s", "median", "fastest")
		for _, c := range t.cases {
			tab.Add(c.net+", "+c.batch, numeral.Count(c.Images), fmt.Sprint(c.Population), numeral.Count(c.Dim), fmt.Sprintf("%.1f", c.GFLOPS), fmt.Sprintf("%.0f %%", 100*c.Share),
				numeral.Count(int(math.Round(c.Rate))), milliseconds(c.Median), milliseconds(c.Fastest))
		}
		tab.Write(w)
	}
}

func milliseconds(s float64) string { return fmt.Sprintf("%.3g ms", 1000*s) }
