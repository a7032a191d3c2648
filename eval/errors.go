package eval

import "fmt"

// InputError is an error in the inputs or in their files: what they hold, or that they do not fit.
type InputError struct{ Err error }

func (e *InputError) Error() string { return e.Err.Error() }
func (e *InputError) Unwrap() error { return e.Err }

// UsageError is an error in the request, such as an output file with an unknown ending.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }

func wrongUse(format string, args ...any) error {
	return &UsageError{fmt.Errorf(format, args...)}
}
