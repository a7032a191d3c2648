package method

import (
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/runs"
)

// searchWatch follows the restarts of a search and reports their progress.
type searchWatch struct {
	restarts []*restart
	most     int     // epochs of a restart
	scale    float64 // added to a mean NLL to get it in the targets' own units
	tell     func(Status)

	made  []int
	ended []bool
	kept  []mark // what each restart keeps so far; NLL +Inf: nothing yet
}

func newSearchWatch(restarts []*restart, most int, scale float64, tell func(Status)) *searchWatch {
	return &searchWatch{
		restarts: restarts, most: most, scale: scale, tell: tell,
		made: make([]int, len(restarts)), ended: make([]bool, len(restarts)), kept: slices.Repeat([]mark{{nll: math.Inf(1)}}, len(restarts)),
	}
}

// step records an epoch of a restart and reports progress.
func (w *searchWatch) step(l runs.TraceLine) error {
	w.note(l)
	w.report()
	return nil
}

// resumed records the restarts' states when the run is resumed.
func (w *searchWatch) resumed(kept []runs.TraceLine) error {
	for _, l := range kept {
		w.note(l)
	}
	w.report()
	return nil
}

func (w *searchWatch) note(l runs.TraceLine) {
	r := w.restarts[l.Part]
	w.made[l.Part], w.ended[l.Part] = r.K(), r.Done()
	if theta, at := r.kept(); theta != nil {
		w.kept[l.Part] = at
	}
}

// best is what the best restart so far keeps; NLL +Inf if there is none, as without validation examples.
func (w *searchWatch) best() mark {
	best := mark{nll: math.Inf(1)}
	for _, at := range w.kept {
		if at.nll < best.nll {
			best = at
		}
	}
	return best
}

// report reports the progress of the search.
func (w *searchWatch) report() {
	if w.tell != nil {
		w.tell(w.status())
	}
}

func (w *searchWatch) status() Status {
	ended := 0
	for _, e := range w.ended {
		if e {
			ended++
		}
	}
	s := Status{Phase: "MAP", Share: searched(w.made, w.ended, w.most), Ended: ended == len(w.ended)}
	s.Long = fmt.Sprintf("%d of %d starts", ended, len(w.ended))
	if s.Ended {
		s.Long = fmt.Sprintf("best of %d starts", len(w.ended))
	}
	if best := w.best(); !math.IsInf(best.nll, 1) {
		score := fmt.Sprintf("validation %.1f %%", 100*best.accuracy)
		if math.IsNaN(best.accuracy) {
			score = fmt.Sprintf("validation NLL %.3f", best.nll+w.scale)
		}
		s.Long += fmt.Sprintf(", epoch %d  %s", best.epoch, score)
	}
	s.Short = s.Long
	return s
}

// searched estimates the share of the work that is done from the epochs of each restart. A restart at work is expected to
// take the mean number of epochs of the restarts that have ended or, before the first has ended, the largest number allowed.
func searched(made []int, ended []bool, most int) float64 {
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
	if total == 0 { // no epoch was asked for
		return 1
	}
	return all / total
}
