package report

import (
	"fmt"
	"math"

	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/uq"
)

// descended is that of the chosen MAP restart, epoch by epoch; none if there was no search, or it kept no such scores.
func (v *view) descended() []nll {
	if v.run.Chosen >= len(v.run.Courses) {
		return nil
	}
	c := v.run.Courses[v.run.Chosen]
	one := nll{of: "descent"}
	for i := range c.Train {
		one.at = append(one.at, float64(c.From+i))
		one.train = append(one.train, float64(c.Train[i]))
		val := uq.Number(math.NaN())
		if c.Val != nil {
			val = c.Val[i]
		}
		one.val = append(one.val, float64(val))
	}
	one.passes = one.at
	return []nll{one}
}

// ofCourse says how the scores of a descent are taken.
const ofCourse = "The training NLL of an epoch is the mean over its mini-batches, each before its own step: while it falls, the network at the epoch's end has a lower one."

// search shows how the search for point estimates went; it has no figures if the run kept no such scores.
func (v *view) search() section {
	s := section{ID: "search", Title: "How the search went"}
	if all := v.descended(); all != nil {
		fig := overRun("search", "epoch", all)
		if n := v.restarts(); n > 1 {
			fig.Caption = fmt.Sprintf("Of restart %d, the best of %d, counted from 0. ", v.run.Chosen, n)
		}
		fig.Caption += ofCourse
		if s := v.run.Spec.MAP; s != nil && s.Keep == method.KeepLastEpoch && v.run.Courses[v.run.Chosen].Val != nil {
			fig.Caption += " The last epoch is kept, whatever its validation NLL."
		}
		if all[0].at[0] == 0 {
			fig.Caption += " Epoch 0 is the network of model.init."
		}
		s.Figures = []figure{*fig}
	}
	return s
}
