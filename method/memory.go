package method

import (
	"fmt"
	"math"
	"strings"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/safetensors"
	"github.com/starling-smc/starling/smc"
)

// bytes estimates the largest number of bytes that islands of particles have in use at the same time, including kept states.
// A particle has D parameters, and s numbers of 8 bytes for each of them: s = 2 for the parameter and the likelihood's
// gradient, 3 where examples are annealed in, which have a gradient of their own, and 1 for moves without gradients; one more
// for moves that keep momenta. Then
//
//	every island that has begun   state s, packed for the checkpoint s
//	and those that run            state before the step s, proposal s, momentum 1
//
// J·D each; what is learned, with its two moments, and what the move tunes, as often as the state; and the move's scratch
// memory. Measured peaks of five runs of 0.1 to 0.8 GB were 0.91 to 1.06 of it (docs/benchmarks.md, section 5).
func (s *Sampling) bytes(job *Job, islands, particles, kept int) int64 {
	d, threads := int64(job.Net.Dim()), int64(job.Pool.Threads())
	numbers := s.numbers()
	tuned, scratch := s.Move.Memory(particles, int(d))
	all, running := int64(islands), min(int64(islands), threads)
	jd, states := product(int64(particles), d), product(int64(kept), all)
	return sum(
		job.bytes(particles),
		product(8, jd, sum(product(2, numbers, all), product(2*numbers+1, running))),
		product(8, sum(product(int64(tuned), sum(product(2, all), running)), product(int64(scratch), running))),
		product(8, int64(job.Net.Learned()), 3, sum(product(2, all), running)),
		product(8, d, states, 3),                                 // as they grow, and packed
		product(4, 3, jd, running),                               // while they are scored
		product(4, 3, max(product(all, jd), product(states, d))), // as an ensemble and its file
		s.comparisonBytes(job, max(states, all)),
	)
}

// numbers is s of bytes.
func (s *Sampling) numbers() int64 {
	numbers := int64(1)
	if s.Move.Traits().Needs.Gradient {
		numbers = 2
		if s.Path.Traits().AnnealsIn {
			numbers = 3
		}
	}
	if s.Move.Traits().Needs.Momentum {
		numbers++
	}
	return numbers
}

// onDisk adds to an estimate what lies on the disk if kept states are moved to files. held is the number of states that an island keeps.
func (s *Sampling) onDisk(m Memory, job *Job, k smc.Keeper, held int) Memory {
	d := int64(job.Net.Dim())
	tuned, _ := s.Move.Memory(s.Particles, int(d))
	m.Kept, m.Field = held/s.Particles, "keep"
	m.If = func(kept int) (disk, saved int64) {
		held := kept * s.Particles
		return diskBytes(job, k, s.Islands, held), product(8, int64(s.Islands), sum(
			product(s.numbers(), int64(s.Particles), d), int64(tuned), product(3, int64(job.Net.Learned())),
			product(int64(inFiles(job, k, s.Particles, held)), d), product(2, int64(held)), // states not yet in a file; log-likelihoods and log-weights of all
		))
	}
	m.Disk, m.Saved = m.If(m.Kept)
	if m.Disk > 0 {
		m.Short = m.Disk / int64(filed(k).Bytes()) * int64(safetensors.BFloat16.Bytes())
	}
	return m
}

// comparisonBytes is the memory for the comparison of chains by their kept states: the outputs of all, for some inputs at a time,
// and on each thread what a prediction takes for a state: the probabilities of the classes, and the ranking.
func (s *Sampling) comparisonBytes(job *Job, states int64) int64 {
	if !s.Chains() {
		return 0
	}
	const ranking = 128
	few := int(min(states, math.MaxInt32)) // more do not fit in any memory
	return sum(bnn.ParticlesBytes(few, job.Net.Outputs(), eval.ComparedInputs), product(int64(ranking+8*job.Net.Classes()), states, int64(job.Pool.Threads())))
}

