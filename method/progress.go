package method

import (
	"fmt"
	"slices"

	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/smc"
)

// watch follows islands and reports their progress.
type watch struct {
	sampling *Sampling
	examples int // to train on
	tell     func(Status)
	islands  []islandProgress
}

// islandProgress is an island's latest diagnostics.
type islandProgress struct {
	info  smc.Info
	first float64 // λ of its first iteration
	lost  bool
}

func newWatch(s *Sampling, job *Job) *watch {
	return &watch{sampling: s, examples: job.Data.Train.Len(), tell: job.Tell, islands: make([]islandProgress, s.Islands)}
}

// begin names the phase: its first iterations may take long.
func (w *watch) begin() {
	if w.tell != nil {
		w.tell(Status{Phase: w.phase()})
	}
}

// step records a line of the trace and reports progress.
func (w *watch) step(l runs.TraceLine) error {
	if err := w.note(l); err != nil {
		return err
	}
	w.report()
	return nil
}

// resumed records the restored lines of a resumed run.
func (w *watch) resumed(kept []runs.TraceLine) error {
	for _, l := range kept {
		if err := w.note(l); err != nil {
			return err
		}
	}
	if w.tell != nil {
		s := w.status()
		s.Resumed = true
		w.tell(s)
	}
	return nil
}

func (w *watch) note(l runs.TraceLine) error {
	it, err := iteration(l)
	if err != nil {
		return err
	}
	p := &w.islands[l.Part]
	p.lost = it.Lost != ""
	if p.info = it.Info; it.K == 1 {
		p.first = it.Lambda
	}
	return nil
}

func (w *watch) report() {
	if w.tell != nil {
		w.tell(w.status())
	}
}

func (p islandProgress) running() bool { return p.info.K > 0 && p.info.Progress < 1 }

// phase names the islands: "islands 8×10", "8 chains".
func (w *watch) phase() string {
	if w.sampling.Particles == 1 {
		return numeral.Several(w.sampling.Islands, w.sampling.Unit)
	}
	return fmt.Sprintf("%ss %d×%d", w.sampling.Unit, w.sampling.Islands, w.sampling.Particles)
}

// status describes the islands at work or, if none is, the last ones that were.
func (w *watch) status() Status {
	s := Status{Phase: w.phase(), Share: w.share(), Ended: true}
	now := figures{lambda: 1}
	running := slices.ContainsFunc(w.islands, islandProgress.running)
	shown := 0.0
	for _, p := range w.islands {
		i := p.info
		s.Ended = s.Ended && i.Progress >= 1
		if p.lost {
			continue
		}
		now.epochs += i.Epochs / w.others()
		if i.K == 0 || running && !p.running() {
			continue
		}
		shown++
		now.lambda = min(now.lambda, w.sampling.Path.Traits().Power(i, w.examples))
		now.iteration += float64(w.sampling.made(i.K, w.examples))
		now.examples += float64(i.Examples)
		now.ess += i.ESS
		now.acceptance += float64(i.Acceptance)
		now.step += i.Step
		now.ancestors += float64(i.Ancestors)
	}
	if shown == 0 {
		return s
	}
	for _, mean := range []*float64{&now.iteration, &now.examples, &now.ess, &now.acceptance, &now.step, &now.ancestors} {
		*mean /= shown
	}
	s.Long, s.Short = w.sampling.words(now)
	return s
}

// others is the number of islands that were not lost.
func (w *watch) others() (n float64) {
	for _, p := range w.islands {
		if !p.lost {
			n++
		}
	}
	return n
}

// share estimates the share of the work that is done. An island that has not begun is expected to take as long as the mean of
// the others; one that was lost has no work left, and counts no more.
func (w *watch) share() float64 {
	var done, all, begun float64
	for _, p := range w.islands {
		if p.info.K == 0 || p.lost {
			continue
		}
		d, a := w.sampling.Path.Work(p.info, p.first, w.examples)
		begun, done, all = begun+1, done+d, all+a
	}
	switch others := w.others(); {
	case others == 0:
		return 1
	case begun == 0:
		return 0
	default:
		return done / (all * others / begun)
	}
}
