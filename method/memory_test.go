package method

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/smc"
)

// What a refusal says would fit does fit, and one more does not.
func TestCheckMemory(t *testing.T) {
	job := newJob(t, 2)
	const limit = 60 << 20
	refused := func(m Method) string {
		return strings.Join(faults(func(f *config.Faults) { job.CheckMemory(m, limit, f) }), "\n")
	}
	islands := SMC{Particles: 8, Islands: 3, Path: smc.Tempering{}, Move: mcmc.HMC{}}
	for _, c := range []struct {
		field, would string
		of           func(n int) Method
	}{
		{"particles", `; (\d+) particles would fit`, func(n int) Method { m := islands; m.Particles = n; return m }},
		{"islands", `; (\d+) islands of 8 would fit`, func(n int) Method { m := islands; m.Islands = n; return m }},
		{"chains", `; (\d+) chains would fit`, func(n int) Method { return MCMC{Chains: n, Epochs: 2, Keep: KeepLast, Move: mcmc.PCN{}} }},
		{"passes", `; (\d+) passes would fit`, func(n int) Method { return Dropout{Passes: n} }},
		{"chains", `; (\d+) chains would fit`, func(n int) Method { return MCMC{Chains: n, Epochs: 200, Keep: 5 * n, Move: mcmc.HMC{Steps: 1}} }},
	} {
		said, at := refused(c.of(200_000)), "method."+Methods.Name(c.of(1))
		first := c.field
		if first == "islands" {
			first = "particles" // the most important of the settings
		}
		match := regexp.MustCompile(c.would).FindStringSubmatch(said)
		if match == nil || !strings.HasPrefix(said, at+"."+first+": the run needs about ") || !strings.HasSuffix(said, "60 MB are available"+said[strings.Index(said, ";"):]) {
			t.Errorf("%s: %q", c.field, said)
			continue
		}
		n, _ := strconv.Atoi(match[1])
		if said := refused(c.of(n)); said != "" {
			t.Errorf("%d %s should fit: %q", n, c.field, said)
		}
		if refused(c.of(n+1)) == "" {
			t.Errorf("%d %s fit, too", n+1, c.field)
		}
	}
	islands.Particles, islands.Islands = 1000, 1 // such that one fits, and not two
	for refused(islands) == "" {
		islands.Particles += 100
	}
	islands.Particles, islands.Islands = islands.Particles-100, 3
	if said, want := refused(islands), fmt.Sprintf("; one island of %d would fit (", islands.Particles); !strings.Contains(said, want) {
		t.Errorf("%q lacks %q", said, want)
	}
	for _, m := range []Method{MAP{}, AsIs{}} {
		if said := refused(m); said != "" {
			t.Errorf("%s: %q", m.Title(), said)
		}
		f := config.NewFaults()
		job.CheckMemory(m, 1<<20, f)
		if all := f.All(); len(all) != 1 || all[0].Path != "model" {
			t.Errorf("%s in 1 MB: %+v", m.Title(), all)
		}
		f = config.NewFaults()
		if job.CheckMemory(m, 0, f); len(f.All()) > 0 {
			t.Errorf("%s without a limit: %+v", m.Title(), f.All())
		}
	}
}

// What a particle takes: smooth annealing has a gradient more, gradients of mini-batches have theirs apart, pCN has none, SGHMC has
// a momentum in its place.
func TestMemoryOfParticles(t *testing.T) {
	job := newJob(t, 1)
	d := int64(job.Net.Dim())
	each := func(path smc.Path, move mcmc.Move) int64 {
		memory := SMC{Particles: 200_000, Islands: 1, Path: path, Move: move}.Memory(job)
		return (memory.Bytes - memory.Scales[0].Bytes(100_000)) / 100_000
	}
	full, sda := smc.Schedule[smc.Full]{Iterations: 3}, smc.SDA{Iterations: 3}
	whole := each(full, mcmc.Unadjusted{})
	for what, c := range map[string]struct{ got, want int64 }{
		"HMC":              {each(smc.Tempering{}, mcmc.HMC{}), whole},
		"smooth annealing": {each(sda, mcmc.Unadjusted{}), whole + 8*4*d},
		"mini-batches":     {each(full, mcmc.Unadjusted{Gradient: &mcmc.MiniBatch{Batch: 5}}), whole - 8*(4-2)*d},
		"pCN":              {each(full, mcmc.PCN{}), whole - 8*4*d},
		"pCN, annealed in": {each(sda, mcmc.PCN{}), whole - 8*4*d},
		"SGHMC":            {each(full, mcmc.SGHMC{Batch: 5}), whole},
		"HMC, written out": {whole, 8*d*(2*2+2*2+1) + 4*3*d + 4*3*d + modelBytes(job)},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d bytes a particle of %d parameters, want %d", what, c.got, d, c.want)
		}
	}
	// Three islands of two threads' four: those that wait keep their state, those that run have more.
	job = newJob(t, 2)
	m := SMC{Particles: 100_000, Islands: 4, Path: full, Move: mcmc.HMC{}}
	memory := m.Memory(job)
	tuned, _ := m.Move.Memory(m.Particles, int(d)) // the scale is small, but counts: in the state, and packed
	if got, want := memory.Bytes-memory.Scales[1].Bytes(3), int64(100_000)*d*(8*2*2+4*3)+8*2*int64(tuned); got != want {
		t.Errorf("an island that waits takes %d bytes, want %d", got, want)
	}
	// States that chains keep: they grow, are packed, and are gathered in float32, in place of the particles.
	chains := func(keep int) int64 {
		return MCMC{Chains: 2, Keep: keep, Epochs: 1 << 40, Move: mcmc.PCN{}}.Memory(job).Bytes
	}
	// They are compared by their predictions for 64 inputs at a time, and their probabilities ranked on two threads.
	compared := int64(4*64*job.Net.Outputs() + (128+8*job.Net.Classes())*2)
	if got, want := chains(2_000_000)-chains(1_000_000), int64(1_000_000)*(d*(8*3+4*3)+compared); got != want {
		t.Errorf("states that are kept: %d bytes, want %d", got, want)
	}
}

