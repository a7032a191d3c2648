package main

import (
	"context"
	"runtime"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/cluster"
	"github.com/starling-smc/starling/cluster/broker"
	"github.com/starling-smc/starling/cluster/keyring"
)

// elsewhere are the flags of commands whose runs other processes may carry out.
type elsewhere struct {
	atServer
	workers int
	broker  *broker.Broker // of a cluster that is open
}

// flags adds --server, --keys and --workers. what is what the others compute.
func (e *elsewhere) flags(cmd *cobra.Command, what string) {
	e.atServer.flags(cmd, "")
	cmd.Flag("server").Usage = "let workers at the server `URL` compute " + what + ": tls://HOST:PORT, or nats://HOST:PORT where it has no keys (starling cluster, starling worker)"
	cmd.Flags().IntVar(&e.workers, "workers", 0, "let `N` processes of this machine compute "+what)
}

// given are the flags as a command line has them.
func (e *elsewhere) given() []flagged {
	return []flagged{{"--server", e.server, e.server != ""}, {"--keys", e.keys, e.keys != ""}, {"--workers", strconv.Itoa(e.workers), e.workers != 0}}
}

// asked reports whether others are to compute.
func (e *elsewhere) asked() bool { return e.server != "" || e.workers > 0 }

// outage is how long a run waits for a server that is away, such as one that starts again.
const outage = 30 * time.Minute

// mostWorkers is more processes than a machine has use for.
const mostWorkers = 512

func (e *elsewhere) check() error {
	switch {
	case e.workers < 0 || e.workers > mostWorkers:
		return wrongUse("--workers %d: want a number from 1 to %d", e.workers, mostWorkers)
	case e.workers > 0 && e.server != "":
		return wrongUse("--workers are processes of this machine and --server has workers elsewhere: give one of the two")
	case e.keys != "" && e.server == "":
		return wrongUse("--keys are for a --server")
	}
	return nil
}

// open connects to the server, or starts one in this process with workers as its children. store is the folder of its own, for the time
// of the run; threads are those of all workers together. Without the flags the cluster is nil. close ends all of it; done says that the
// store is not needed to go on.
func (e *elsewhere) open(ctx context.Context, store string, threads int) (c *cluster.Cluster, close func(done bool), err error) {
	none := func(bool) {}
	switch {
	case e.server != "":
		o, err := e.options(keyring.Submitter)
		if err != nil {
			return nil, none, err
		}
		o.Patience = outage
		b, err := broker.Connect(ctx, o)
		if err != nil {
			return nil, none, err
		}
		ready, err := b.Prepared(ctx)
		if err == nil && !ready { // a NATS server that somebody else serves
			err = b.Prepare(ctx)
		}
		if err != nil {
			b.Close()
			return nil, none, err
		}
		e.broker = b
		c := b.Cluster()
		return &c, func(bool) { b.Close() }, nil
	case e.workers > 0:
		crew, err := startCrew(ctx, store, e.workers, threads)
		if err != nil {
			return nil, none, err
		}
		e.broker = crew.broker
		c := crew.broker.Cluster()
		return &c, crew.close, nil
	}
	return nil, none, nil
}

// free is the number of tasks that workers of this program can begin now.
func (e *elsewhere) free(ctx context.Context) (n int, err error) {
	if e.workers > 0 {
		return e.workers, nil
	}
	texts, err := e.broker.Workers(ctx, answerTime)
	foreign := 0
	for _, p := range answers[presence](texts, &foreign) {
		if p.Version == starling.Build() && p.Arch == runtime.GOARCH {
			n += max(0, p.Slots-len(p.Tasks))
		}
	}
	return n, err
}

// tellStore says where the work of children is kept that was not done.
func (e *elsewhere) tellStore(store string) {
	if e.workers > 0 {
		tell("starling: what the workers have done is in " + store + ", which is removed when the run is done")
	}
}
