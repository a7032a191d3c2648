package filtering

import (
	"errors"
	"fmt"

	"github.com/starling-smc/starling/filter"
	"github.com/starling-smc/starling/scans"
	"github.com/starling-smc/starling/ssm"
)

// AboutScans reports whether an error is about the scans, rather than about the run.
func AboutScans(err error) bool {
	return scanFault(err) || errors.As(err, new(*ResumptionError)) || errors.As(err, new(*SourceError))
}

// scanFault reports whether an error is about one scan, so that the scans after it may be used.
func scanFault(err error) bool {
	return errors.As(err, new(*scans.BadError)) || errors.As(err, new(*ssm.MeasurementError)) || errors.As(err, new(*filter.TimeError)) ||
		errors.As(err, new(*filter.ImpossibleError))
}

// SourceError is an error of the source itself, such as a file that cannot be read on.
type SourceError struct{ Err error }

func (e *SourceError) Error() string { return "the scans: " + e.Err.Error() }
func (e *SourceError) Unwrap() error { return e.Err }

// ResumptionError is the error for scans that do not go on where the run has stopped.
type ResumptionError struct{ Err error }

func (e *ResumptionError) Error() string { return e.Err.Error() }
func (e *ResumptionError) Unwrap() error { return e.Err }

func resumption(format string, args ...any) error {
	return &ResumptionError{fmt.Errorf(format, args...)}
}
