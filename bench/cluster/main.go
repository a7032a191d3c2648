// Cluster measures what it costs to have the parts of a run computed by several processes: docs/benchmarks.md.
//
//	go run ./bench/cluster parts     # what a part costs beside its work
//	go run ./bench/cluster states    # saving and loading a part's state
//	go run ./bench/cluster deaths    # from the end of a worker to the next step elsewhere: a quarter of an hour
//	go run ./bench/cluster fits      # two workers of one thread beside one process of two threads
//	go run ./bench/cluster scaling   # one to sixteen workers that sleep
//	go run ./bench/cluster size      # the program and the modules of who imports starling, before there was a cluster and now
//
// Each builds the command, measures, and prints a table. What was measured stays in the folder -out: a measurement that was interrupted goes on,
// and a table that is complete is printed again. Servers and workers are processes of the command, except where a row says that the server
// is in the process.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// measure is one table.
type measure struct {
	name string
	do   func(context.Context, *bench) error
}

var measures = []measure{
	{"parts", parts},
	{"states", states},
	{"deaths", deaths},
	{"fits", fits},
	{"scaling", scaling},
	{"size", size},
}

func main() {
	out := flag.String("out", "runs/cluster", "folder of what was measured")
	command := flag.String("starling", "", "the command; built unless it is named")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *out, *command, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out, command string, names []string) error {
	b, err := open(ctx, out, command)
	if err != nil {
		return err
	}
	defer os.RemoveAll(b.temp)
	for _, name := range names {
		i := slices.IndexFunc(measures, func(m measure) bool { return m.name == name })
		if i < 0 {
			return fmt.Errorf("%q is not measured here: want parts, states, deaths, fits, scaling or size", name)
		}
		if err := measures[i].do(ctx, b); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return ctx.Err()
}
