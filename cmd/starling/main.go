// Command starling trains Bayesian neural networks with sequential Monte Carlo and says how certain their predictions are.
//
// Results go to stdout; notices and progress go to stderr. Exit status: 0 done, 1 the run failed, 2 wrong use or config,
// 3 bad data, 130 interrupted.
package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/starling-smc/starling/internal/regular"
)

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // a closed terminal interrupts the run, unless nohup ignores the signal
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	regular.Until(ctx)
	understood := false
	root := newRoot(&understood)
	root.SetArgs(args)
	out := newOutput(os.Stdout)
	root.SetOut(out)
	err := func() (err error) {
		defer regular.Caught(&err)
		return root.ExecuteContext(ctx)
	}()
	out.text.Flush()
	if err == nil && out.err != nil {
		understood, err = true, out.err
	}
	if err == nil {
		return 0
	}
	if stopped(ctx, err) {
		text := interrupted{"nothing was saved"}
		errors.As(err, &text)
		tell("starling: " + text.Error())
		return 130
	}
	tell("starling: " + err.Error())
	return status(err, understood)
}
