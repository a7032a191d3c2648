package runs

import (
	"errors"
	"fmt"
	"syscall"
)

// NotDoneError is returned by Read where there is no finished run: the folder does not belong to a run, or the run was
// stopped or is still at work.
type NotDoneError struct{ Err error }

func (e *NotDoneError) Error() string { return e.Err.Error() }
func (e *NotDoneError) Unwrap() error { return e.Err }

// What names a part of a run's identity.
type What int

// The parts of a run's identity.
const (
	OtherKind What = iota
	OtherVersion
	OtherConfig
	OtherInputs
)

// OtherRunError is returned where a folder holds a different run from the requested one. If the configs differ, Err wraps the
// error of Kind.Differ.
type OtherRunError struct {
	Differs What
	Err     error
}

func (e *OtherRunError) Error() string { return e.Err.Error() }
func (e *OtherRunError) Unwrap() error { return e.Err }

// DamagedError is returned where a file of a run is missing, cannot be read, or does not fit the others. Its text names the
// file and, where something can be done, says what to do.
type DamagedError struct{ Err error }

func (e *DamagedError) Error() string { return e.Err.Error() }
func (e *DamagedError) Unwrap() error { return e.Err }

// makeRoom says what to do about a full disk.
const makeRoom = "make room there, and resume the run with --resume"

// saving is the error for a write that failed while the run goes on.
func saving(err error) error { return fmt.Errorf("saving the run: %w", remedied(err)) }

// remedied adds to the error of a full disk what to do.
func remedied(err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("%w: %s", err, makeRoom)
	}
	return err
}
