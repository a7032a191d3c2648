package method

import (
	"fmt"

	"github.com/starling-smc/starling/internal/runs"
)

// curvatureWatch reports the progress of a curvature.
type curvatureWatch struct {
	part *curvature
	tell func(Status)
}

func (w *curvatureWatch) step(runs.TraceLine) error {
	w.report()
	return nil
}

func (w *curvatureWatch) resumed([]runs.TraceLine) error { return w.step(runs.TraceLine{}) }

func (w *curvatureWatch) report() {
	if w.tell == nil {
		return
	}
	c := w.part
	s := Status{Phase: "curvature", Share: c.share(), Ended: c.Done()}
	if c.K() > 0 {
		s.Short = fmt.Sprintf("step %d of %d", c.K(), c.steps())
		s.Long = s.Short
	}
	w.tell(s)
}

// share is the share of the work that is done, by its operations. The pass goes backward once for each output, and a fortieth of the rest is
// the last step.
func (c *curvature) share() float64 {
	net := c.job.Net
	done, all := 0.0, float64(c.job.Model.Examples())*net.Flops()*float64(1+net.Outputs())
	if c.Steps > 0 {
		done = all
	}
	for k := range c.form.cuts() {
		n := c.form.operations(k)
		if all += n; k+1 < c.Steps {
			done += n
		}
	}
	if c.Done() {
		return 1
	}
	return min(done/all, 0.975)
}
