package filtering

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/starling-smc/starling/cluster"
	"github.com/starling-smc/starling/filter"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/scans"
	"github.com/starling-smc/starling/ssm"
)

// grouped is a filter of four nodes, and its scans. Some of these no filter can use.
type grouped struct {
	model ssm.Model
	scans []scans.Record
	ep    filter.EP
}

// list is a source of scans.
type list struct{ rest []scans.Record }

func (l *list) Next() (*scans.Record, error) {
	if len(l.rest) == 0 {
		return nil, io.EOF
	}
	rec := l.rest[0]
	rec.Values = slices.Clone(rec.Values)
	l.rest = l.rest[1:]
	return &rec, nil
}

func groupsOf(t *testing.T) map[string]grouped {
	t.Helper()
	line := ssm.LinearGaussian{
		Interval: 1, A: [][]float64{{0.9}}, Q: [][]float64{{0.5}}, H: [][]float64{{1}}, R: [][]float64{{2}},
		Initial: &ssm.Initial{Mean: []float64{0}, SD: []float64{1}}, Returns: 30,
	}
	clutter := ssm.Clutter{
		Acceleration: 0.5, Returns: ssm.Returns{Rate: 20, SD: 1}, Background: ssm.Background{Rate: 30, Region: [4]float64{-50, 50, -50, 50}},
		Initial: []ssm.Initial{{Mean: []float64{-20, 0, 2, 1}, SD: []float64{1, 1, 0.5, 0.5}}, {Mean: []float64{20, 10, -1, -1}, SD: []float64{1, 1, 0.5, 0.5}}},
	}
	clutter.Defaults()
	dark := clutter
	dark.Returns.Rate = 0 // no return comes from outside the region
	all := map[string]grouped{}
	for name, m := range map[string]ssm.Model{"line": line, "clutter": clutter, "dark": dark} {
		ep := filter.EP{Nodes: 4, Passes: 3, Particles: 60, Burn: 20}
		ep.Defaults()
		g := grouped{model: m, ep: ep.SettleFor(m).(filter.EP)}
		source := scans.NewSimulated(m.(ssm.Simulator), 7, 5)
		for {
			rec, err := source.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			g.scans = append(g.scans, *rec)
		}
		again, none, far := g.scans[1], g.scans[2], g.scans[2]
		none.Values, far.Values = slices.Clone(none.Values), slices.Clone(far.Values)
		none.Values[len(none.Values)-1] = math.NaN()
		g.scans = slices.Insert(g.scans, 2, again, none)
		if name == "dark" {
			far.Values[2], far.Values[3] = 1e9, 1e9
			g.scans = slices.Insert(g.scans, 2, far)
		}
		all[name] = g
	}
	return all
}

// pass is the pass of one process.
func (g grouped) pass(group *Group, told *strings.Builder) *Pass {
	return &Pass{
		Model: g.model, Method: g.ep, Job: filter.Job{Model: g.model, Seed: 5, Pool: mcmc.NewPool(1)}, Hold: 0.2, Skip: true, Group: group,
		Open: func(string) (scans.Source, error) { return &list{g.scans}, nil },
		Emit: func(l *Line) error {
			b, err := json.Marshal(l)
			fmt.Fprintf(told, "%s\n", b)
			return err
		},
		Notice: func(text string) { fmt.Fprintln(told, text) },
	}
}

// lead takes a pass over all scans, and returns what it has told and its state.
func lead(ctx context.Context, p *Pass, told *strings.Builder) (string, error) {
	if err := p.Begin(ctx); err != nil {
		return "", err
	}
	for {
		_, err := p.Step(ctx)
		if err == io.EOF {
			b, err := p.State().MarshalBinary()
			return told.String() + string(b), err
		}
		if err != nil {
			return told.String(), err
		}
	}
}

