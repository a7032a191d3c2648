package starling_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/nn"
)

// A network for the user's own table, described in Go.
func Example() {
	spec := starling.Spec{
		Data: data.Settings{CSV: &data.CSV{File: "testdata/trees.csv", Target: "kind"}},
		Model: starling.Model{Architecture: nn.Architecture{
			Layers:     []nn.Layer{nn.Dense{Units: 6}, nn.Tanh, nn.Dense{Units: 3}},
			Likelihood: nn.Categorical{},
		}},
		Prior:  bnn.PriorSettings{Family: bnn.NormalPrior{Variance: 1}},
		Method: method.SMC{Particles: 50},
	}
	spec.Complete()
	result, err := starling.Fit(context.Background(), spec, starling.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d particles of %d parameters, evaluated on %d examples\n", result.Posterior.Size(), result.Net.Dim(), result.Metrics.N)
	// Output: 50 particles of 51 parameters, evaluated on 9 examples
}

// A network learns a noisy sine from a program's own slices, and says how sure it is among the examples and far from them.
func ExampleFit_slices() {
	var train data.Slices
	for i := range 60 {
		x := float64(i)/10 - 3
		train.Inputs = append(train.Inputs, []float64{x})
		train.Targets = append(train.Targets, math.Sin(x)+0.1*math.Sin(37*float64(i)))
	}
	spec, err := starling.ParseSpec("sine", []byte(`
data: {memory: {}}
model: {layers: [{dense: 20}, tanh, {dense: 1}], likelihood: {gaussian: {sd: 0.1}}}
prior: {normal: {variance: 1}}
method: {smc: {particles: 10}}`))
	if err != nil {
		log.Fatal(err)
	}
	spec.Data.Memory = &data.Memory{Train: &train}
	result, err := starling.Fit(context.Background(), spec, starling.Options{})
	if err != nil {
		log.Fatal(err)
	}
	inputs := &data.Array{Shape: []int{3, 1}, Values: []float64{-1.5, 1.5, 8}}
	set, err := result.Data.Schema.Examples("new inputs", inputs)
	if err != nil {
		log.Fatal(err)
	}
	p, err := result.Posterior.PredictRegression(context.Background(), set, nil, nil)
	fmt.Printf("mean %.1f, sd of the mean %.1f, %v", p.Mean, p.Epistemic, err)
	// Output: mean [-1.0 1.0 -1.5], sd of the mean [0.0 0.0 1.0], <nil>
}
