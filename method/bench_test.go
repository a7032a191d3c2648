package method

import (
	"testing"
	"time"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
)

// mnist7 is the network and the data of the paper's first experiment.
func mnist7(tb testing.TB) (*nn.Net, *data.Problem) {
	tb.Helper()
	problem, err := data.Load("mnist7", "")
	if err != nil {
		tb.Fatal(err)
	}
	net, err := nn.New([]int{1, 28, 28}, []nn.Layer{
		nn.Conv{Filters: 4, Kernel: [2]int{3, 3}, Pad: [2]int{1, 1}}, nn.ReLU, nn.MaxPool{Size: [2]int{2, 2}}, nn.Dense{Units: 8},
	}, nn.Categorical{})
	if err != nil {
		tb.Fatal(err)
	}
	return net, problem
}

// BenchmarkMAP is the MAP phase of `starling fit mnist7`: 8 restarts, all threads.
func BenchmarkMAP(b *testing.B) {
	net, problem := mnist7(b)
	s := Search{}
	s.Complete(0, true, nil)
	job := &Job{Seed: 1, Net: net, Prior: prior(b, net, 0.1), Data: problem, Search: &s, Pool: pool.New(0)}
	for b.Loop() {
		out := newOutcome()
		if err := job.search(b.Context(), out); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(100*job.Points.Accuracy[out.Chosen], "%validation")
	}
}

// BenchmarkEvaluate is what `fit mnist7` does with 80 particles at its end.
func BenchmarkEvaluate(b *testing.B) {
	net, problem := mnist7(b)
	e, err := bnn.Combine(net, []bnn.Island{{Theta: make([]float64, 80*net.Dim())}}, bnn.Equal{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := e.Evaluate(b.Context(), problem.Test, problem.Groups, pool.New(0)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkGold is the sampling of `starling fit mnist7-gold`: single leapfrogs of one chain, on all threads. %peak is the share of
// what all threads together could multiply and add, measured between the lines of the trace.
func BenchmarkGold(b *testing.B) {
	net, problem := mnist7(b)
	workers := pool.New(0)
	model, err := nn.NewTraining(net, problem, workers)
	if err != nil {
		b.Fatal(err)
	}
	job := &Job{Seed: 1, Net: net, Prior: prior(b, net, 0.1), Data: problem, Model: model, Pool: workers}
	phases, err := MCMC{Chains: 1, Start: "prior", Epochs: 1 << 40, Keep: KeepLast, Move: mcmc.HMC{Steps: 1}, Trace: Trace{100}}.Settle(Around{}, unheard()).Phases(job)
	if err != nil {
		b.Fatal(err)
	}
	part, moves := phases[0].Parts[0], 0
	var peak float64
	var peakTime time.Duration
	for b.Loop() {
		if _, err := part.Step(b.Context()); err != nil {
			b.Fatal(err)
		}
		moves += 100
		b.StopTimer()
		start := time.Now()
		work := make([]float64, workers.Threads())
		workers.Run(len(work), func(i int) { work[i] = lanes.PeakFMA(1 << 17) })
		peakTime += time.Since(start)
		for _, w := range work {
			peak += w
		}
		b.StartTimer()
	}
	flops := float64(moves*problem.Train.Len()) * net.Flops() / b.Elapsed().Seconds()
	b.ReportMetric(flops/1e9, "gflops")
	b.ReportMetric(100*flops/(peak/peakTime.Seconds()), "%peak")
}