// States that islands keep beside the present ones: they grow, are packed, and are gathered in float32 in place of the particles.
func TestMemoryOfKeptStates(t *testing.T) {
	job := newJob(t, 1)
	d, particles := int64(job.Net.Dim()), int64(1000)
	of := func(k smc.Keeper) int64 {
		return SMC{Particles: int(particles), Islands: 1, Path: smc.Schedule[smc.Full]{Iterations: 50}, Move: mcmc.Unadjusted{}, Keep: k}.Memory(job).Bytes
	}
	last := of(nil)
	for what, c := range map[string]struct {
		keep smc.Keeper
		want int64
	}{
		"last":   {smc.Last{}, 0},
		"best":   {smc.Best{}, particles * d * 8 * 3},
		"after":  {smc.After{Iterations: 20}, 30*particles*d*8*3 + 29*particles*d*4*3},
		"spread": {smc.Spread{States: 5000}, 5*particles*d*8*3 + 4*particles*d*4*3},
	} {
		if got := of(c.keep) - last; got != c.want {
			t.Errorf("%s: %d bytes more than the last state alone, want %d", what, got, c.want)
		}
	}
}

// modelBytes is what the models take for a particle more, on one thread.
func modelBytes(job *Job) int64 {
	return int64(job.Net.Scratch(200_000)-job.Net.Scratch(100_000)) / 100_000
}

// Data count with all their parts, and a search with its restarts.
func TestMemoryOfTheRest(t *testing.T) {
	job := newJob(t, 1)
	memory := func(m Method) int64 { return m.Memory(job).Bytes }
	before := memory(AsIs{})
	job.Data.Groups = []data.Group{{Set: &data.Set{U8: make([]uint8, 1000)}}, {Set: blobs(1, 10)}}
	job.Data.Validate = nil
	if got, want := memory(AsIs{})-before, int64(1000+4*60-4*30*6); got != want {
		t.Errorf("groups in place of the validation examples: %d bytes more, want %d", got, want)
	}
	// A thread more has the network's scratch once, for the models of training and of validation.
	two := newJob(t, 2)
	if got, want := (AsIs{}).Memory(two).Bytes-(AsIs{}).Memory(newJob(t, 1)).Bytes, int64(two.Net.Scratch(0)); got != want {
		t.Errorf("a thread takes %d bytes, want %d", got, want)
	}
	before = memory(MAP{})
	job.Search = &Search{Restarts: 10}
	if got, want := memory(MAP{})-before, 8*int64(job.Net.Dim())*(5*10+4); got != want {
		t.Errorf("a search takes %d bytes, want %d", got, want)
	}
	for n, want := range map[int64]string{1 << 20: "1 MB", 60 << 20: "60 MB", 10<<30 - 1: "10240 MB", 10 << 30: "10 GB"} {
		if got := bytesText(n, math.Ceil); got != want {
			t.Errorf("%d bytes are %s, want %s", n, got, want)
		}
	}
	if needs, has := bytesText(200<<20+2, math.Ceil), bytesText(200<<20+1, math.Floor); needs == has {
		t.Errorf("%s are needed, but only %s are available", needs, has)
	}
}

