package method

import (
	"math"
	"testing"

	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/smc"
)

// TestExploded: trajectories whose steps are too long, and which stay finite, are told with the numbers of the unlearning trace. So are
// neither steps that suit the target nor such that are far too short, after which the particles are still worse than a guess.
func TestExploded(t *testing.T) {
	classes := func() *Job {
		job := newJob(t, 2)
		job.Prior = prior(t, job.Net, 4) // draws are worse than a guess
		return job
	}
	numbers := func() *Job {
		job := newJob(t, 2)
		job.Net, job.Data.Train, job.Data.Validate, job.Data.Test = linear(t, nn.Gaussian{SD: 0.5}), regression(60), regression(30), regression(40)
		job.Prior = prior(t, job.Net, 4)
		var err error
		if job.Model, err = nn.NewTraining(job.Net, job.Data, job.Pool); err != nil {
			t.Fatal(err)
		}
		return job
	}
	square := 0.0 // of the values of regression; their mean is near 0, but it counts
	mean := 0.0
	for _, y := range regression(60).Values {
		square, mean = square+float64(y)*float64(y)/60, mean+float64(y)/60
	}
	normal := 0.5*math.Log(2*math.Pi*0.25) + (square-mean*mean)/0.5
	for name, c := range map[string]struct {
		job   *Job
		move  mcmc.Move
		guess float64
		found bool
	}{
		"classes, too long":    {classes(), mcmc.Epoch{Batch: 20, Step: 1}, math.Log(3), true},
		"classes, right":       {classes(), mcmc.Epoch{Batch: 20, Step: 0.05}, math.Log(3), false},
		"classes, too short":   {classes(), mcmc.Epoch{Batch: 20, Step: 1e-5}, math.Log(3), false},
		"classes, leapfrogs":   {classes(), mcmc.Unadjusted{Steps: 3, Step: 2}, math.Log(3), true},
		"classes, random walk": {classes(), mcmc.Walk{SD: 3}, math.Log(3), false},
		"numbers, too long":    {numbers(), mcmc.Epoch{Batch: 20, Step: 0.12}, normal, true},
		"numbers, right":       {numbers(), mcmc.Epoch{Batch: 20, Step: 0.02}, normal, false},
		"numbers, too short":   {numbers(), mcmc.Epoch{Batch: 20, Step: 1e-6}, normal, false},
	} {
		m := SMC{Particles: 4, Islands: 2, Move: c.move, Path: smc.Schedule[smc.Full]{Iterations: 8}, Weight: smc.Equal{}}.Settle(Around{}, unheard()).(SMC)
		m.Trace.Unlearning = true
		out, err := c.job.Do(t.Context(), m)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var said *finding.Finding
		for _, f := range out.Findings {
			if f.Kind == "exploded" {
				said = &f
			}
		}
		islands := byIsland(out.Trace)
		worse, end, start := 0, 0.0, 0.0
		for _, lines := range islands {
			last, first := float64(lines[len(lines)-1].Unlearning.Train), float64(lines[0].AtStart.Train)
			t.Logf("%s: %.3g to %.3g, a guess %.3g", name, first, last, c.guess)
			if last > first && last > c.guess {
				if worse++; last > end {
					end, start = last, first
				}
			}
			if name == "classes, too short" && !(last > c.guess) {
				t.Errorf("%s: %v is no worse than a guess: the case shows nothing", name, last)
			}
		}
		switch {
		case c.found != (said != nil):
			t.Errorf("%s: found %v", name, said)
		case said != nil:
			got := said.Numbers
			if got["exploded"] != 2 || worse != 2 || got["islands"] != 2 || said.Names["step"] != m.Sampling().Step {
				t.Errorf("%s: %v", name, said)
			}
			for key, want := range map[string]float64{"end": end, "start": start, "guess": c.guess} {
				if !(math.Abs(float64(got[key])-want) <= 1e-6*math.Abs(want)) {
					t.Errorf("%s: %s is %v, want %v", name, key, got[key], want)
				}
			}
		}
	}
}

// TestUnlearningIsNoExplosion: at its MAP, a trained network has a training NLL far below that of draws of the posterior. That the NLL rises
// from there, by more than any standard error, is what the moves are for.
func TestUnlearningIsNoExplosion(t *testing.T) {
	m := SMC{
		Particles: 4, Islands: 1, Move: mcmc.Epoch{Batch: 20, Step: 0.05}, Path: smc.Schedule[smc.Full]{Iterations: 8}, Weight: smc.Equal{}, Start: FromMAP{},
	}.Settle(Around{}, unheard()).(SMC)
	m.Trace.Unlearning = true
	job := newJob(t, 2).provide(m)
	job.Search.Epochs = 200
	out := do(t, job, m)
	first, last := out.Trace[0].AtStart.Train, out.Trace[len(out.Trace)-1].Unlearning.Train
	if !(last > 1.05*first) || !(float64(last) < math.Log(3)) {
		t.Fatalf("the training NLL goes from %v to %v: the case shows nothing", first, last)
	}
	for _, f := range out.Findings {
		if f.Kind == "exploded" {
			t.Error(f.Words())
		}
	}
}
