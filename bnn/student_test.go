package bnn

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/safetensors"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/uq"
)

// Draws of a Student-t mixture are below its quantiles as often as these say. A share of n draws has an sd of √(q(1−q)/n), and is within 5.1 sd
// but for a chance of 3e-7; of normal draws of the same scale 1.4 % fewer are below the lowest.
func TestStudentDraws(t *testing.T) {
	net, err := nn.New([]int{1}, []nn.Layer{nn.Dense{Units: 1, NoBias: true}}, nn.Student{DF: nn.Learned, SD: nn.Learned})
	if err != nil {
		t.Fatal(err)
	}
	e := combine(t, net, []Island{{Theta: []float64{1, math.Log(.5), math.Log(.5), -2, math.Log(2), math.Log(2)}}}, Equal{})
	set := &data.Set{Shape: []int{1}, F32: []float32{.5}}
	levels := []float64{.005, .05, .5, .99}
	predicted, err := e.PredictRegression(t.Context(), set, levels, nil)
	if err != nil {
		t.Fatal(err)
	}
	const n = 100000
	draws, err := e.Draw(t.Context(), set, Draws{N: n, Seed: 3}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for k, q := range levels {
		below := 0
		for _, y := range draws {
			if y < predicted.Quantiles[k] {
				below++
			}
		}
		if share := float64(below) / n; !(math.Abs(share-q) < 5.1*math.Sqrt(q*(1-q)/n)) {
			t.Errorf("%v of the draws are below the quantile %v", share, q)
		}
	}
}

// A particle of a Student-t likelihood predicts by its own degrees of freedom and scale, the last numbers of its parameters, whether they are
// in memory or in files: the mixture here is made by hand of the network's outputs w x.
func TestStudentPredictions(t *testing.T) {
	net, err := nn.New([]int{1}, []nn.Layer{nn.Dense{Units: 1, NoBias: true}}, nn.Student{DF: nn.Learned, SD: nn.Learned})
	if err != nil {
		t.Fatal(err)
	}
	theta := []float64{1, math.Log(1), math.Log(.5), -2, math.Log(4), math.Log(2), .5, math.Log(30), math.Log(1)} // w, log(ν−2), log σ of each
	memory := combine(t, net, []Island{{Theta: theta}}, Equal{})
	var file bytes.Buffer
	if err := WriteShard(&file, net, theta, safetensors.Float32, 0, 0); err != nil {
		t.Fatal(err)
	}
	members, err := OpenShard(bytes.NewReader(file.Bytes()), int64(file.Len()), net)
	if err != nil {
		t.Fatal(err)
	}
	files := combine(t, net, []Island{{Members: JoinMembers(members)}}, Equal{})
	set := &data.Set{Shape: []int{1}, F32: []float32{.5, -3}, Values: []float32{2, 9}, Outputs: 1}
	for name, e := range map[string]*Ensemble{"memory": memory, "files": files} {
		all, err := e.EvaluateRegression(t.Context(), set, nil, []float64{.05, .5, .95}, [][]float64{e.LogWeights}, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := all[0]
		for i, x := range []float64{.5, -3} {
			y := float64(set.Values[i])
			n := uq.Normals{Weights: slices.Repeat([]float64{1. / 3}, 3), Mean: []float64{x, -2 * x, .5 * x}, SD: []float64{.5, 2, 1}, DF: []float64{3, 6, 32}}
			mean, noise, apart := n.Moments()
			want := []float64{mean, noise, apart, n.LogDensity(y), n.CRPS(y), n.CDF(y), n.Quantile(.05), n.Quantile(.5), n.Quantile(.95)}
			have := append([]float64{got.Mean[i], got.Aleatoric[i], got.Epistemic[i], got.LogDensity[i], got.CRPS[i], got.PIT[i]}, got.Quantiles[3*i:3*i+3]...)
			for k := range want {
				if !(math.Abs(have[k]-want[k]) <= 2e-6*max(1, math.Abs(want[k]))) {
					t.Errorf("%s, example %d: number %d is %v, want %v", name, i, k, have[k], want[k])
				}
			}
		}
	}
}