// doomed is the wire of a process that dies before or after it has sent so many messages to all.
type doomed struct {
	cluster.Wire
	turn  sync.Mutex
	left  int // messages before it dies; below 0: it lives
	after bool
	die   func()
	dead  bool
}

func (d *doomed) Send(run cluster.Sum, to int, frame []byte) error {
	d.turn.Lock()
	defer d.turn.Unlock()
	const piece = 4
	if dying := to == cluster.All && frame[3] == piece; dying && !d.dead {
		if d.left--; d.left == -1 {
			d.dead = true
			if d.after {
				d.Wire.Send(run, to, frame)
			}
			d.die()
		}
	}
	if d.dead {
		return nil
	}
	return d.Wire.Send(run, to, frame)
}

// company runs a group of processes, of which one dies, and gets another in its place if it is replaced.
type company struct {
	grouped
	first    []int
	fate     func([]byte) []time.Duration
	dies     int // the process
	at       int // messages that it has sent; below 0: none dies
	after    bool
	replaced bool
}

func (c company) run(t *testing.T) (told string, err error) {
	wire := cluster.MemoryWire(4096, c.fate)
	run := cluster.SumOf([]byte("group"))
	var all sync.WaitGroup
	var live func(p int, dies bool)
	live = func(p int, dies bool) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		w := &doomed{Wire: wire, left: -10, die: stop, after: c.after}
		if dies {
			w.left = c.at
		}
		pass := c.pass(&Group{Over: cluster.NewExchange(w, 0), Run: run, Process: p, First: c.first}, nil)
		err := pass.Begin(ctx)
		if err == nil {
			err = pass.Follow(ctx)
		}
		switch {
		case dies && !w.dead:
			t.Errorf("process %d has not died: %v", p, err)
		case dies && c.replaced:
			time.Sleep(70 * time.Second)
			live(p, false)
		case !dies && err != nil:
			t.Errorf("process %d: %v", p, err)
		}
	}
	for p := 1; p < len(c.first)-1; p++ {
		all.Go(func() { live(p, c.at >= 0 && p == c.dies) })
	}
	var text strings.Builder
	pass := c.pass(&Group{Over: cluster.NewExchange(wire, 0), Run: run, First: c.first}, &text)
	told, err = lead(t.Context(), pass, &text)
	pass.Group.Over.Leave()
	all.Wait()
	return told, err
}

// One, two and four processes, with any division of the nodes and a wire that does its worst, give the lines and the state of one process without a
// group, scans that cannot be used among them.
func TestGroupHasTheBytesOfOneProcess(t *testing.T) {
	for name, g := range groupsOf(t) {
		var text strings.Builder
		want, err := lead(t.Context(), g.pass(nil, &text), &text)
		if err != nil || strings.Count(want, `"k":`) != 5 || strings.Count(want, "a scan is left out") < 2 {
			t.Fatalf("%s: %v\n%s", name, err, text.String())
		}
		for i, first := range [][]int{{0, 4}, {0, 2, 4}, {0, 0, 4}, {0, 3, 4}, {0, 1, 2, 3, 4}, {0, 0, 1, 2, 3, 4}} {
			synctest.Test(t, func(t *testing.T) {
				got, err := company{grouped: g, first: first, fate: testkit.Shaky(uint64(i)), at: -1}.run(t)
				if err != nil || got != want {
					t.Errorf("%s, nodes of processes %v: other bytes, %v", name, first, err)
				}
			})
		}
	}
}

// A process that dies at any point of a scan and is replaced changes no byte: before and after each of its messages, which are its answer to the scan, the
// sites of two passes, and its particles.
func TestGroupLosesAProcess(t *testing.T) {
	g := groupsOf(t)["clutter"]
	var text strings.Builder
	want, err := lead(t.Context(), g.pass(nil, &text), &text)
	if err != nil {
		t.Fatal(err)
	}
	for at := range 9 {
		for _, after := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				got, err := company{grouped: g, first: []int{0, 1, 2, 4}, fate: testkit.Shaky(uint64(at)), dies: 1 + at%2, at: at, after: after, replaced: true}.run(t)
				if err != nil || got != want {
					t.Errorf("killed at message %d, after it: %v: other bytes, %v", at, after, err)
				}
			})
		}
	}
}

