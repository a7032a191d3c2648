// Package cluster carries out the parts of a run on many machines, bytes in and bytes out. It knows nothing of what a part computes.
//
// A [Task] names by content what a part needs. A [Coordinator] puts tasks into a [Queue]; a [Worker] takes them, computes, and writes
// results. The results are the truth; the queue is a hint: it may deliver a task twice, late, or lose it. A task still has one
// result, with the same bytes whatever died meanwhile:
//
//   - states and results are blocks of bytes named by their SHA-256, so that writing them again changes nothing;
//   - a task's state changes only from the revision that the writer has read, and each worker that takes the task changes it first. So a
//     worker that lost its task without knowing (a zombie) is refused;
//   - the first result of a task stays for ever. A second one must have the same sum.
package cluster

import (
	"context"
	"errors"
	"time"
)

// MaxBlock is the most bytes of a block.
const MaxBlock = 64 << 20

// LeaseTime is how long a task stays with a worker that is not heard of. A server may need 8 s to choose a new leader: leases outlast that.
const LeaseTime = time.Minute

// Errors that implementations of the interfaces return, wrapped or not. Any other error is for good: they repeat what
// failed for a passing reason, such as a server that starts again.
var (
	ErrQueued   = errors.New("the task is queued already")
	ErrFull     = errors.New("there is no room left")
	ErrNone     = errors.New("there is none of that name")
	ErrConflict = errors.New("another process has changed it")
	ErrExists   = errors.New("there is a result already")
)

// Cluster is what workers and coordinators share.
type Cluster struct {
	Queue   Queue
	Blocks  Blocks
	Values  Values
	Results Results
	News    News // nil: nobody hears of progress
	Wire    Wire // nil: nodes that compute one thing together have no way to each other
}

// Queue holds tasks until they are acknowledged. It is a hint: nothing may depend on a task's being in it, or on its being
// delivered once. Its methods may be called side by side.
type Queue interface {
	// Put queues a task. It returns ErrQueued where the queue holds the task, leased or not, and ErrFull where it holds no more.
	Put(ctx context.Context, task Task) error
	// Take waits for a task and leases it.
	Take(ctx context.Context) (Lease, error)
	// Queued returns the digests of a run's tasks that the queue holds, leased or not.
	Queued(ctx context.Context, run Sum) ([]Sum, error)
}

// Lease is a task that was taken. After a minute without Extend, the queue delivers the task again; the methods of the older lease may
// then do nothing, or act on the newer one, without an error.
type Lease interface {
	Task() Task
	// Extend begins the lease's minute anew.
	Extend(ctx context.Context) error
	// GiveBack lets the queue deliver the task again at once.
	GiveBack(ctx context.Context) error
	// Acknowledge removes the task from the queue.
	Acknowledge(ctx context.Context) error
}

// Blocks holds blocks of bytes by their sums, in spaces that know nothing of each other. Its methods may be called side by side.
type Blocks interface {
	// Put stores a block of at most MaxBlock bytes under its sum, over a copy that is there. It must not keep the slice. It returns ErrFull
	// where there is no room.
	Put(ctx context.Context, space string, sum Sum, block []byte) error
	// Get returns a block as it was stored, unless it was damaged: the caller compares the sum. Missing blocks are ErrNone.
	Get(ctx context.Context, space string, sum Sum) ([]byte, error)
	// Drop removes a block, if it is there.
	Drop(ctx context.Context, space string, sum Sum) error
}

// Shared is the space of inputs and results, from which no worker drops a block. The saved states of each task have a space of their own:
// the state of one run may have the bytes of another run's result, and must not take them along.
const Shared = "shared"

// Values holds small values that change by compare-and-set. Its methods may be called side by side.
type Values interface {
	// Value returns a value and its revision: nil and 0, where there is none.
	Value(ctx context.Context, key string) (value []byte, revision uint64, err error)
	// Swap sets the value of that revision to another one, and returns its revision, which is larger. It returns ErrConflict where the
	// value has another revision. Revision 0 makes the value.
	Swap(ctx context.Context, key string, value []byte, revision uint64) (uint64, error)
}

// Results holds the results of tasks for ever. Its methods may be called side by side.
type Results interface {
	// Write writes the result of a task, numbered upwards from 1 in the order of arrival. It returns ErrExists where the task has one.
	Write(ctx context.Context, run, task Sum, record []byte) error
	// Read returns the result of a task, or ErrNone.
	Read(ctx context.Context, run, task Sum) ([]byte, error)
	// Next waits for the first result of a run with a larger number than after. That it waits in vain does not say that there is none.
	Next(ctx context.Context, run Sum, after uint64) (Entry, error)
	// Last returns the number of the run's last result: 0, where there is none.
	Last(ctx context.Context, run Sum) (uint64, error)
}

// Entry is a numbered result.
type Entry struct {
	Number uint64
	Task   Sum
	Record []byte
}

// News takes word of the progress of tasks to whoever listens. It may lose, repeat and reorder messages, and nothing depends on them. Its
// methods may be called side by side.
type News interface {
	// Tell sends a message about a run. It does not wait for anybody.
	Tell(run Sum, message []byte) error
	// Hear calls heard with each message about a run, one call at a time, until stop is called.
	Hear(run Sum, heard func(message []byte)) (stop func(), err error)
}

// Wire takes frames between the nodes of a run. It may lose them, and bring them twice, late and in any order.
type Wire interface {
	// Most is the most bytes of a frame: 4 KiB or more.
	Most() int
	// Send sends a frame to a node, or to all of them. It must not keep the frame.
	Send(run Sum, to int, frame []byte) error
	// Listen calls hear with each frame that is sent to the node or to all, until stop is called. It may do so from several goroutines.
	Listen(run Sum, node int, hear func(frame []byte)) (stop func(), err error)
}

// All is the Wire's name of all nodes.
const All = -1
