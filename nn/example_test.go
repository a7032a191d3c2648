package nn_test

import (
	"context"
	"fmt"
	"log"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/nn"
)

// Two parameter vectors of a small network, scored against three images at once. Where all parameters are 0, each of the
// eight classes has probability 1/8, and the log-likelihood is −3 log 8.
func Example() {
	net, err := nn.New([]int{1, 28, 28}, []nn.Layer{
		nn.Conv{Filters: 4, Kernel: [2]int{3, 3}, Pad: [2]int{1, 1}}, nn.ReLU, nn.MaxPool{Size: [2]int{2, 2}},
		nn.Dense{Units: 8},
	}, nn.Categorical{})
	if err != nil {
		log.Fatal(err)
	}
	set := &data.Set{Name: "three", Shape: []int{1, 28, 28}, Classes: 8, U8: make([]uint8, 3*28*28), Labels: []int32{0, 1, 7}}
	model, err := nn.NewModel(net, set, nn.NewPool(0))
	if err != nil {
		log.Fatal(err)
	}
	theta := make([]float64, 2*net.Dim())
	ll, grad := make([]float64, 2), make([]float64, len(theta))
	if err := model.LogLik(context.Background(), nil, theta, ll, grad); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d parameters, log-likelihoods %.4f\n", net.Dim(), ll)
	// Output: 6320 parameters, log-likelihoods [-6.2383 -6.2383]
}
