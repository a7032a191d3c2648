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
	tuned, scratch := s.moveMemory(particles, int(d))
	all, running := int64(islands), min(int64(islands), threads)
	jd, states := product(int64(particles), d), product(int64(kept), all)
	return sum(
		job.bytes(particles),
		product(8, jd, sum(product(2, numbers, all), product(2*numbers+1, running))),
		product(8, sum(product(int64(tuned), sum(product(2, all), running)), product(int64(scratch), running))),
		s.priorBytes(all, d),
		product(8, int64(job.Net.Learned()), 3, sum(product(2, all), running)),
		product(8, d, states, 3),                                 // as they grow, and packed
		product(4, 3, jd, running),                               // while they are scored
		product(4, 3, max(product(all, jd), product(states, d))), // as an ensemble and its file
		s.comparisonBytes(job, max(states, all)),
	)
}

// moveMemory is what the move holds for an island. Chains that share what they learn have it once, as one chain has, and ascend one by one.
func (s *Sampling) moveMemory(particles, d int) (tuned, scratch int) {
	tuned, scratch = s.Move.Memory(particles, d)
	if s.Chains() {
		once, one := s.Move.Memory(1, d)
		return once, max(scratch, one)
	}
	return tuned, scratch
}

// priorBytes are those of the priors where each island has its own: mean, variance and precision of each coordinate.
func (s *Sampling) priorBytes(islands, d int64) int64 {
	if !s.apart {
		return 0
	}
	return product(8, 3, islands, d)
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

// memory estimates the memory of islands that keep states as k says, and what lies on the disk if these are moved to files. takes reports
// whether an island may have so many particles.
func (s *Sampling) memory(job *Job, k smc.Keeper, takes func(particles int) bool) Memory {
	held := func(particles int) int { return smc.Held(k, s.Whole, particles, job.Data.Train.Len()) }
	bytes := func(islands, particles int) int64 {
		return s.bytes(job, islands, particles, inFiles(job, k, particles, held(particles)))
	}
	m := Memory{Bytes: bytes(s.Islands, s.Particles), Field: s.at + ".keep", Kept: held(s.Particles) / s.Particles, Scales: []Scale{{
		Field: s.at + ".particles", Now: s.Particles, Bytes: func(n int) int64 { return bytes(s.Islands, n) }, Takes: takes,
		Fits: func(n int) string { return fmt.Sprintf("%d particles would fit", n) },
	}}}
	if s.Islands > 1 {
		m.Scales = append(m.Scales, Scale{
			Field: s.at + ".islands", Now: s.Islands, Bytes: func(n int) int64 { return bytes(n, s.Particles) }, Fits: func(n int) string {
				if n == 1 {
					return fmt.Sprintf("one island of %d would fit", s.Particles)
				}
				return fmt.Sprintf("%d islands of %d would fit", n, s.Particles)
			},
		})
	}
	d := int64(job.Net.Dim())
	tuned, _ := s.moveMemory(s.Particles, int(d))
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

// inFiles is how many of an island's kept states are in memory at a time, at most.
func inFiles(job *Job, k smc.Keeper, particles, kept int) int {
	if !job.Files || filed(k) == "" {
		return kept
	}
	return min(kept, shardBytes/(safetensors.Float32.Bytes()*job.Net.Dim())+particles)
}

// diskBytes are the bytes of the states of all islands that are kept in files.
func diskBytes(job *Job, k smc.Keeper, islands, kept int) int64 {
	if !job.Files || filed(k) == "" {
		return 0
	}
	return product(int64(islands), int64(kept), int64(job.Net.Dim()), int64(filed(k).Bytes()))
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
	networks := int64(1) // whose models share a thread's memory: those of training, validation and the test examples
	if j.Net.Partly() {
		networks = 2 // points are searched for all parameters: that is a network of its own
	}
	total := sum(programBytes, problemBytes(j.Data), product(networks, threads, int64(j.Net.Scratch(particles))))
	if s := j.Search; s != nil {
		restarts := int64(s.Restarts)
		total = sum(total, product(8, d, sum(product(5, restarts), product(4, min(restarts, threads))))) // the present state, the best, the packed one, and the ensemble
	}
	return total
}

func problemBytes(p *data.Problem) (total int64) {
	for _, part := range p.Parts() {
		s := part.Set
		total = sum(total, int64(len(s.U8)), product(2, int64(len(s.F16))), product(4, int64(len(s.F32)+len(s.At)+len(s.Labels)+len(s.Values))))
	}
	return total
}

// CheckLoading refuses to load examples if the program will need more than limit bytes while they are read; 0 is no limit.
// What is only needed meanwhile, such as a table, is garbage when the method begins: CheckMemory does not count it.
func CheckLoading(bytes, limit int64, f *config.Faults) {
	if limit > 0 && programBytes+bytes > limit {
		f.Lacks("", "to read the examples, the run needs about %s of memory, but only %s are available (GOMEMLIMIT sets another limit)",
			bytesText(programBytes+bytes, math.Ceil), bytesText(limit, math.Floor))
	}
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
		f.Lacks("", "on %s %s; %s would fit (--threads; GOMEMLIMIT sets another limit)",
			numeral.Several(j.Pool.Threads(), "thread"), text, numeral.Several(n, "thread"))
		return memory
	}
	field, fits := "model", ""
	for i, s := range memory.Scales {
		if i == 0 {
			field = s.Field
		}
		if n := largest(s.Now, func(n int) bool { return s.Bytes(n) <= limit }); n > 0 && (s.Takes == nil || s.Takes(n)) {
			fits += "; " + s.Fits(n)
		}
	}
	if text += fits; fits == "" && len(memory.Scales) > 0 {
		text += memory.Scales[0].fewest()
	}
	f.Lacks(field, "%s (GOMEMLIMIT sets another limit)", text)
	return memory
}

// fewest says what the smallest setting needs that the method takes, where that does not fit; nothing if the present one is the smallest.
func (s Scale) fewest() string {
	n := 1
	for n < s.Now && s.Takes != nil && !s.Takes(n) {
		n++
	}
	if n >= s.Now {
		return ""
	}
	return fmt.Sprintf("; with %s: %d, the least, it needs %s", s.Field[strings.LastIndex(s.Field, ".")+1:], n, needed(s.Bytes(n)))
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
	f.Lacks(m.Field, "the states that are kept need %s of the disk while the run ends, its checkpoints included, and only %s are free there: %s, or name a folder on another disk with --out",
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
