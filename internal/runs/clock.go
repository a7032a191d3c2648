package runs

import (
	"sync"
	"time"
)

// clock measures the seconds of the work. It leaves out the seconds of the evaluation, and the pauses between the processes
// of a run. The zero clock starts at its first use.
type clock struct {
	now func() time.Time // nil: time.Now

	turn       sync.Mutex // for all that follows
	counted    time.Time  // time before this is counted in work and evaluation
	work       time.Duration
	evaluation time.Duration
	aside      int // parts that evaluate now
	sharing    int // parts that share the threads now; 0: the work is not divided
}

func (c *clock) time() time.Time {
	if c.now == nil {
		return time.Now()
	}
	return c.now()
}

// count divides the time up to now between work and evaluation. Parts that run in parallel share the threads evenly, so the
// evaluation's share is the share of parts that evaluate. The caller holds the lock.
func (c *clock) count() {
	now := c.time()
	if c.counted.IsZero() {
		c.counted = now
	}
	spent := now.Sub(c.counted)
	sharing := max(1, c.sharing)
	evaluation := spent * time.Duration(min(c.aside, sharing)) / time.Duration(sharing)
	c.evaluation += evaluation
	c.work += spent - evaluation
	c.counted = now
}

// share sets how many parts share the threads from now on.
func (c *clock) share(parts int) {
	c.turn.Lock()
	defer c.turn.Unlock()
	c.count()
	c.sharing = parts
}

// step adds to the number of parts that evaluate: 1 where a part begins to evaluate, −1 where it ends.
func (c *clock) step(aside int) {
	c.turn.Lock()
	defer c.turn.Unlock()
	c.count()
	c.aside += aside
}

// read returns the time of the work and of the evaluation so far, including earlier processes of the run.
func (c *clock) read() (work, evaluation time.Duration) {
	c.turn.Lock()
	defer c.turn.Unlock()
	c.count()
	return c.work, c.evaluation
}
