// Command starling trains Bayesian neural networks with sequential Monte Carlo and says how much they doubt.
//
// Results go to stdout, talk and progress to stderr. Exit status: 0 done, 1 the run failed, 2 wrong use or config,
// 3 bad data, 130 interrupted.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/eval"
)

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // the terminal is closed, unless nohup says that it does not matter
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	used := false
	root := newRoot(&used)
	root.SetArgs(args)
	out := &output{w: os.Stdout}
	root.SetOut(out)
	err := root.ExecuteContext(ctx)
	if err == nil && out.err != nil {
		used, err = true, out.err
	}
	if err == nil {
		return 0
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		text := interrupted{"nothing was saved"}
		errors.As(err, &text)
		fmt.Fprintln(os.Stderr, "starling: "+text.Error())
		return 130
	}
	fmt.Fprintln(os.Stderr, "starling: "+err.Error())
	var (
		config *starling.ConfigError
		data   *starling.DataError
		usage  usageError
		inputs *eval.InputError
		asked  *eval.UsageError
	)
	switch {
	case errors.As(err, &data), errors.As(err, &inputs): // first: what is wrong with the config inside a run's folder is damage
		return 3
	case !used || errors.As(err, &config) || errors.As(err, &usage) || errors.As(err, &asked):
		return 2
	}
	return 1
}

// output remembers the first error of writing to it: a table that a full disk cut off is no success.
type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.w.Write(b)
	if errors.Is(err, syscall.EPIPE) { // whoever read has had enough: a run goes on for its folder's sake
		return len(b), nil
	}
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// interrupted is an interrupt that leaves something: what, and how to go on.
type interrupted struct{ leaves string }

func (e interrupted) Error() string { return "interrupted; " + e.leaves }

func (e interrupted) Unwrap() error { return context.Canceled }

// usageError is a wrong use that the parser of the command line cannot see.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func wrongUse(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }
