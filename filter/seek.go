package filter

import (
	"math"

	"github.com/starling-smc/starling/ssm"
)

// seek climbs from the places where measurements are densest, too, and returns the best mode. cov is that of the prediction.
func (n *newton) seek(finder ssm.Finder, blocks []ssm.Block, cov []float64, best spot) spot {
	d := len(best.at)
	want, have := fewest*finder.Expected(), make([]float64, len(blocks))
	var places [][]float64
	for range rounds {
		finder.Explained(best.at, have)
		for g, b := range blocks {
			if have[g] >= want {
				continue
			}
			if places == nil {
				places = finder.Places(mostPlaces)
			}
			start := spot{value: math.Inf(-1)}
			for _, p := range places {
				at := append([]float64(nil), best.at...)
				copy(at[b.From:b.To], n.mean[b.From:b.To])
				regress(cov, d, b.From, b.From+len(p), b.To, p, at)
				if s, ok := n.visit(at); ok && s.value > start.value {
					start = s
				}
			}
			if start.at == nil {
				continue
			}
			if s, ok := n.climb(start.at, mostPasses); ok && s.value > best.value {
				best = s
			}
		}
	}
	return best
}
