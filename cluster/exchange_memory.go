package cluster

import (
	"slices"
	"sync"
	"time"
)

// MemoryWire returns a Wire within this process, for frames of at most so many bytes. fate says of each frame after which times it arrives: never,
// once or more often; nil: once and at once.
func MemoryWire(most int, fate func(frame []byte) []time.Duration) Wire {
	return &memoryWire{most: most, fate: fate, ears: map[Sum][]*ear{}}
}

type memoryWire struct {
	most int
	fate func(frame []byte) []time.Duration
	turn sync.Mutex
	ears map[Sum][]*ear
}

// ear is a node that listens.
type ear struct {
	node int
	hear func([]byte)
}

func (w *memoryWire) Most() int { return w.most }

func (w *memoryWire) Listen(run Sum, node int, hear func([]byte)) (stop func(), err error) {
	w.turn.Lock()
	defer w.turn.Unlock()
	e := &ear{node, hear}
	w.ears[run] = append(w.ears[run], e)
	return func() {
		w.turn.Lock()
		defer w.turn.Unlock()
		w.ears[run] = slices.DeleteFunc(w.ears[run], func(o *ear) bool { return o == e })
	}, nil
}

func (w *memoryWire) Send(run Sum, to int, frame []byte) error {
	w.turn.Lock()
	defer w.turn.Unlock()
	for _, e := range w.ears[run] {
		if e.node != to && to != All {
			continue
		}
		after := []time.Duration{0}
		if w.fate != nil {
			after = w.fate(frame)
		}
		for _, d := range after {
			time.AfterFunc(d, func() { e.hear(slices.Clone(frame)) })
		}
	}
	return nil
}
