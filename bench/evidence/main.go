package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/smc"
)

const header = 7

var firstScale = flag.String("layout", "after", "")

// exact
type exact struct {
	mcmc.HMC
	p problem
	k *stageState
	pilot *record
	freeze string
}
type stageState struct{ stage int; moves int }
type record struct {
	lambda []float64
	tuning [][]float64
	moves []int
}

func (m exact) is(f string) bool { return strings.Contains(","+m.freeze+",", ","+f+",") }

func (m exact) Begin(ctx context.Context, w *mcmc.Work, t *mcmc.Target, p *mcmc.Population, weights, tuning []float64, now mcmc.StepContext) (mcmc.Trials, error) {
	d := m.p.d
	m.k.stage++
	switch {
	case m.is("exact"):
		l := m.p.scale(t.Lambda)
		at := header + d + d*d
		if *firstScale == "before" { at = header }
		n := (len(tuning)-header)/(d+d*d) - 1
		for range n {
			for i := range d {
				var v float64
				for k := range i + 1 { v += l[i*d+k]*l[i*d+k] }
				tuning[at+i] = math.Sqrt(v)
			}
			copy(tuning[at+d:], l)
			at += d + d*d
		}
		now.Related = true
	case m.is("scale"):
		copy(tuning[header:], m.pilot.tuning[m.k.stage][header:])
		now.Related = true
	}
	h := m.HMC
	if m.is("step") {
		tuning[0] = m.pilot.tuning[m.k.stage][0]
		h.Step = math.Exp(tuning[0])
	}
	tr, err := h.Begin(ctx, w, t, p, weights, tuning, now)
	if m.pilot != nil && m.freeze == "record" {
		m.pilot.lambda = append(m.pilot.lambda, t.Lambda)
		m.pilot.tuning = append(m.pilot.tuning, append([]float64(nil), tuning...))
	}
	return tr, err
}

func (m exact) Mutate(ctx context.Context, w *mcmc.Work, t *mcmc.Target, p *mcmc.Population, tuning []float64, now mcmc.StepContext) (mcmc.Outcome, error) {
	h := m.HMC
	if m.is("step") { h.Step = math.Exp(tuning[0]) }
	return h.Mutate(ctx, w, t, p, tuning, now)
}

func (m exact) Repeats() mcmc.Mutations {
	if m.is("moves") && m.k.stage >= 0 { return mcmc.Mutations{Count: m.pilot.moves[m.k.stage]} }
	return m.HMC.Mutations
}

func main() {
	d := flag.Int("d", 50, "")
	rows := flag.Int("rows", 0, "")
	j := flag.Int("j", 300, "")
	runs := flag.Int("runs", 40, "")
	scale := flag.String("scale", "", "")
	freeze := flag.String("freeze", "", "exact, scale, step, moves")
	ladder := flag.Bool("ladder", false, "")
	moves := flag.Int("moves", 0, "")
	length := flag.Float64("length", -1, "")
	threads := flag.Int("threads", runtime.NumCPU(), "")
	pcn := flag.Bool("pcn", false, "")
	flag.Parse()
	if *rows == 0 { *rows = 2 * *d }
	p := regression(*d, *rows, 1)
	hmc := mcmc.HMC{Scale: mcmc.Scaling(*scale), Length: *length}.ForPopulation(mcmc.UntilTravelled, false).(mcmc.HMC)
	if *moves > 0 { hmc.Mutations = mcmc.Mutations{Count: *moves} }
	build := func(seed uint64, freeze string, rec *record, path smc.Targets) *smc.Sampler {
		var move mcmc.Kernel = exact{HMC: hmc, p: p, k: &stageState{stage: -1}, pilot: rec, freeze: freeze}
		if freeze == "" { move = hmc }
		if *pcn { move = mcmc.PCN{}.ForPopulation(mcmc.UntilTravelled, false) }
		return &smc.Sampler{Model: p, Prior: unit(*d), Path: path, Move: move, Particles: *j, Seed: seed}
	}
	ctx := context.Background()
	var pilot *record
	var path smc.Targets = smc.Tempering{}
	if *ladder || *freeze != "" && *freeze != "exact" {
		pilot = &record{}
		s := build(99991, "record", pilot, path)
		if *ladder && *freeze == "" || *freeze == "exact" { // the ladder from exact
			s = build(99991, "exact", nil, path)
			pilot = &record{}
		}
		st, err := s.Init(ctx)
		if err != nil { panic(err) }
		var lam []float64
		err = s.Run(ctx, st, func(st *smc.State, info smc.Info) error {
			pilot.moves = append(pilot.moves, info.Mutations)
			lam = append(lam, st.Lambda)
			return nil
		})
		if err != nil { panic(err) }
		path = smc.Ladder(lam)
	}
	start := time.Now()
	z := make([]float64, *runs)
	grads := make([]float64, *runs)
	stages := make([]float64, *runs)
	vars := make([]float64, *runs)
	var wg sync.WaitGroup
	next := make(chan int)
	exactVar := 0.0
	{
		l := p.scale(1)
		for i := range *d { for k := range i+1 { exactVar += l[i**d+k]*l[i**d+k] / float64(*d) } }
	}
	for range *threads {
		wg.Go(func() {
			for r := range next {
				var s *smc.Sampler
				s = build(uint64(r+1), *freeze, pilot, path)
				st, err := s.Init(ctx)
				if err != nil { panic(err) }
				err = s.Run(ctx, st, nil)
				if err != nil { panic(err) }
				z[r] = st.LogZ - p.logZ
				grads[r] = float64(st.Gradients+st.Values)
				stages[r] = float64(st.K)
				// mean posterior variance over coords
				mean := make([]float64, *d)
				for q := range st.J { for i := range *d { mean[i] += math.Exp(st.LogW[q])*st.Theta[q**d+i] } }
				var v float64
				for q := range st.J { for i := range *d { v += math.Exp(st.LogW[q])*(st.Theta[q**d+i]-mean[i])*(st.Theta[q**d+i]-mean[i]) } }
				vars[r] = v/float64(*d)/exactVar * float64(st.J)/float64(st.J-1)
			}
		})
	}
	for r := range *runs { next <- r }
	close(next)
	wg.Wait()
	m, sd := moments(z)
	var zz []float64
	for _, x := range z { zz = append(zz, math.Exp(x)) }
	zm, zsd := moments(zz)
	n := math.Sqrt(float64(*runs))
	g, _ := moments(grads)
	k, _ := moments(stages)
	vm, vsd := moments(vars)
	fmt.Printf("d=%d rows=%d j=%d scale=%s freeze=%s ladder=%v moves=%d pcn=%v: log Z %.3f ± %.3f (sd %.3f)  Z %.3f ± %.3f  stages %.1f grads/part %.0f var %.3f±%.3f  %.0fs\n", *d, *rows, *j, *scale, *freeze, *ladder, *moves, *pcn, m, sd/n, sd, zm, zsd/n, k, g/float64(*j), vm, vsd/n, time.Since(start).Seconds())
}

func moments(x []float64) (mean, sd float64) {
	for _, v := range x { mean += v / float64(len(x)) }
	for _, v := range x { sd += (v - mean) * (v - mean) / float64(len(x)-1) }
	return mean, math.Sqrt(sd)
}
