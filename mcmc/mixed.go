package mcmc

import (
	"errors"
	"fmt"
	"math"
)

// LeastStates is the number of states of a chain from which it has an R-hat.
const LeastStates = 8

// Mixed returns the R-hat of one number per state of several chains (RHat), of as many of their last states as all have. The error is nil
// if it is at most the given bound, such as 1.01 or 1.1. Else it says what is wrong and what to do. It is not nil where there is no R-hat,
// either: chains that hardly move leave few states, or states that are all equal, and a comparison of NaN with a bound would be silent
// where chains are worst.
func Mixed(chains [][]float64, most float64) (rHat float64, err error) {
	if len(chains) == 0 {
		return math.NaN(), errors.New("there are no chains to compare")
	}
	least := len(chains[0])
	for _, c := range chains {
		least = min(least, len(c))
	}
	last := make([][]float64, len(chains))
	for i, c := range chains {
		last[i] = c[len(c)-least:]
	}
	if least < LeastStates {
		return math.NaN(), fmt.Errorf("a chain has %d states, and R-hat needs %d: let chains move for longer, or take another move, as NUTS", least, LeastStates)
	}
	for i, c := range last {
		for j, x := range c {
			if !isFinite(x) {
				return math.NaN(), fmt.Errorf("chain %d is %v in state %d, so there is no R-hat", i, x, len(chains[i])-least+j)
			}
		}
	}
	switch rHat = RHat(last); {
	case math.IsNaN(rHat):
		return rHat, errors.New("all states are equal, so there is no R-hat: the chains did not move")
	case !(rHat <= most):
		return rHat, fmt.Errorf("the R-hat is %.2f, above %v: the chains do not sample one distribution together; let them move for longer, or take another move, as NUTS", rHat, most)
	}
	return rHat, nil
}
