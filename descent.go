package starling

import (
	"math"

	"github.com/starling-smc/starling/baseline"
)

// descents follows the search for point estimates and tells of it.
type descents struct {
	tell  func(Event)
	now   Descending
	scale float64 // what a validation NLL gains in the targets' own units
	most  int     // epochs of a restart
	made  []int
	ended []bool
}

// newDescents takes the restarts that others have made already.
func newDescents(m *MAP, saved []*baseline.Restart, scale float64, tell func(Event)) *descents {
	d := &descents{
		tell: tell, now: Descending{Restarts: m.Restarts, NLL: math.Inf(1)}, scale: scale,
		most: m.Epochs, made: make([]int, m.Restarts), ended: make([]bool, m.Restarts),
	}
	for k, s := range saved {
		if s != nil {
			d.count(k, s)
		}
	}
	return d
}

func (d *descents) look(k int, s *baseline.Restart) {
	d.count(k, s)
	event := d.now
	d.tell(&event)
}

func (d *descents) count(k int, s *baseline.Restart) {
	now, best := &d.now, &s.Watch
	if d.made[k], d.ended[k] = s.Epochs, s.Done; s.Done {
		now.Done++
	}
	now.Share = descent(d.made, d.ended, d.most)
	if nll := best.Best + d.scale; best.Theta != nil && nll < now.NLL { // without validation examples none is the best
		now.Best, now.Epoch, now.NLL, now.Accuracy = k, best.BestAt, nll, s.Accuracy
	}
}

// descent is the share of the work that is done, from the epochs that each restart has made: one that has not ended is
// expected to take as long as the mean of those that have or, before the first of them, as long as it may.
func descent(made []int, ended []bool, most int) float64 {
	all, done, finished := 0.0, 0.0, 0.0
	for i, n := range made {
		all += float64(n)
		if ended[i] {
			done++
			finished += float64(n)
		}
	}
	each := float64(most)
	if done > 0 {
		each = finished / done
	}
	total := finished
	for i, n := range made {
		if !ended[i] {
			total += max(each, float64(n+1))
		}
	}
	return all / total
}
