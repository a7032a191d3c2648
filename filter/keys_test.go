package filter

import (
	"testing"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/smc"
	"github.com/starling-smc/starling/ssm"
)

// two is a tracker of two targets of one coordinate each, both scalar. Its measurements tell of the first and of the second in turn.
type two struct{ scalar }

func (two) Dim() int { return 2 }

func (two) Targets() int { return 2 }

func (two) Coordinates() []string { return []string{"x"} }

func (m two) Start(s *ssm.Stream, x []float64) {
	for r := range x {
		m.scalar.Start(s, x[r:r+1])
	}
}

func (m two) Transition(float64) (ssm.Transition, error) { return steps{step{m.scalar}}, nil }

type steps struct{ step }

func (t steps) Sample(s *ssm.Stream, from, x []float64) {
	for r := range x {
		t.step.Sample(s, from[r:r+1], x[r:r+1])
	}
}

func (t steps) LogDensity(from, x []float64) (l float64) {
	for r := range x {
		l += t.step.LogDensity(from[r:r+1], x[r:r+1])
	}
	return l
}

func (t steps) MaxLogDensity() float64 { return 2 * t.step.MaxLogDensity() }

func (m two) Bind(scan *ssm.Scan) (ssm.Likelihood, error) { return turns{m.scalar, scan.Values}, nil }

type turns struct {
	m scalar
	z []float64
}

func (l turns) Len() int { return len(l.z) }

func (l turns) LogLik(x []float64, _ []int32) (sum float64) {
	for i, z := range l.z {
		d := z - l.m.h*x[i%2]
		sum -= 0.5 * (log2Pi + rng.Log(l.m.r) + d*d/l.m.r)
	}
	return sum
}

// measured are scans of a few measurements of both targets; the third has none.
func measured() (scans []*ssm.Scan) {
	for k, z := range [][]float64{{0.4, -1, 0.9}, {1.5, -1.2}, {}, {1.1, -2, 0.7, -1.4}} {
		scans = append(scans, &ssm.Scan{Time: float64(k + 1), Width: 1, Values: z})
	}
	return scans
}

// weightedMethods are filters whose particles have weights.
func weightedMethods(particles int) map[string]Method {
	return map[string]Method{
		"bootstrap": Bootstrap{Particles: particles},
		"always":    Bootstrap{Particles: particles, Resample: smc.Resampler{Scheme: smc.Multinomial{}, When: smc.Always{}}},
		"never":     Bootstrap{Particles: particles, Resample: smc.Resampler{When: smc.Never{}}},
		"auxiliary": Auxiliary{Particles: particles},
	}
}

// Over all scans of two filters that share them no random stream is opened twice: no scan, no step of a chain, none of its decisions,
// no particle, no pass and no filter draws what another has drawn. What is opened for a scan has its number, and the seed and the filter's own.
func TestEveryStreamOfAFilterIsItsOwn(t *testing.T) {
	methods := weightedMethods(600) // of several tasks
	for name, way := range ways {
		way.Particles, way.Burn = 60, 20
		methods[name] = way
	}
	methods["nodes"] = epOf(func(m *EP) { m.Particles, m.Nodes, m.Passes, m.Burn = 60, 3, 3, 20 })
	for name, m := range methods {
		seen := map[rng.Key]bool{}
		for filter := range 2 {
			node := filter * m.Numbers()
			f, err := m.On(Job{Model: two{example1}, Seed: 31, Node: node})
			if err != nil {
				t.Fatal(err)
			}
			var st *State
			note := func(k int, keys []rng.Key) {
				if err != nil {
					t.Fatalf("%s, scan %d: %v", name, k, err)
				}
				if len(keys) == 0 {
					t.Errorf("%s draws nothing for scan %d", name, k)
				}
				for _, key := range keys {
					switch {
					case key.Seed != 31 || key.Island < node || key.Island >= node+m.Numbers() || key.Iteration != k:
						t.Fatalf("%s: filter %d with seed 31 draws for scan %d by %+v", name, node, k, key)
					case seen[key]:
						t.Fatalf("%s: filter %d draws for scan %d once more by %+v", name, node, k, key)
					}
					seen[key] = true
				}
			}
			note(0, rng.Opened(func() { st, err = f.Init(t.Context()) }))
			for k, scan := range measured() {
				note(k+1, rng.Opened(func() { _, err = f.Step(t.Context(), st, scan) }))
			}
		}
	}
}

// A chain decides one question after another by random numbers of their own: each step opens one stream for each kind of decision that it
// makes, and for the refinement of each block.
func TestEveryDecisionHasItsStream(t *testing.T) {
	for name, want := range map[string]int{"joint": 1, "prior": 3, "uniform, walk": 3, "scan, adapted": 3, "all, adapted": 4} {
		m := ways[name]
		m.Particles, m.Burn = 50, 10
		f, err := m.On(Job{Model: two{example1}, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		st, err := f.Init(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		of := map[int]map[int]bool{} // the decisions of each step
		for _, key := range rng.Opened(func() { _, err = f.Step(t.Context(), st, measured()[0]) }) {
			if key.Purpose == rng.Chain {
				if of[key.Particle] == nil {
					of[key.Particle] = map[int]bool{}
				}
				of[key.Particle][key.Mutation] = true
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		for k := range 60 {
			if len(of[k]) != want {
				t.Errorf("%s: step %d decides by %d streams, want %d", name, k, len(of[k]), want)
				break
			}
		}
	}
}
