package starling_test

import (
	"context"
	"fmt"
	"log"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/nn"
)

// A network for the user's own table, described in Go.
func Example() {
	spec := starling.Spec{
		Data: starling.Data{CSV: &starling.CSV{File: "testdata/trees.csv", Target: "kind"}},
		Model: starling.Model{
			Layers:     []nn.Layer{nn.Dense{Units: 6}, nn.Tanh, nn.Dense{Units: 3}},
			Likelihood: nn.Categorical{},
		},
		Prior:  starling.Prior{Normal: starling.Normal{Variance: 1}},
		Method: starling.Method{SMC: &starling.SMC{Particles: 50}},
	}
	result, err := starling.Fit(context.Background(), spec, starling.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d particles of %d parameters, judged on %d examples\n", result.Posterior.Size(), result.Net.Dim(), result.Metrics.N)
	// Output: 50 particles of 51 parameters, judged on 9 examples
}
