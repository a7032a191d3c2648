package filtering

import (
	"errors"
	"io"
	"math"
	"testing"

	"github.com/starling-smc/starling/filter"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/scans"
	"github.com/starling-smc/starling/ssm"
)

// drift is a random walk that is measured with noise, both of variance 1.
type drift struct{}

func (drift) Dim() int                                    { return 1 }
func (drift) Start(s *ssm.Stream, x []float64)            { s.Normals(x) }
func (drift) Transition(float64) (ssm.Transition, error)  { return drift{}, nil }
func (drift) Sample(s *ssm.Stream, from, x []float64)     { x[0] = from[0] + s.Normal() }
func (drift) LogDensity(from, x []float64) float64        { return -0.5 * (x[0] - from[0]) * (x[0] - from[0]) }
func (drift) Bind(scan *ssm.Scan) (ssm.Likelihood, error) { return around{scan.Values}, nil }

type around struct{ z []float64 }

func (l around) Len() int { return len(l.z) }

func (l around) LogLik(x []float64, rows []int32) (sum float64) {
	for i, z := range l.z {
		if rows == nil || int(rows[0]) == i {
			sum -= 0.5 * ((z-x[0])*(z-x[0]) + math.Log(2*math.Pi))
		}
	}
	return sum
}

// given gives scans of four measurements.
type given struct{ k, all int }

func (g *given) Next() (*scans.Record, error) {
	if g.k == g.all {
		return nil, io.EOF
	}
	g.k++
	z := math.Sin(float64(g.k))
	return &scans.Record{Scan: ssm.Scan{Time: float64(g.k), Width: 1, Values: []float64{z, z + 1, z - 1, 2 * z}}, Text: "t"}, nil
}

// Two filters of one pass draw by streams of their own, also where they are of one method, and so are the rows that they do not see: no
// stream of a pass is opened twice. The second filter is another sample: its means differ.
func TestFiltersOfAPassDrawApart(t *testing.T) {
	for name, m := range map[string]filter.Method{
		"bootstrap": filter.Bootstrap{Particles: 40}, "smcmc": filter.SMCMC{Particles: 30, Burn: 9, Joint: filter.PriorJoint{}, Index: filter.UniformIndex{}},
		"ep": filter.EP{Nodes: 3, Passes: 2, Particles: 30, Burn: 9, Joint: filter.PriorJoint{}, Index: filter.UniformIndex{}},
	} {
		p := &Pass{
			Model: drift{}, Method: m, Against: m, Job: filter.Job{Seed: 21, Model: drift{}}, Hold: 0.25,
			Open: func(string) (scans.Source, error) { return &given{all: 4}, nil },
		}
		seen, made := map[rng.Key]bool{}, 0
		keys := rng.Opened(func() {
			err := p.Begin(t.Context())
			for err == nil {
				if _, err = p.Step(t.Context()); err == nil {
					made++
				}
			}
			if !errors.Is(err, io.EOF) || made != 4 {
				t.Fatalf("%s: %d scans, %v", name, made, err)
			}
		})
		for _, key := range keys {
			if seen[key] || key.Seed != 21 {
				t.Fatalf("%s: it draws once more by %+v", name, key)
			}
			seen[key] = true
		}
		a, _ := p.state.Moments()
		b, _ := p.other.Moments()
		if a[0] == b[0] || len(keys) == 0 {
			t.Errorf("%s: both filters have the mean %v, by %d streams", name, a[0], len(keys))
		}
	}
}
