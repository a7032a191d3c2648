package method

import (
	"fmt"
	"math"
	"strings"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/pool"
)

// CheckLoading refuses to load examples if the program will need more than limit bytes while they are read; 0 is no limit.
// What is only needed meanwhile, such as a table, is garbage when the method begins: CheckMemory does not count it.
func CheckLoading(bytes, limit int64, f *config.Faults) {
	f.If(limit > 0 && programBytes+bytes > limit, "", "to read the examples, the run needs about %s of memory, but only %s are available (GOMEMLIMIT sets another limit)",
		bytesText(programBytes+bytes, math.Ceil), bytesText(limit, math.Floor))
}

// Plan is a method that suits the data, the network and the memory.
type Plan struct {
	Method Method            // with every default
	Way    Method            // the one that is carried out (Way)
	Memory Memory            // of it
	Short  []finding.Finding // what can be foreseen: a budget that is too short
}

// Plan settles a method by the data and the network, and refuses one that they do not suit, or that will need more than limit bytes of
// memory; 0 is no limit. Fields are named from the config's root.
func (j *Job) Plan(m Method, around Around, limit int64, f *config.Faults) Plan {
	n := j.Data.Train.Len()
	p := Plan{Method: settleWith(m, around, Sizes{n, j.Net.Dim(), float64(n) * j.Net.Flops()}, f)}
	p.Way = Way(p.Method, j.Anchor, j.Search)
	if s := p.Way.Sampling(); s != nil {
		p.Short = s.Foresee(j.Net.Dim())
	}
	p.Memory = j.CheckMemory(p.Way, limit, f)
	return p
}

// settleWith is that of a Sized method; others stay as they are.
func settleWith(m Method, around Around, s Sizes, f *config.Faults) Method {
	if sized, ok := m.(Sized); ok {
		return sized.SettleWith(around, s, f)
	}
	return m
}

// Way returns the method that is carried out for a method whose prior has an anchor. At s = 0 an anchored posterior is its anchor alone,
// and there is nothing to sample.
func Way(m Method, anchor *bnn.Anchor, search *Search) Method {
	switch {
	case !anchor.Point():
		return m
	case search != nil:
		return MAP{}
	}
	return AsIs{}
}

// CheckMemory refuses a method that will need more than limit bytes, and says which settings would fit; 0 is no limit. If
// fewer threads would fit, they are all that it names: no result depends on them. It returns the estimate.
func (j *Job) CheckMemory(m Method, limit int64, f *config.Faults) Memory {
	memory := m.Memory(j)
	if limit <= 0 || memory.Bytes <= limit {
		return memory
	}
	text := fmt.Sprintf("the run needs %s of memory, but only %s are available", needed(memory.Bytes), bytesText(limit, math.Floor))
	if n := largest(j.Pool.Threads(), func(n int) bool { return m.Memory(j.on(n)).Bytes <= limit }); n > 0 {
		f.Add("", "on %s %s; %s would fit (--threads; GOMEMLIMIT sets another limit)",
			numeral.Several(j.Pool.Threads(), "thread"), text, numeral.Several(n, "thread"))
		return memory
	}
	field := "model"
	for i, s := range memory.Scales {
		if i == 0 {
			field = s.Field
		}
		if n := largest(s.Now, func(n int) bool { return s.Bytes(n) <= limit }); n > 0 && (s.Takes == nil || s.Takes(n)) {
			text += "; " + s.Fits(n)
		}
	}
	f.Add(field, "%s (GOMEMLIMIT sets another limit)", text)
	return memory
}

// CheckDisk refuses a run whose kept states and checkpoints will not fit in the free bytes of a disk, and says how many would.
func (m Memory) CheckDisk(free int64, f *config.Faults) {
	need := func(iterations int) int64 {
		disk, saved := m.If(iterations)
		return sum(product(2, disk), product(3, saved))
	}
	if m.Disk == 0 || need(m.Kept) <= free {
		return
	}
	var mends []string
	if n := largest(m.Kept, func(n int) bool { return need(n) <= free }); n > 0 {
		mends = append(mends, fmt.Sprintf("keep fewer (those of %s of %s would fit)", numeral.Count(n), numeral.Several(m.Kept, "iteration")))
	}
	if m.Short < m.Disk && sum(product(2, m.Short), product(3, m.Saved)) <= free {
		mends = append(mends, "keep them as: bfloat16")
	}
	if mends == nil {
		mends = append(mends, fmt.Sprintf("not even those of one iteration would fit, which need %s: take fewer particles or islands", needed(need(1))))
	}
	f.Add(m.Field, "the states that are kept need %s of the disk while the run ends, its checkpoints included, and only %s are free there: %s, or name a folder on another disk with --out",
		needed(need(m.Kept)), bytesText(free, math.Floor), strings.Join(mends, ", or "))
}

// on is the job on another number of threads.
func (j *Job) on(threads int) *Job {
	other := *j
	other.Pool = pool.New(threads)
	return &other
}

// largest is the largest number from 1 to n−1 for which ok holds; 0 if there is none. ok must hold up to some number and not
// beyond.
func largest(n int, ok func(n int) bool) int {
	low, high := 0, n
	for high-low > 1 {
		if mid := low + (high-low)/2; ok(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// needed says how many bytes an estimate is, as far as numbers go.
func needed(n int64) string {
	if n == math.MaxInt64 {
		return "more than " + bytesText(n, math.Ceil)
	}
	return "about " + bytesText(n, math.Ceil)
}

// bytesText writes a number of bytes in MB or GB. What is needed is rounded up, and what there is down: they never look equal.
func bytesText(n int64, round func(float64) float64) string {
	if n < 10<<30 {
		return fmt.Sprintf("%.0f MB", round(float64(n)/(1<<20)))
	}
	return fmt.Sprintf("%.0f GB", round(float64(n)/(1<<30)))
}
