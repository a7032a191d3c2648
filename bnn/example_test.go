package bnn_test

import (
	"context"
	"fmt"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/nn"
)

// Two particles agree on the first input and contradict each other on the second: the prediction is even there, and
// the uncertainty is epistemic.
func Example() {
	net, err := nn.New([]int{2}, []nn.Layer{nn.Dense{Units: 2, NoBias: true}}, nn.Categorical{})
	if err != nil {
		panic(err)
	}
	particles := bnn.Island{Theta: []float64{
		3, +3, -3, -3, // weight [2, 2] of the first particle,
		3, -3, -3, +3, // of the second
	}}
	posterior, err := bnn.Combine(net, []bnn.Island{particles}, bnn.Equal{})
	if err != nil {
		panic(err)
	}
	inputs := &data.Set{Shape: []int{2}, F32: []float32{1, 0, 0, 1}}
	p, err := posterior.Predict(context.Background(), inputs, nn.NewPool(0))
	if err != nil {
		panic(err)
	}
	for i := range p.Len() {
		fmt.Printf("class 0 with probability %.3f, epistemic entropy %.3f of %.3f nats\n", p.Probs[2*i], p.Epistemic[i], p.Total[i])
	}
	// Output:
	// class 0 with probability 0.998, epistemic entropy 0.000 of 0.017 nats
	// class 0 with probability 0.500, epistemic entropy 0.676 of 0.693 nats
}
