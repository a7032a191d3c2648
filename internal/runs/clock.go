package runs

import (
	"sync"
	"time"
)

// clock measures the seconds of the work, without those of the evaluation and without the pauses between the processes of
// a run. The zero clock begins when it is first asked.
type clock struct {
	now func() time.Time // nil: time.Now

	turn       sync.Mutex // for all that follows
	counted    time.Time  // what came before is in work and evaluation
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

// count divides the time up to now. Parts that go on side by side share the threads evenly, so that the evaluation takes
// the share of the parts that evaluate. The lock is held.
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

// share says how many parts share the threads from now on.
func (c *clock) share(parts int) {
	c.turn.Lock()
	defer c.turn.Unlock()
	c.count()
	c.sharing = parts
}

// step says that so many more parts evaluate from now on; −1: that one works again.
func (c *clock) step(aside int) {
	c.turn.Lock()
	defer c.turn.Unlock()
	c.count()
	c.aside += aside
}

// read returns the time of the work and of the evaluation so far, those of other processes included.
func (c *clock) read() (work, evaluation time.Duration) {
	c.turn.Lock()
	defer c.turn.Unlock()
	c.count()
	return c.work, c.evaluation
}
