package starling

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/starling-smc/starling/cluster"
	"github.com/starling-smc/starling/cluster/broker"
	"github.com/starling-smc/starling/cluster/clustertest"
)

// timed is a wire that notes when a process has sent its message of a round to all, and when it has heard those of all others.
type timed struct {
	cluster.Wire
	turn   sync.Mutex
	others int
	sent   map[[3]uint64]int64
	heard  map[[3]uint64][]int64
}

func newTimed(w cluster.Wire, others int) *timed {
	return &timed{Wire: w, others: others, sent: map[[3]uint64]int64{}, heard: map[[3]uint64][]int64{}}
}

// roundOf is the epoch, the scan and the pass of the first piece of a message. The layout is that of cluster/exchange_frames.go.
func roundOf(frame []byte) (r [3]uint64, ok bool) {
	const piece = 4
	if frame[3] != piece || binary.LittleEndian.Uint32(frame[28+36:]) != 0 {
		return r, false
	}
	return [3]uint64{binary.LittleEndian.Uint64(frame[12:]), uint64(binary.LittleEndian.Uint32(frame[20:])), uint64(binary.LittleEndian.Uint32(frame[24:]))}, true
}

func (w *timed) Send(run cluster.Sum, to int, frame []byte) error {
	if r, ok := roundOf(frame); ok && to == cluster.All {
		w.turn.Lock()
		w.sent[r] = time.Now().UnixNano()
		w.turn.Unlock()
	}
	return w.Wire.Send(run, to, frame)
}

func (w *timed) Listen(run cluster.Sum, node int, hear func([]byte)) (stop func(), err error) {
	return w.Wire.Listen(run, node, func(frame []byte) {
		hear(frame)
		if r, ok := roundOf(frame); ok && int(binary.LittleEndian.Uint32(frame[4:])) != node {
			w.turn.Lock()
			w.heard[r] = append(w.heard[r], time.Now().UnixNano())
			w.turn.Unlock()
		}
	})
}

// write writes a line a round: its name, when this process had sent, and when it had heard all.
func (w *timed) write(path string) error {
	w.turn.Lock()
	defer w.turn.Unlock()
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	for r, t := range w.sent {
		if h := w.heard[r]; len(h) >= w.others {
			fmt.Fprintln(f, r[0], r[1], r[2], t, h[w.others-1])
		}
	}
	return f.Close()
}

// init makes a process a worker of BenchmarkNodes, if the benchmark has started it.
func init() {
	url := os.Getenv("STARLING_BENCH_SERVER")
	if url == "" {
		return
	}
	if err := nodeOfBenchmark(url, os.Getenv("STARLING_BENCH_FILE")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func nodeOfBenchmark(url, file string) error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	b, err := broker.Connect(ctx, broker.Options{Server: url})
	if err != nil {
		return err
	}
	defer b.Close()
	c := b.Cluster()
	w := newTimed(c.Wire, 4)
	c.Wire = w
	o := WorkOptions{Name: fmt.Sprint(os.Getpid()), Slots: 1, Cache: file + ".cache", Ended: func(cluster.Task, error) { stop() }}
	if err := NewWorker(c, o).Run(ctx); err != nil {
		return err
	}
	return w.write(file)
}

// BenchmarkNodes filters clutter3 by ep with 4 nodes, each in a process of one thread, over a server on loopback. A round begins when the last process
// has sent its message, and ends when all have those of all. A scan has 3: the scan itself, the sites and the particles.
func BenchmarkNodes(b *testing.B) {
	s := clustertest.Serve(b, b.TempDir(), func(o *server.Options) { o.DontListen, o.Host, o.Port = false, "127.0.0.1", -1 })
	conn, err := broker.Connect(b.Context(), broker.Options{Server: s.ClientURL()})
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Prepare(b.Context()); err != nil {
		b.Fatal(err)
	}
	c := conn.Cluster()
	w := newTimed(c.Wire, 4)
	c.Wire = w
	dir := b.TempDir()
	var children []*exec.Cmd
	for i := range 4 {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), "STARLING_BENCH_SERVER="+s.ClientURL(), "STARLING_BENCH_FILE="+filepath.Join(dir, fmt.Sprint(i)))
		if err := child.Start(); err != nil {
			b.Fatal(err)
		}
		children = append(children, child)
	}
	sets := []string{"method={ep: {nodes: 4}}", fmt.Sprint("scans.simulate=", max(2, b.N))}
	spec, err := PresetFiltering("clutter3", sets...)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := Filter(b.Context(), spec, FilterOptions{Options: Options{Cluster: &c}, Workers: 4}); err != nil {
		b.Fatal(err)
	}
	for _, child := range children {
		if err := child.Wait(); err != nil {
			b.Error(err)
		}
	}
	if err := w.write(filepath.Join(dir, "4")); err != nil {
		b.Fatal(err)
	}
	type round struct {
		processes   int
		began, sent int64
		heard       int64
	}
	rounds := map[[3]uint64]*round{}
	for i := range 5 {
		f, err := os.Open(filepath.Join(dir, fmt.Sprint(i)))
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			var key [3]uint64
			var sent, heard int64
			if _, err := fmt.Sscan(lines.Text(), &key[0], &key[1], &key[2], &sent, &heard); err != nil {
				b.Fatal(err)
			}
			r := rounds[key]
			if r == nil {
				r = &round{began: sent}
				rounds[key] = r
			}
			r.processes++
			r.began, r.sent, r.heard = min(r.began, sent), max(r.sent, sent), max(r.heard, heard)
		}
	}
	var times, scans, shares []float64
	for key, r := range rounds {
		last, middle := rounds[[3]uint64{key[0], key[1], 2}], rounds[[3]uint64{key[0], key[1], 1}]
		if r.processes == 5 {
			times = append(times, float64(r.heard-r.sent)/1e6)
		}
		if key[2] == 0 && last != nil && middle != nil && r.processes+last.processes+middle.processes == 15 {
			scan := float64(last.heard - r.sent)
			scans = append(scans, scan/1e6)
			shares = append(shares, float64(r.heard-r.sent+middle.heard-middle.sent+last.heard-last.sent)/scan)
		}
	}
	for _, list := range [][]float64{times, scans, shares} {
		slices.Sort(list)
	}
	at := func(list []float64, q float64) float64 { return list[int(q*float64(len(list)-1))] }
	b.ReportMetric(float64(len(times)), "rounds")
	b.ReportMetric(at(times, 0.5), "ms/round-median")
	b.ReportMetric(at(times, 0.95), "ms/round-95%")
	b.ReportMetric(at(scans, 0.5), "ms/scan-median")
	b.ReportMetric(100*at(shares, 0.5), "%share-median")
	b.ReportMetric(100*at(shares, 0.95), "%share-95%")
	b.ReportMetric(0, "ns/op")
}