// A process that stays away ends the run after five minutes, with the scans before, and the error says which nodes are lost and for how long.
func TestGroupWaitsForFiveMinutes(t *testing.T) {
	g := groupsOf(t)["line"]
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		told, err := company{grouped: g, first: []int{0, 1, 3, 4}, dies: 1, at: 6}.run(t)
		var lost *LostNodesError
		if !errors.As(err, &lost) || lost.From != 1 || lost.To != 3 || strings.Count(told, `"k":`) != 1 {
			t.Errorf("%v\n%s", err, told)
		}
		const want = "nodes 2 to 3 of ep have not been heard of for 5m0s (process 1): start a worker that takes its place, and resume the run"
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		if took := time.Since(begun); took < 5*time.Minute || took > 6*time.Minute {
			t.Errorf("after %v", took)
		}
	})
}

// A process whose state has other bytes is found at the next scan. One whose place another has taken ends.
func TestGroupFindsOtherBytes(t *testing.T) {
	g := groupsOf(t)["line"]
	synctest.Test(t, func(t *testing.T) {
		wire, run := cluster.MemoryWire(4096, nil), cluster.SumOf([]byte("other"))
		var all sync.WaitGroup
		all.Go(func() {
			pass := g.pass(&Group{Over: cluster.NewExchange(wire, 0), Run: run, Process: 1, First: []int{0, 2, 4}}, nil)
			scan := 0
			pass.Group.Made = func() error {
				if scan++; scan > 1 {
					t.Error("it filters on")
				}
				return nil
			}
			if err := pass.Begin(t.Context()); err != nil {
				t.Error(err)
			}
			f := pass.filter.(*leader)
			f.Filter = stray{f.Filter}
			if err := pass.Follow(t.Context()); err != nil {
				t.Error(err)
			}
		})
		var text strings.Builder
		pass := g.pass(&Group{Over: cluster.NewExchange(wire, 0), Run: run, First: []int{0, 2, 4}}, &text)
		_, err := lead(t.Context(), pass, &text)
		if err == nil || !strings.Contains(err.Error(), "process 1 has other bytes after 1 scans than this one") {
			t.Errorf("%v\n%s", err, text.String())
		}
		pass.Group.Over.Leave()
		all.Wait()
		gone := errors.New("another one")
		pass = g.pass(&Group{Over: cluster.NewExchange(wire, 0), Run: run, Process: 1, First: []int{0, 2, 4}, Claim: func() error { return gone }}, nil)
		if err := pass.Begin(t.Context()); err != nil {
			t.Error(err)
		}
		if err := pass.Follow(t.Context()); err != gone {
			t.Error(err)
		}
	})
}

// stray is a filter that changes its state on its own.
type stray struct{ filter.Filter }

func (f stray) Step(ctx context.Context, st *filter.State, scan *ssm.Scan) (filter.Info, error) {
	info, err := f.Filter.Step(ctx, st, scan)
	st.X[0]++
	return info, err
}

func TestDivide(t *testing.T) {
	for _, c := range []struct {
		nodes, workers int
		want           []int
	}{{4, 0, []int{0, 4}}, {4, 1, []int{0, 2, 4}}, {4, 3, []int{0, 1, 2, 3, 4}}, {4, 4, []int{0, 0, 1, 2, 3, 4}}, {4, 9, []int{0, 0, 1, 2, 3, 4}}, {5, 2, []int{0, 1, 3, 5}}} {
		if got := Divide(c.nodes, c.workers); !slices.Equal(got, c.want) {
			t.Errorf("%d nodes, %d workers: %v, want %v", c.nodes, c.workers, got, c.want)
		}
	}
}