// programBytes is the memory of the program before any work: its code and the built-in data.
const programBytes = 32 << 20

// bytes estimates the memory of a job without its method: program, data, network and search. particles is the number of
// parameter vectors that the network evaluates at a time.
func (j *Job) bytes(particles int) int64 {
	d, threads := int64(j.Net.Parameters()), int64(j.Pool.Threads())
	total := sum(programBytes, problemBytes(j.Data))
	total = sum(total, product(2, threads, int64(j.Net.Scratch(particles)))) // the models of training, and of validation
	if s := j.Search; s != nil {
		restarts := int64(s.Restarts)
		total = sum(total, product(8, d, sum(product(5, restarts), product(4, min(restarts, threads))))) // the present state, the best, the packed one, and the ensemble
	}
	return total
}

func problemBytes(p *data.Problem) (total int64) {
	sets := []*data.Set{p.Train, p.Validate, p.Test}
	for _, g := range p.Groups {
		sets = append(sets, g.Set)
	}
	for _, s := range sets {
		if s != nil {
			total = sum(total, int64(len(s.U8)), product(4, int64(len(s.F32)+len(s.Labels)+len(s.Values))))
		}
	}
	return total
}

// CheckMemory refuses a method that will need more than limit bytes, and says which settings would fit; 0 is no limit. at is
// the path of the method in a config. If fewer threads would fit, they are all that it names: no result depends on them.
func (j *Job) CheckMemory(m Method, limit int64, at string, f *config.Faults) {
	memory := m.Memory(j)
	if limit <= 0 || memory.Bytes <= limit {
		return
	}
	text := fmt.Sprintf("the run needs %s of memory, but only %s are available", needed(memory.Bytes), bytesText(limit, math.Floor))
	if n := largest(j.Pool.Threads(), func(n int) bool { return m.Memory(j.on(n)).Bytes <= limit }); n > 0 {
		f.Add("", "on %s %s; %s would fit (--threads; GOMEMLIMIT sets another limit)",
			numeral.Several(j.Pool.Threads(), "thread"), text, numeral.Several(n, "thread"))
		return
	}
	field := "model"
	for i, s := range memory.Scales {
		if i == 0 {
			field = at + "." + s.Field
		}
		if n := largest(s.Now, func(n int) bool { return s.Bytes(n) <= limit }); n > 0 && (s.Takes == nil || s.Takes(n)) {
			text += "; " + s.Fits(n)
		}
	}
	f.Add(field, "%s (GOMEMLIMIT sets another limit)", text)
}

// CheckDisk refuses a method whose kept states and checkpoints will not fit in the free bytes of a disk, and says how many would.
func (j *Job) CheckDisk(m Method, free int64, at string, f *config.Faults) {
	memory := m.Memory(j)
	need := func(iterations int) int64 {
		disk, saved := memory.If(iterations)
		return sum(product(2, disk), product(3, saved))
	}
	if memory.Disk == 0 || need(memory.Kept) <= free {
		return
	}
	var mends []string
	if n := largest(memory.Kept, func(n int) bool { return need(n) <= free }); n > 0 {
		mends = append(mends, fmt.Sprintf("keep fewer (those of %s of %s would fit)", numeral.Count(n), numeral.Several(memory.Kept, "iteration")))
	}
	if memory.Short < memory.Disk && sum(product(2, memory.Short), product(3, memory.Saved)) <= free {
		mends = append(mends, "keep them as: bfloat16")
	}
	if mends == nil {
		mends = append(mends, fmt.Sprintf("not even those of one iteration would fit, which need %s: take fewer particles or islands", needed(need(1))))
	}
	f.Add(at+"."+memory.Field, "the states that are kept need %s of the disk while the run ends, its checkpoints included, and only %s are free there: %s, or name a folder on another disk with --out",
		needed(need(memory.Kept)), bytesText(free, math.Floor), strings.Join(mends, ", or "))
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
