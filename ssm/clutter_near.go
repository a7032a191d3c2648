package ssm

import "math"

// Curvature implements Expandable: the bound holds everywhere.
func (l *clutterLikelihood) Curvature(order int, _ float64) float64 {
	return l.curvature(l.targets, order)
}

// curvature is the bound for so many targets within reach of a return, per unit of the state.
func (l *clutterLikelihood) curvature(targets, order int) float64 {
	if l.points == 0 {
		return 0
	}
	b := l.bounds.of(l.ratio, targets, order)
	for range order + 1 {
		b /= l.model.Returns.SD
	}
	return b
}

// Near implements Localised.
func (l *clutterLikelihood) Near(block Block, radius float64) (n Neighbourhood) {
	if l.cells == nil || l.reach < 0 {
		return n
	}
	far := math.Sqrt(l.reach) + radius
	far = float64(far * far)
	s := l.series
	places := s.at[block.From/4 : min((block.To+3)/4, l.targets)]
	most := 0
	near := make([]bool, l.targets)
	for _, c := range l.cells.within(places, far, nil) {
		from := c * perChunk
		to := from + int32(l.count(int(c)))
		if last := len(n.Rows) - 1; last >= 0 && n.Rows[last][1] == from {
			n.Rows[last][1] = to
		} else {
			n.Rows = append(n.Rows, [2]int32{from, to})
		}
		targets := 0
		for r, p := range s.at {
			if l.cells.nodes[l.cells.leaves[c]].squared(p) <= far {
				near[r] = true
				targets++
			}
		}
		most = max(most, targets)
	}
	for r, ok := range near {
		if ok {
			n.Coordinates = append(n.Coordinates, 4*r, 4*r+1)
		}
	}
	n.Curvature = [2]float64{l.curvature(most, 1), l.curvature(most, 2)}
	return n
}
