//go:build unix

package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/starling-smc/starling/internal/metamorphic"
)

// TestClusterKills is a short soak of a cluster: every run ends with the bytes of a single process, although workers are asked to end, and submitters
// and the server are killed. A worker that is killed keeps its task for a minute: CI runs that apart.
func TestClusterKills(t *testing.T) {
	t.Chdir(".")
	s, err := newSoak(t.TempDir(), 1)
	if err != nil {
		t.Fatal(err)
	}
	runs := []metamorphic.Run{metamorphic.Longer("adaptive", "method.smc.pilot=true", "method.smc.particles=60", "method.smc.path.tempering.ess=0.95")}
	c, err := newClusters(t.Context(), s, runs)
	if err != nil {
		t.Fatal(err)
	}
	c.gap = time.Second / 4
	if err := c.any(runs, 6, []string{"worker TERM", "server KILL", "submitter KILL", "worker INT", "server TERM", "submitter INT"}); err != nil {
		t.Fatal(err)
	}
	t.Log(c.report())
	if s.kills < 4 || s.finished < 2 { // the two signals for a submitter may find it at its end
		t.Errorf("%d kills, %d runs", s.kills, s.finished)
	}
}

// quietSite is a site without processes.
func quietSite() *site {
	c := &clusters{soak: &soak{log: io.Discard, killed: map[string]int{}}, waited: map[string][]time.Duration{}}
	c.ctx, c.fail = context.WithCancelCause(context.Background())
	return &site{clusters: c, work: map[*process]map[string]bool{}, lost: map[string]loss{}}
}

// TestDiffers: a byte that differs is a fault, and its file is named.
func TestDiffers(t *testing.T) {
	t.Chdir(t.TempDir())
	l := &lane{site: quietSite(), run: metamorphic.Longer("islands"), folder: "run"}
	for _, dir := range []string{filepath.Join("done", "islands"), "run"} {
		if err := errors.Join(os.MkdirAll(dir, 0o777), os.WriteFile(filepath.Join(dir, "posterior.safetensors"), []byte("some bytes"), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.same(); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join("run", "posterior.safetensors"), []byte("same bytes"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := l.same(); err == nil || !strings.Contains(err.Error(), "posterior.safetensors: byte 1") {
		t.Error(err)
	}
}

// TestBooks: a task is computed by the worker that began it last, and waits from the kill of that one until the next begins it.
func TestBooks(t *testing.T) {
	s, a, b := quietSite(), &process{}, &process{}
	const task = "part 3 of phase islands, run 0123456789ab"
	s.hear(a, "starling worker: begins "+task)
	s.hear(b, "starling worker: begins part 1 of phase map, run 0123456789ab")
	if got := s.loses(a, "KILL"); got != "islands" || !s.waiting() {
		t.Errorf("a worker of islands loses %q", got)
	}
	if got := s.phases(); got != "islands and map" {
		t.Errorf("at work: %s", got)
	}
	s.hear(b, "starling worker: begins "+task)
	if n := len(s.waited["a part goes on elsewhere after KILL"]); n != 1 || s.waiting() || s.busy(a) {
		t.Errorf("%d tasks went on; waiting %v, the one that was killed busy %v", n, s.waiting(), s.busy(a))
	}
	// A task that ends before the signal comes waits for nobody.
	s.loses(b, "TERM")
	s.hear(b, "starling worker: ends "+task)
	s.hear(b, "starling worker: ends part 1 of phase map, run 0123456789ab")
	if s.waiting() || s.busy(b) {
		t.Error("a task that has ended is waited for")
	}
}

// TestEnds: a process that ends in another way than it was asked to is a fault.
func TestEnds(t *testing.T) {
	for _, one := range []struct {
		script string
		signal syscall.Signal
		asked  int
		fault  bool
	}{
		{"trap 'exit 130' INT; echo on; sleep 9 & wait", syscall.SIGINT, 130, false},
		{"trap 'exit 1' TERM; echo on; sleep 9 & wait", syscall.SIGTERM, 0, true},
		{"echo on; exec sleep 9", syscall.SIGTERM, 0, true},
		{"echo on; exec sleep 9", syscall.SIGKILL, 0, false},
	} {
		said := make(chan bool, 1)
		p, err := begin(t.TempDir(), "process", func(*process, string) { said <- true }, "sh", "-c", one.script)
		if err != nil {
			t.Fatal(err)
		}
		<-said
		p.send(one.signal)
		go func() {
			<-time.After(100 * time.Millisecond)
			syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // the sleep of the script
		}()
		if err := p.end(one.asked); (err != nil) != one.fault {
			t.Errorf("%s after %v: %v", one.script, one.signal, err)
		}
	}
}
