package eval

import "github.com/starling-smc/starling/nn"

// classes is the number of classes that a network predicts, 0 for a regression.
func classes(net *nn.Net) int {
	switch net.Likelihood().(type) {
	case nn.Gaussian:
		return 0
	case nn.Bernoulli:
		return 2
	}
	return net.Outputs()
}

func regression(net *nn.Net) bool { return classes(net) == 0 }
