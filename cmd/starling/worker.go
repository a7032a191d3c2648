package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/cluster"
	"github.com/starling-smc/starling/cluster/broker"
	"github.com/starling-smc/starling/cluster/keyring"
	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/visible"
)

func newWorker() *cobra.Command {
	w := worker{most: 20e9}
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "Compute parts of runs that a server hands out",
		Long: `Worker takes parts of runs from a server, computes them, and gives back their results, until it is interrupted. Start as many as there are
machines, at any time. A part that is at work when the worker is interrupted is saved after its step, and another worker goes on with it; so it is
within a minute when the worker is killed.

It computes one part a thread. The files that runs read come from the server once, and stay in the folder --cache. A file that lies in --data-dir
with the same content is taken from there.

Workers need the version of starling that submits the runs. AVX2, AVX-512 and machines without either compute the same bits, and may be mixed.`,
		Example: `  starling worker --server tls://node1:4222 --keys KEYS
  starling worker --server nats://127.0.0.1:4222 --threads 2 --cache /scratch`,
		Args: cobra.NoArgs,
		RunE: w.run,
	}
	w.at.flags(cmd, ownServer)
	threads(cmd, &w.threads)
	cmd.Flag("threads").Usage = "compute `N` parts at a time, one thread each (default: one a CPU)"
	flags := cmd.Flags()
	flags.StringVar(&w.cache, "cache", "", "folder `DIR` for the files of runs (default: starling-worker in the user's cache folder)")
	flags.Var(&w.most, "cache-size", "the most `BYTES` of that folder, as in 500MB: files that were used longest ago make room")
	flags.DurationVar(&w.every, "save-every", starling.SaveEvery, "least `TIME` between two states of a part that are saved at the server")
	flags.BoolVar(&w.pipe, "pipe", false, "")
	flags.MarkHidden("pipe") // of fit --workers: the server is at the other end of stdin and stdout
	dataDir(cmd, &w.dataDir)
	quietly(cmd, &w.quiet)
	return cmd
}

type worker struct {
	at             atServer
	threads        int
	cache, dataDir string
	most           byteCount
	every          time.Duration
	pipe, quiet    bool
	refused        sync.Map // what was told of tasks that are left to others
}

func (w *worker) run(cmd *cobra.Command, _ []string) error {
	if err := checkThreads(w.threads); err != nil {
		return err
	}
	if w.every <= 0 {
		return wrongUse("--save-every %v: want a time above 0, as in 30s", w.every)
	}
	if w.threads == 0 {
		w.threads = runtime.GOMAXPROCS(0)
	}
	if w.cache == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return wrongUse("there is no cache folder (%w): name one with --cache", err)
		}
		w.cache = filepath.Join(base, "starling-worker")
	}
	if err := os.MkdirAll(w.cache, 0o700); err != nil {
		return wrongUse("--cache: %w", err)
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	limitGarbage()
	ctx := cmd.Context()
	b, err := w.connect(ctx)
	if stopped(ctx, err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer b.Close()
	defer context.AfterFunc(ctx, b.Hurry)()
	name := fmt.Sprintf("%s-%d-%x", host, os.Getpid(), time.Now().UnixMilli()&0xffffff)
	lease := cluster.LeaseTime
	if w.pipe {
		lease = crewLease
	}
	one := starling.NewWorker(b.Cluster(), starling.WorkOptions{
		Name: name, Machine: host, Slots: w.threads, Cache: w.cache, CacheBytes: int64(w.most), DataDir: w.dataDir, Memory: memoryLimit(os.DirFS("/")),
		Every: w.every, Lease: lease, Note: w.note, Taken: func(t cluster.Task) { w.say("begins %s", taskWords(t)) }, Ended: w.ended,
	})
	stop, err := b.Answer(func() []byte {
		p := presence{Name: name, Host: host, Version: starling.Build(), Arch: runtime.GOARCH, Kernel: lanes.Kernel(), Slots: w.threads, Tasks: one.Tasks()}
		text, _ := json.Marshal(p) // plain data
		return text
	})
	if err != nil {
		return err
	}
	defer stop()
	w.say("computes %d parts at a time, with kernel %s", w.threads, lanes.Kernel())
	if w.pipe { // the process that began this one is gone when the pipe ends
		var ended context.CancelFunc
		ctx, ended = context.WithCancel(ctx)
		defer ended()
		context.AfterFunc(b.Gone(), ended)
	}
	err = one.Run(ctx)
	if hung := (*cluster.HungError)(nil); errors.As(err, &hung) {
		return fmt.Errorf("a part hangs: %w; another worker gets it. If that happens again, the run is ended with this reason", err)
	}
	return err
}

// connect connects to the server, and waits for one that does not listen yet.
func (w *worker) connect(ctx context.Context) (*broker.Broker, error) {
	if w.pipe {
		w.quiet = true
		return broker.Connect(ctx, broker.Options{Dial: func() (net.Conn, error) { return pipeConn{os.Stdin, os.Stdout}, nil }, Once: true, Name: "worker"})
	}
	o, err := w.at.options(keyring.Worker)
	if err != nil {
		return nil, err
	}
	for told := false; ; told = true {
		b, err := broker.Connect(ctx, o)
		if !errors.Is(err, broker.ErrAway) {
			return b, err
		}
		if !told {
			w.say("waits for a server: %v", err)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(2 * time.Second):
		}
	}
}

// note tells what the worker has survived.
func (w *worker) note(t cluster.Task, err error) {
	if t.Phase == "" {
		if refused := (*cluster.ForeignError)(nil); errors.As(err, &refused) { // comes again while the run is there, in every slot
			if _, told := w.refused.LoadOrStore(err.Error(), true); told {
				return
			}
		}
		w.say("%v", err)
		return
	}
	w.say("%s: %v", taskWords(t), err)
}

func (w *worker) ended(t cluster.Task, err error) {
	switch {
	case err == nil:
		w.say("ends %s", taskWords(t))
	case errors.Is(err, cluster.ErrStopped):
		w.say("stops %s after its step; another worker goes on", taskWords(t))
	case errors.Is(err, cluster.ErrCancelled), errors.As(err, new(*cluster.FailedError)):
		w.say("stops %s after its step: %v", taskWords(t), err)
	}
}

// say writes a line, unless --quiet forbids it.
func (w *worker) say(format string, args ...any) {
	if !w.quiet {
		tell("starling worker: " + visible.Text(strings.TrimSpace(fmt.Sprintf(format, args...))))
	}
}

// taskWords names a task as people know it.
func taskWords(t cluster.Task) string {
	return fmt.Sprintf("part %d of phase %s, run %s", t.Part, t.Phase, shortSum(t.Run()))
}
