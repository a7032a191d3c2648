package bnn

import (
	"fmt"
	"slices"
)

// OfIslands is the ensemble of some islands alone, in the order given, weighted by a Combination; nil: equally. Islands are counted from 0.
// They are what a run of them alone would have found: particles keep the weights that they have within their island. It panics where there is
// no such island, or one is named twice. Errors are as those of Combine.
func (e *Ensemble) OfIslands(which []int, by Combination) (*Ensemble, error) {
	some := *e
	some.Theta, some.Members, some.LogWeights, some.Island, some.LogEvidence, some.Shared, some.Row = nil, nil, nil, nil, nil, nil, nil
	for i, p := range which {
		if p < 0 || p >= len(e.LogEvidence) || slices.Contains(which[:i], p) {
			panic(fmt.Sprintf("bnn: island %d of islands %v of %d", p, which, len(e.LogEvidence)))
		}
		first, _ := slices.BinarySearch(e.Island, int32(p))
		end, _ := slices.BinarySearch(e.Island, int32(p)+1)
		if e.Members == nil {
			d := e.Net.Dim()
			some.Theta = append(some.Theta, e.Theta[first*d:end*d]...)
		} else {
			some.Members = JoinMembers(some.Members, e.Members.part(first, end))
		}
		some.LogWeights = append(some.LogWeights, e.LogWeights[first:end]...)
		some.LogEvidence = append(some.LogEvidence, e.LogEvidence[p])
		for range end - first {
			some.Island = append(some.Island, int32(i))
		}
		if s := e.Net.Learned(); s > 0 {
			low, high := int(e.Row[first]), int(e.Row[end-1])+1
			before := some.rows()
			for _, row := range e.Row[first:end] {
				some.Row = append(some.Row, int32(int(row)-low+before))
			}
			some.Shared = append(some.Shared, e.Shared[low*s:high*s]...)
		}
	}
	var err error
	some.LogWeights, err = some.Weigh(by)
	return &some, err
}
