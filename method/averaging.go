package method

import (
	"fmt"
	"math"
	"strings"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/nn"
)

// Averaging goes on from MAP restarts by SGD at a constant rate, and takes a snapshot of the parameters after every epoch. SWA and
// SWAG have these settings in common (Maddox, Izmailov, Garipov, Vetrov, Wilson 2019, section 3; the values of
// scalable-bayesian-monte-carlo, section 3.5). The loss and the size of a mini-batch are those of the restarts (Search).
type Averaging struct {
	Members   int     `yaml:"members"`       // trajectories. Default 1, from the best restart; of several, each has a restart of its own
	Rate      float64 `yaml:"rate"`          // of SGD; default 5e-4
	Momentum  float64 `yaml:"momentum,zero"` // of SGD, in [0, 1); default 0.9
	Warmup    int     `yaml:"warmup,zero"`   // epochs before the first snapshot; default 25
	Snapshots int     `yaml:"snapshots"`     // of a trajectory, one after every further epoch; default 75
}

// mostEpochs keeps the streams of a trajectory, which follow those of its restart, within the iterations of a stream.
const mostEpochs = rng.MaxIterations / 4

func (a *Averaging) complete() {
	fill(&a.Members, 1)
	fill(&a.Rate, 5e-4)
	fill(&a.Momentum, 0.9)
	fill(&a.Warmup, 25)
	fill(&a.Snapshots, 75)
}

// epochs is the length of a trajectory.
func (a Averaging) epochs() int { return a.Warmup + a.Snapshots }

// check refuses settings that are wrong for any averaging.
func (a Averaging) check(f *config.Faults) {
	f.AtLeast("members", a.Members, 1)
	f.Positive("rate", a.Rate)
	nn.SGD{Momentum: a.Momentum}.Check(f)
	f.Within("warmup", a.Warmup, 0, mostEpochs)
	f.Within("snapshots", a.Snapshots, 1, mostEpochs)
}

// checkWithin refuses a prior that an estimate moves, and another number of restarts than of members.
func (a Averaging) checkWithin(around Around, at string, f *config.Faults) {
	checkUnmoved(strings.TrimPrefix(at, "method.")+" goes on from the restarts as they are", around, f)
	checkMembers(a.needs().Restarts, around, at, f)
}

// checkMembers refuses another number of restarts than members, each of which needs one of its own; 0: any number will do.
func checkMembers(members int, around Around, at string, f *config.Faults) {
	if members > 0 && around.Search != nil && around.Search.Restarts != members {
		f.Conflict([]string{"map.restarts", at + ".members"}, "%s and %d members: each member has a restart of its own, so leave map.restarts out",
			numeral.Several(around.Search.Restarts, "MAP restart"), members)
	}
}

// needs is a restart for each of several members. A single one starts from the best of any number.
func (a Averaging) needs() Needs {
	n := Needs{Search: true, Prior: true}
	if a.Members > 1 {
		n.Restarts = a.Members
	}
	return n
}

// phase is the trajectories. rank is the number of snapshots whose deviations are kept.
func (a Averaging) phase(job *Job, rank int) runs.Phase {
	phase := runs.Phase{Name: "snapshots", SaveEnds: true}
	watch := &averageWatch{of: a.epochs() * a.Members, tell: job.Tell, made: make([]int, a.Members)}
	watch.report()
	for m := range a.Members {
		start := job.Points.starts(m, 1)
		if a.Members == 1 {
			start = job.Points.Best()
		}
		phase.Parts = append(phase.Parts, &average{Averaging: a, search: job.descents, member: m, start: start, rank: rank})
	}
	phase.Watch, phase.Resumed = watch.step, watch.resumed
	return phase
}

// bytes estimates the memory of the trajectories: state and packed state of each, and the epochs at work.
func (a Averaging) bytes(job *Job, members, rank, draws int) int64 {
	d, all := int64(job.Net.Parameters()), int64(members)
	running := min(all, int64(job.Pool.Threads()))
	return sum(
		job.bytes(0),
		product(8, 2, d, all, sum(4, int64(rank))),      // parameters, momentum, mean, squares, deviations
		product(8, d, running, sum(4+2+2, int64(rank))), // the last snapshot on trial, and a draw
		product(8+4+4, d, all, int64(draws)),            // as they are drawn, as an ensemble and its file
	)
}

func (a Averaging) memory(job *Job, at string, rank, draws int) Memory {
	bytes := func(members int) int64 { return a.bytes(job, members, rank, draws) }
	return Memory{Bytes: bytes(a.Members), Scales: []Scale{{
		Field: at + ".members", Now: a.Members, Bytes: bytes, Fits: func(n int) string { return numeral.Several(n, "member") + " would fit" },
	}}}
}

// averageWatch reports the progress of trajectories.
type averageWatch struct {
	of   int // epochs of all trajectories
	tell func(Status)
	made []int // epochs of each
}

func (w *averageWatch) step(l runs.TraceLine) error {
	w.made[l.Part] = l.K
	w.report()
	return nil
}

func (w *averageWatch) resumed(kept []runs.TraceLine) error {
	for _, l := range kept {
		w.made[l.Part] = l.K
	}
	w.report()
	return nil
}

func (w *averageWatch) report() {
	if w.tell == nil {
		return
	}
	done := 0
	for _, n := range w.made {
		done += n
	}
	s := Status{Phase: "snapshots", Share: float64(done) / float64(w.of), Ended: done == w.of}
	if done > 0 {
		s.Long = fmt.Sprintf("%s of %s epochs", numeral.Count(done), numeral.Count(w.of))
		s.Short = s.Long
	}
	w.tell(s)
}

// variance is the variance of a coordinate over the snapshots, (1/T) Σ (θ_t − mean)², never negative.
func variance(square float64, snapshots int) float64 { return math.Max(0, square/float64(snapshots)) }
