package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/dense"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/nn"
)

// logistic is a logistic regression as preset pima has it: predictors of mean 0 and standard deviation .5, a leading 1, and the prior
// N(0, 25 I). What is known of its posterior is computed here, in float64; the samplers see the network of the preset.
type logistic struct {
	d int
	x []float32 // N×D
	y []int32
}

const (
	priorVariance = 25
	studentDF     = 8      // of the proposal
	proposals     = 100000 // by which log Z and the means are known to about a thousandth of a nat and some thousandths of a standard deviation
)

// logisticPosterior is that of data with a name: pima; or wine-red, where the class is a quality of 6 or more.
func logisticPosterior(ctx context.Context, set, dir string) (posterior, error) {
	if dir == "" {
		return posterior{}, fmt.Errorf("data %s: give -data-dir, the folder with uci/pima.csv", set)
	}
	s, err := starling.Preset("pima")
	if err != nil {
		return posterior{}, err
	}
	var train *data.Set
	if set == "wine-red" {
		train, err = goodWines()
	} else {
		var all *data.Problem
		if all, err = s.Load(dir, nil); err == nil {
			train = all.Train
		}
	}
	if err != nil {
		return posterior{}, err
	}
	faults := config.NewFaults()
	s.Model.Input = train.Shape
	net := s.Model.Network(&data.Problem{Train: train}, faults)
	if net == nil {
		return posterior{}, s.Error(faults.All()...)
	}
	prior, err := s.Prior.Family.Prior(net.Random(), train.Len())
	if err != nil {
		return posterior{}, err
	}
	model, err := nn.NewModel(net, train, nn.NewPool(1)) // runs stand side by side
	if err != nil {
		return posterior{}, err
	}
	l := logistic{train.Features(), train.F32, train.Labels}
	known, err := l.known(ctx)
	known.model, known.prior = model, prior
	return known, err
}

// goodWines are the red wines that come with the program, in the form of pima.
func goodWines() (*data.Set, error) {
	s, err := starling.Preset("concrete", "data={set: wine-red, whole: true, standardise: none}", "map=null")
	if err != nil {
		return nil, err
	}
	all, err := s.Load("", nil)
	if err != nil {
		return nil, err
	}
	scale, n, d := data.FitStandard(all.Train, 0.5), all.Train.Len(), all.Train.Features()
	out := &data.Set{Name: "good red wines", Shape: []int{1 + d}, Classes: 2}
	for i := range n {
		out.F32 = append(out.F32, 1)
		for k, v := range all.Train.F32[i*d : (i+1)*d] {
			out.F32 = append(out.F32, float32(scale.To*(float64(v)-scale.Mean[k])/scale.SD[k]))
		}
		good := int32(0)
		if all.Train.Values[i] >= 6 {
			good = 1
		}
		out.Labels = append(out.Labels, good)
	}
	return out, nil
}

// log is the log-density of data and parameters together, and adds its gradient and its negative Hessian, if they are not nil.
func (l logistic) log(theta, grad, hessian []float64) (log float64) {
	for _, t := range theta {
		log -= float64(t*t)/(2*priorVariance) + float64(0.5*math.Log(2*math.Pi*priorVariance))
	}
	for i, y := range l.y {
		x, z := l.x[i*l.d:(i+1)*l.d], 0.0
		for k, v := range x {
			z += float64(float64(v) * theta[k])
		}
		e := math.Exp(-math.Abs(z))
		log += float64(float64(y)*z) - max(z, 0) - math.Log1p(e)
		if grad == nil {
			continue
		}
		p := 1 / (1 + math.Exp(-z))
		for k, v := range x {
			grad[k] += float64((float64(y) - p) * float64(v))
			for m, w := range x {
				hessian[k*l.d+m] += float64(p * (1 - p) * float64(v) * float64(w))
			}
		}
	}
	for k, t := range theta {
		if grad != nil {
			grad[k] -= t / priorVariance
			hessian[k*l.d+k] += 1. / priorVariance
		}
	}
	return log
}

// known is what importance sampling says of the posterior: the proposal is Student's t about the mode, with the curvature there.
func (l logistic) known(ctx context.Context) (out posterior, err error) {
	d := l.d
	mode, factor := make([]float64, d), make([]float64, d*d)
	for range 30 { // Newton's
		step := make([]float64, d)
		clear(factor)
		l.log(mode, step, factor)
		if !dense.Cholesky(factor, d) {
			return out, fmt.Errorf("the mode was not found")
		}
		dense.Solve(factor, step)
		for i, v := range step {
			mode[i] += v
		}
	}
	gamma := func(x float64) float64 { g, _ := math.Lgamma(x); return g }
	scale := gamma((studentDF+float64(d))/2) - gamma(studentDF/2.) - float64(0.5*float64(d)*math.Log(studentDF*math.Pi)) + float64(0.5*dense.LogDet(factor, d))
	weights, draws := make([]float64, proposals), make([]float64, proposals*d)
	stream := rng.Key{Seed: 1, Purpose: rng.Synthetic}.Stream()
	for i := range weights {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		theta, chi, square := draws[i*d:(i+1)*d], 0.0, 0.0
		stream.Normals(theta)
		for range studentDF {
			z := stream.Normal()
			chi += float64(z * z)
		}
		for k := range theta {
			theta[k] /= math.Sqrt(chi / studentDF)
			square += float64(theta[k] * theta[k])
		}
		dense.Backward(factor, theta)
		for k, m := range mode {
			theta[k] += m
		}
		weights[i] = l.log(theta, nil, nil) - scale + float64((studentDF+float64(d))/2*math.Log1p(square/studentDF))
	}
	top := slices.Max(weights)
	var sum float64
	for i, w := range weights {
		weights[i] = math.Exp(w - top)
		sum += weights[i]
	}
	out.logZ = top + math.Log(sum/proposals)
	out.mean, out.variance = make([]float64, d), make([]float64, d)
	for i, w := range weights {
		for k, t := range draws[i*d : (i+1)*d] {
			out.mean[k] += float64(w / sum * t)
			out.variance[k] += float64(w / sum * t * t)
		}
	}
	for k, m := range out.mean {
		out.variance[k] -= float64(m * m)
	}
	return out, nil
}
