package filter

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/ssm"
)

// table is where processes lay down what their nodes have made, as bytes, and wait for the others.
type table struct {
	processes int
	turn      sync.Mutex
	full      *sync.Cond
	there     map[[2]int]int       // processes that have laid theirs down, by scan and pass
	bytes     map[[2]int][][]byte  // of each of four nodes
	spoil     func([]Contribution) // changes what comes back; nil: nothing does
}

func newTable(processes int, spoil func([]Contribution)) *table {
	t := &table{processes: processes, there: map[[2]int]int{}, bytes: map[[2]int][][]byte{}, spoil: spoil}
	t.full = sync.NewCond(&t.turn)
	return t
}

// seat is a process's place at the table.
type seat struct {
	*table
	from int
}

func (s seat) Exchange(_ context.Context, scan, pass int, own []Contribution) (all []Contribution, err error) {
	s.turn.Lock()
	defer s.turn.Unlock()
	round := [2]int{scan, pass}
	if s.bytes[round] == nil {
		s.bytes[round] = make([][]byte, 4)
	}
	for i, c := range own {
		if s.bytes[round][s.from+i], err = c.MarshalBinary(); err != nil {
			return nil, err
		}
	}
	s.there[round]++
	s.full.Broadcast()
	for s.there[round] < s.processes {
		s.full.Wait()
	}
	for _, b := range s.bytes[round] {
		c, err := ReadContribution(b)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	if s.spoil != nil {
		s.spoil(all)
	}
	return all, nil
}

// Nodes in several processes, which hear of each other as bytes alone, leave each of them with the state and the Info of one process: an adapting
// walk, guided draws by a subsample, and a scan that some nodes have nothing of.
func TestEPProcesses(t *testing.T) {
	lines, _ := example1Scans(3, 3, 41)
	m := scene()
	var returns []*ssm.Scan
	for k := range 2 {
		scan := &ssm.Scan{Time: float64(k + 1)}
		m.Measure(rng.Key{Seed: uint64(k), Purpose: rng.Synthetic}.Stream(), []float64{-20, 0, 2, 1, 20, 10, -1, -1}, scan)
		returns = append(returns, scan)
	}
	few := []*ssm.Scan{{Time: 1, Width: 1, Values: []float64{0.3, 0.1}}, {Time: 2, Width: 1, Values: []float64{0.3}}}
	walk := epOf(func(m *EP) { m.Particles, m.Burn, m.Passes, m.Joint = 60, 60, 3, PriorJoint{} })
	subsample := Subsample{}
	subsample.Defaults()
	guided := epOf(func(m *EP) { m.Particles, m.Burn, m.Joint, m.Decide = 60, 30, Guided{}, subsample })
	for name, c := range map[string]struct {
		m     EP
		model ssm.Model
		scans []*ssm.Scan
	}{"walk": {walk, linear{example1}, lines}, "clutter": {guided, m, returns}, "few": {walk, linear{example1}, few}} {
		var want [][]any
		for _, first := range [][]int{{0, 4}, {0, 1, 4}, {0, 0, 1, 2, 3, 4}} {
			place := newTable(len(first)-1, nil)
			got := make([][]any, len(first)-1)
			var all sync.WaitGroup
			for p := range got {
				all.Go(func() {
					job := Job{Model: c.model, Seed: 5, Pool: mcmc.NewPool(1)}
					if len(got) > 1 {
						job.Hosted = Hosted{first[p], first[p+1], seat{place, first[p]}}
					}
					f, err := c.m.On(job)
					if err != nil {
						t.Error(err)
						return
					}
					st, err := f.Init(t.Context())
					for _, scan := range c.scans {
						var info Info
						if err == nil {
							info, err = f.Step(t.Context(), st, scan)
						}
						if err != nil {
							t.Errorf("%s: %v", name, err)
							return
						}
						b, _ := st.MarshalBinary()
						got[p] = append(got[p], b, infoText(info))
					}
				})
			}
			all.Wait()
			if want == nil {
				want = got
			}
			for p := range got {
				if !reflect.DeepEqual(got[p], want[0]) {
					t.Errorf("%s: process %d of %v has another state or Info", name, p, first)
				}
			}
		}
	}
}

// What other nodes send may not fit, and is refused by name; a fault of a node elsewhere is that of a scan of one process.
func TestEPForeignContributions(t *testing.T) {
	scans, _ := example1Scans(1, 1, 20)
	step := func(spoil func([]Contribution)) error {
		place := newTable(1, spoil)
		f, err := epOf(func(m *EP) { m.Particles = 40 }).On(Job{Model: linear{example1}, Seed: 3, Hosted: Hosted{0, 4, seat{place, 0}}})
		if err != nil {
			t.Fatal(err)
		}
		st, err := f.Init(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.Step(t.Context(), st, scans[0])
		return err
	}
	if err := step(nil); err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(c *contribution){
		"node 2 does not run this filter: it has made a site of 1, 1 and 4 numbers":           func(c *contribution) { c.site.Precision = make([]float64, 4) },
		"node 2 does not run this filter: it has made 3 numbers of particles":                 func(c *contribution) { c.kept = make([]float64, 3) },
		"node 2 does not run this filter: it has made a summary of 0 coordinates":             func(c *contribution) { c.summary = nil },
		"node 2 does not run this filter: it has made walks of 3 numbers, and node 1 some of": func(c *contribution) { c.tuning = make([]float64, 3) },
		"measurement 0 is":   func(c *contribution) { c.fault = &ssm.MeasurementError{Err: errorText("measurement 0 is")} },
		"something is wrong": func(c *contribution) { c.fault = errorText("something is wrong") },
	} {
		err := step(func(all []Contribution) {
			c := all[1].(*contribution)
			spoil(c)
			b, _ := c.MarshalBinary()
			all[1], _ = ReadContribution(b)
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	var b []byte
	step(func(all []Contribution) { b, _ = all[0].MarshalBinary() })
	for i := range b {
		damaged := append([]byte{}, b...)
		damaged[i] ^= 1
		if _, err := ReadContribution(damaged); err == nil {
			t.Fatalf("byte %d is damaged, and nobody sees it", i)
		}
	}
	for want, h := range map[string]Hosted{
		"EP: nodes 3 to 4 are said to be here, and there are 4":                                       {3, 5, Here{}},
		"EP: some of the nodes are elsewhere, and nothing says how to hear of them":                   {0, 2, nil},
		"EP: only EP of two nodes or more has nodes in several processes, and this method is another": {},
	} {
		m := epOf(func(m *EP) { m.Particles = 40 })
		if h == (Hosted{}) {
			m.Nodes, h, want = 1, Hosted{0, 1, Here{}}, "only EP of two nodes or more has nodes in several processes"
		}
		if _, err := m.On(Job{Model: linear{example1}, Hosted: h}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

type errorText string

func (e errorText) Error() string { return string(e) }

// Measurements that the model leaves out are counted once, whichever node has them.
func TestEPDropped(t *testing.T) {
	m := scene()
	m.Outside = "drop"
	scan := &ssm.Scan{Time: 1, Width: 2}
	for i := range 40 {
		scan.Values = append(scan.Values, -20+float64(i%5)/5, float64(i%3)/3, 200, float64(i))
	}
	filtered(t, epOf(func(m *EP) { m.Particles, m.Burn = 80, 20 }), Job{Model: m, Seed: 2}, []*ssm.Scan{scan}, func(_ int, _ *State, info Info) {
		if info.Dropped != 40 {
			t.Errorf("%d measurements are left out, not 40", info.Dropped)
		}
	})
}

// infoText is an Info as text, with what it points to.
func infoText(info Info) string {
	text := fmt.Sprintf("%+v %+v %+v", info.Nodes, info.Seen, info.BySum)
	info.Nodes, info.Seen, info.BySum = nil, nil, nil
	return text + fmt.Sprintf("%+v", info)
}