// Settings that a config may have, but whose product no int64 holds, are refused as any others that are too large; so are
// those of chains and of a search.
func TestMemoryDoesNotOverflow(t *testing.T) {
	job := newJob(t, 2)
	var err error
	job.Net, err = nn.New([]int{5}, []nn.Layer{nn.Dense{Units: 20000}, nn.Tanh, nn.Dense{Units: 3}}, nn.Categorical{})
	if err != nil {
		t.Fatal(err)
	}
	searched := *job
	searched.Search = &Search{Restarts: math.MaxInt}
	for _, c := range []struct {
		job    *Job
		method Method
	}{
		{job, SMC{Particles: rng.MaxParticles, Islands: rng.MaxIslands, Path: smc.Tempering{}, Move: mcmc.HMC{}}},
		{job, SMC{Particles: rng.MaxParticles, Islands: rng.MaxIslands, Path: smc.SDA{}, Move: mcmc.Unadjusted{}}},
		{job, MCMC{Chains: rng.MaxIslands, Epochs: math.MaxInt, Keep: math.MaxInt, Move: mcmc.HMC{Steps: 1}}},
		{&searched, MAP{}},
	} {
		said := faults(func(f *config.Faults) { c.job.CheckMemory(c.method, math.MaxInt64-1, f) })
		if len(said) != 1 || !strings.Contains(said[0], "needs more than 8589934592 GB of memory") {
			t.Errorf("%T: %q", c.method, said)
		}
	}
}

func TestSizes(t *testing.T) {
	const most = math.MaxInt64
	for _, c := range []struct{ got, want int64 }{
		{sum(), 0}, {sum(1, 2, 3), 6}, {sum(most, 0), most}, {sum(most-1, 1), most}, {sum(most-1, 2), most}, {sum(most, most, most), most},
		{product(), 1}, {product(2, 3, 7), 42}, {product(1<<31, 1<<31), 1 << 62}, {product(1<<31, 1<<31, 2), most}, {product(1<<40, 1<<40), most},
		{product(1<<40, 1<<40, 0), 0}, {product(0, most, most), 0}, {product(most, 1), most}, {product(most, most), most},
	} {
		if c.got != c.want {
			t.Errorf("%d, want %d", c.got, c.want)
		}
	}
}

// A number of particles that the method refuses is not said to fit: not one, and not so few that tempering would leave one.
func TestMemoryNamesNothingThatIsRefused(t *testing.T) {
	job := newJob(t, 1)
	m := SMC{Particles: 1000, Islands: 1, Path: smc.Tempering{}, Move: mcmc.HMC{}, Combine: bnn.Equal{}}
	for fewest, share := range map[int]float64{2: 0.9, 3: 0.5, 11: 0.1} {
		m.Path = smc.Tempering{ESS: share}
		for n := 1; n <= 12; n++ {
			fits := m
			fits.Particles = n
			said := faults(func(f *config.Faults) { job.CheckMemory(m, fits.Memory(job).Bytes, f) })
			refused := faults(func(f *config.Faults) {
				fits.Check(f)
				fits.Settle(Around{}, f)
			})
			named := strings.Contains(strings.Join(said, "\n"), "particles would fit")
			if named != (n >= fewest) || named != (refused == nil) {
				t.Errorf("%d particles at an ESS of %v: %q; with them %q", n, share, said, refused)
			}
		}
	}
}

// Where fewer threads fit, they are what does not: the refusal names them alone, and so many do fit.
func TestMemoryOfThreads(t *testing.T) {
	few, many := newJob(t, 1), newJob(t, 4000)
	const limit = 60 << 20
	m := SMC{Particles: 8, Islands: 3, Path: smc.Tempering{}, Move: mcmc.HMC{}}
	if said := faults(func(f *config.Faults) { few.CheckMemory(m, limit, f) }); said != nil {
		t.Fatalf("on one thread: %q", said)
	}
	said := strings.Join(faults(func(f *config.Faults) { many.CheckMemory(m, limit, f) }), "\n")
	match := regexp.MustCompile(`^: on 4,000 threads the run needs about \d+ MB of memory, but only 60 MB are available; (\d+) threads would fit \(--threads;`).FindStringSubmatch(said)
	if match == nil {
		t.Fatalf("on 4,000 threads: %q", said)
	}
	n, _ := strconv.Atoi(match[1])
	for more, fits := range []bool{true, false} {
		if (m.Memory(many.on(n+more)).Bytes <= limit) != fits {
			t.Errorf("on %d threads the run fits: %v", n+more, !fits)
		}
	}
	m.Particles = 200_000
	if said := strings.Join(faults(func(f *config.Faults) { many.CheckMemory(m, limit, f) }), "\n"); strings.Contains(said, "thread") ||
		!strings.Contains(said, "method.smc.particles") {
		t.Errorf("too many particles for one thread: %q", said)
	}
}

// The kernel of SVGD and its distances, 3J²/2 numbers, count as memory.
func TestMemoryOfSVGD(t *testing.T) {
	job := newJob(t, 1)
	bytes := func(n int) float64 { return float64(SVGD{Particles: n}.Settle(Around{}, unheard()).Memory(job).Bytes) }
	const n = 20_000 // more than a task has
	if second := (bytes(3*n) - 2*bytes(2*n) + bytes(n)) / (n * n); !(math.Abs(second-2*12) < 0.1) {
		t.Errorf("memory grows as %v J² bytes, want 12", second/2)
	}
}
