package sets

import (
	"math"

	"github.com/starling-smc/starling/internal/regular"
)

// Text says how a text becomes examples: of each window of it the last character is the target, and those before are the inputs. The text is
// cut into twentieths, the last two of which validate and test. No window reaches from one part into another.
type Text struct {
	Context  int // characters before the target
	From, To int // the twentieths to train on: From ≤ i < To
}

// Twentieths is how many parts of equal size Text cuts a text into.
const Twentieths = 20

// Two sets of one text (Liang et al., Scalable Bayesian Monte Carlo, section 4, "tiny Shakespeare"): the first 85 % train a network, and the
// 5 % behind them its update. Both are validated on the next 5 % and tested on the last.
var (
	shakespeare       = &Text{Context: 32, From: 0, To: 17}
	shakespeareUpdate = &Text{Context: 32, From: 17, To: 18}
)

// Characters reads the text of a set.
func (k *Known) Characters(dir string) ([]byte, error) {
	path, err := k.sound(pins[k.Name][0], dir)
	if err != nil {
		return nil, err
	}
	return regular.Read(path, math.MaxInt64)
}
