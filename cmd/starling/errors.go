package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/regular"
	"github.com/starling-smc/starling/internal/runs"
)

// interrupted is the error of an interrupt. It says what was saved, and how to continue.
type interrupted struct{ leaves string }

func (e interrupted) Error() string { return "interrupted; " + e.leaves }

func (e interrupted) Unwrap() error { return context.Canceled }

// usageError is a wrong use that the parser of the command line does not find.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func wrongUse(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// stopped reports whether an error is that of an interrupt.
func stopped(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, context.Canceled)
}

// status returns the exit status for an error. understood says that the command line was parsed.
func status(err error, understood bool) int {
	var (
		config *starling.ConfigError
		data   *starling.DataError
		usage  usageError
		inputs *eval.InputError
		asked  *eval.UsageError
		other  *starling.OtherRunError
	)
	switch {
	case errors.As(err, &other):
		return differs[other.Differs]
	case errors.As(err, &data), errors.As(err, &inputs), errors.As(err, new(*regular.ChangedError)): // before config: a wrong config inside a run's folder is damage
		return 3
	case !understood || errors.As(err, &config) || errors.As(err, &usage) || errors.As(err, &asked):
		return 2
	}
	return 1
}

// differs lists the exit statuses for a folder that holds a different run, by what differs.
var differs = map[runs.What]int{runs.OtherKind: 2, runs.OtherConfig: 2, runs.OtherInputs: 3, runs.OtherVersion: 1}
