package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"sync"
)

// Word is what a worker tells of a task while it computes.
type Word struct {
	Task    Sum             `json:"task"`
	Machine string          `json:"machine"` // on which the worker is
	Worker  string          `json:"worker"`
	Step    json.RawMessage `json:"step"`              // what Work said
	Refused string          `json:"refused,omitempty"` // why this worker cannot compute the task
}

// Tell tells whoever listens how far the task is. step is a JSON value. It may be lost.
func (j *Job) Tell(step []byte) {
	a := j.attempt
	if a.News != nil {
		a.noteIf(a.task, a.News.Tell(a.run, encode(Word{Task: a.id, Machine: a.Machine, Worker: a.Name, Step: step})))
	}
}

// Share is how much of the work is done, as Progress was told: 0 to 1.
func (j *Job) Share() float64 { return math.Float64frombits(j.attempt.progress.Load()) }

// Refuse tells whoever listens that this worker cannot compute a task.
func (w *Worker) Refuse(err *ForeignError) {
	if w.News != nil {
		w.noteIf(err.task, w.News.Tell(err.task.Run(), encode(Word{Task: err.task.Digest(), Machine: w.Machine, Worker: w.Name, Refused: err.Error()})))
	}
}

// Hear calls heard with what workers tell of a run, until stop is called. Messages that are no words of workers are passed over.
func (c Cluster) Hear(run Sum, heard func(Word)) (stop func(), err error) {
	if c.News == nil {
		return func() {}, nil
	}
	return c.News.Hear(run, func(message []byte) {
		var w Word
		if decode(message, &w) == nil {
			heard(w)
		}
	})
}

// Keep stores bytes that the state and the result name, such as files. They stay when the state changes.
func (j *Job) Keep(b []byte) (Content, error) {
	a := j.attempt
	defer a.moves()
	c, err := Save(context.WithoutCancel(j.ctx), a.Blocks, Shared, b)
	if err == nil && !slices.ContainsFunc(a.kept, func(k Content) bool { return k.Sum == c.Sum }) {
		a.kept = append(slices.Clip(a.kept), c) // a state that is being written may share it
	}
	return c, err
}

// Beside stores bytes that come with the result and are not compared, as they differ from worker to worker by nature.
func (j *Job) Beside(b []byte) (err error) {
	defer j.attempt.moves()
	j.attempt.beside, err = Save(context.WithoutCancel(j.ctx), j.attempt.Blocks, Shared, b)
	return err
}

// Seed gives a task that no worker has taken yet a state to go on from. kept are contents in the space Shared that the state names.
func (c Cluster) Seed(ctx context.Context, task Task, saved []byte, kept ...Content) error {
	run, id := task.Run(), task.Digest()
	var s state
	revision, err := read(ctx, c.Values, stateKey(run, id), &s)
	if err != nil || revision > 0 {
		return err
	}
	content, err := Save(ctx, c.Blocks, stateKey(run, id), saved)
	if err != nil {
		return err
	}
	_, err = swap(ctx, c.Values, stateKey(run, id), state{Saved: []Content{content}, Kept: kept}, 0)
	if errors.Is(err, ErrConflict) { // a worker has it now
		return nil
	}
	return err
}

// memoryNews is a News.
type memoryNews struct {
	turn    sync.Mutex
	next    int
	hearers map[Sum]map[int]func([]byte)
}

func (n *memoryNews) Tell(run Sum, message []byte) error {
	n.turn.Lock()
	defer n.turn.Unlock()
	for _, heard := range n.hearers[run] {
		heard(message)
	}
	return nil
}

func (n *memoryNews) Hear(run Sum, heard func([]byte)) (stop func(), err error) {
	n.turn.Lock()
	defer n.turn.Unlock()
	if n.hearers == nil {
		n.hearers = map[Sum]map[int]func([]byte){}
	}
	if n.hearers[run] == nil {
		n.hearers[run] = map[int]func([]byte){}
	}
	n.next++
	id := n.next
	n.hearers[run][id] = heard
	return func() {
		n.turn.Lock()
		defer n.turn.Unlock()
		delete(n.hearers[run], id)
	}, nil
}
