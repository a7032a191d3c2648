package filtering

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/starling-smc/starling/cluster"
	"github.com/starling-smc/starling/filter"
	"github.com/starling-smc/starling/internal/ckpt"
)

// Group is the processes that take the same scans through ep, each with some of the nodes. Process 0 has the scans and the lines. In each scan it
// sends the scan to the others, and after each pass all send what their nodes have made. So every process has the whole state after each
// scan, with the bits of a run in one process, and may be lost: the others then go back to the state of process 0 and take the scan again.
//
// What is sent of a scan are rounds of package cluster: 0 is the scan, and the state where not all have it; pass l is round l + 1.
type Group struct {
	Over    *cluster.Exchange
	Run     cluster.Sum  // names this group: that of a resumed run is another one
	Process int          // this one
	First   []int        // the first node of each process and, last, the number of nodes
	Alive   func()       // called every second while the others are waited for; nil: nobody
	Made    func() error // called after each scan by processes that follow: its error ends them; nil: nobody
	Claim   func() error // called before each joining: its error says that another process has taken the place of this one; nil: nobody

	epoch uint64 // 0: not in the group, or out of it
	scan  int    // of this epoch, from 0; a scan that was refused counts
}

// Divide gives each of so many workers as many of the nodes as any other, or one fewer. Process 0 takes part where there are fewer
// workers than nodes; else it has none, and as many workers as nodes have one each.
func Divide(nodes, workers int) (first []int) {
	processes, from := workers+1, 0
	if workers >= nodes {
		first, processes = []int{0}, nodes
	}
	for p := range processes {
		first = append(first, from)
		from = (p + 1) * nodes / processes
	}
	return append(first, nodes)
}

// LostNodesError says that a process of a group has not been heard of for too long.
type LostNodesError struct {
	From, To int // the nodes that it has, from 0: From to To−1
	Process  int
	Err      *cluster.AwayError
}

func (e *LostNodesError) Error() string {
	nodes := fmt.Sprintf("node %d of ep has", e.From+1)
	if e.To-e.From > 1 {
		nodes = fmt.Sprintf("nodes %d to %d of ep have", e.From+1, e.To)
	}
	text := fmt.Sprintf("%s not been heard of for %v (process %d): start a worker that takes its place, and resume the run", nodes, e.Err.For.Round(time.Second), e.Process)
	if e.Err.Wire != nil {
		text += fmt.Sprintf("; the last fault of the network: %v", e.Err.Wire)
	}
	return text
}

func (e *LostNodesError) Unwrap() error { return e.Err }

// hosted are the nodes of this process.
func (g *Group) hosted() filter.Hosted {
	return filter.Hosted{From: g.First[g.Process], To: g.First[g.Process+1], By: g}
}

// join enters the next epoch.
func (g *Group) join(ctx context.Context) (err error) {
	if g.Claim != nil {
		if err := g.Claim(); err != nil {
			return err
		}
	}
	defer g.alive()()
	g.scan = 0
	g.epoch, err = g.Over.Join(ctx, g.Run, g.Process, len(g.First)-1)
	return err
}

// round sends this process's message of a round, and returns those of all. After cluster.ErrConflict this process is out of the epoch.
func (g *Group) round(ctx context.Context, number int, message []byte) ([][]byte, error) {
	defer g.alive()()
	r := cluster.Round{Epoch: g.epoch, Scan: g.scan, Pass: number}
	err := g.Over.Send(r, message)
	var all [][]byte
	if err == nil {
		all, err = g.Over.Receive(ctx, r)
	}
	if err != nil {
		g.epoch = 0
	}
	return all, err
}

// alive calls Alive every second until the function that it returns is called.
func (g *Group) alive() (stop func()) {
	if g.Alive == nil {
		return func() {}
	}
	tick, ended := time.NewTicker(time.Second), make(chan struct{})
	go func() {
		for {
			select {
			case <-tick.C:
				g.Alive()
			case <-ended:
				return
			}
		}
	}()
	return func() { tick.Stop(); close(ended) }
}

const madeKind = "filtering.Made/1"

// Exchange implements filter.Exchanger.
func (g *Group) Exchange(ctx context.Context, _, pass int, own []filter.Contribution) (all []filter.Contribution, err error) {
	e := ckpt.NewEncoder(madeKind)
	for i := range own {
		b, err := own[i].MarshalBinary()
		if err != nil {
			return nil, err
		}
		e.Bytes(strconv.Itoa(i), b)
	}
	messages, err := g.round(ctx, pass+1, e.Encode())
	if err != nil {
		return nil, err
	}
	for p, m := range messages {
		d, err := ckpt.NewDecoder(m, madeKind)
		for i := 0; err == nil && i < g.First[p+1]-g.First[p]; i++ {
			var c filter.Contribution
			if b := d.Bytes(strconv.Itoa(i)); d.Err() != nil {
				err = d.Err()
			} else {
				c, err = filter.ReadContribution(b)
			}
			all = append(all, c)
		}
		if err != nil {
			return nil, fmt.Errorf("process %d of the group has sent what is no message of a node: %w", p, err)
		}
	}
	return all, nil
}
