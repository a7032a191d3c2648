package main

import (
	"context"
	"encoding/json"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/cluster"
	"github.com/starling-smc/starling/cluster/broker"
	"github.com/starling-smc/starling/cluster/keyring"
)

// address FILE: $ADDRESS becomes where the server listens that has written FILE.
func address(ts *testscript.TestScript, neg bool, args []string) {
	found := regexp.MustCompile(`^serves at (\S+),`).FindStringSubmatch(ts.ReadFile(args[0]))
	if found == nil {
		ts.Fatalf("%s has no address: %s", args[0], ts.ReadFile(args[0]))
	}
	ts.Setenv("ADDRESS", found[1])
}

// submit KEYS PARTS: submits a run of so many parts, of which a worker has computed the first and computes the second until the script ends.
// $RUN becomes the beginning of the run's name.
func submit(ts *testscript.TestScript, neg bool, args []string) {
	parts, err := strconv.Atoi(args[1])
	ts.Check(err)
	ctx, stop := context.WithCancel(context.Background())
	connect := func(role keyring.Role) *broker.Broker {
		k, err := keyring.Read(ts.MkAbs(args[0]), role)
		ts.Check(err)
		b, err := broker.Connect(ctx, broker.Options{Server: "tls://" + ts.Getenv("ADDRESS"), TLS: k.TLS, Seed: k.Seed, Inbox: k.Inbox})
		ts.Check(err)
		return b
	}
	submitter, worker := connect(keyring.Submitter), connect(keyring.Worker)
	config, err := cluster.Save(ctx, submitter.Cluster().Blocks, cluster.Shared, make([]byte, 3_000_000))
	ts.Check(err)
	var tasks []cluster.Task
	for part := range parts {
		tasks = append(tasks, cluster.Task{Config: config, Version: "1", Arch: "amd64", Kernels: []string{"go"}, Phase: "islands", Part: part})
	}
	run := tasks[0].Run()
	first, ended := make(chan bool), make(chan bool)
	go func() {
		(&cluster.Coordinator{Cluster: submitter.Cluster()}).Do(ctx, tasks, func(int, cluster.End) error { close(first); return nil }) // it never ends by itself
		close(ended)
	}()
	w := &cluster.Worker{Cluster: worker.Cluster(), Name: "w", Version: "1", Arch: "amd64", Kernel: "go", Work: func(ctx context.Context, job *cluster.Job) ([]byte, error) {
		if job.Task.Part == 0 {
			return []byte("result"), nil
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	worked := make(chan bool)
	go func() { w.Run(ctx); close(worked) }()
	_, err = worker.Answer(func() []byte {
		text, err := json.Marshal(presence{Name: "w", Host: "node7", Version: "1", Arch: "amd64", Kernel: "go", Slots: 2, Tasks: []starling.AtWork{{Run: run, Phase: "islands", Part: 1, Progress: 0.25}}})
		if err != nil {
			panic(err)
		}
		return text
	})
	ts.Check(err)
	ts.Defer(func() {
		stop()
		submitter.Close() // the server is down by now: nothing waits for it
		worker.Close()
		<-ended
		<-worked
	})
	select {
	case <-first:
	case <-time.After(10 * time.Second):
		ts.Fatalf("the first part is not computed")
	}
	ts.Setenv("RUN", shortSum(run))
}

// TestByteCount: bytes with units of 1000, and nothing else.
func TestByteCount(t *testing.T) {
	for text, want := range map[string]byteCount{"500MB": 5e8, "20GB": 2e10, "1.5kB": 1500, "2TB": 2e12} {
		var b byteCount
		if err := b.Set(text); err != nil || b != want {
			t.Errorf("%s is %d, %v", text, b, err)
		}
	}
	for _, text := range []string{"", "5", "GB", "-1GB", "0GB", "NaNGB", "InfTB", "1e30GB", "5GiB", "5 GB"} {
		if err := new(byteCount).Set(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1500: "1.5 kB", 20e9: "20.0 GB"} {
		if got := inBytes(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
