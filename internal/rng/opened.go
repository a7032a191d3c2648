package rng

import (
	"sync"
	"sync/atomic"
)

// Opened returns the keys of all streams that are opened while do runs, on any goroutine, in the order in which they are opened. It is for
// tests alone: they ask whether different draws have different keys. A program that uses it fails a test of internal/lint. Calls do not
// nest, and a test that is parallel with others sees their keys too.
func Opened(do func()) []Key {
	r := new(record)
	if !opened.CompareAndSwap(nil, r) {
		panic("random streams: Opened within Opened")
	}
	defer opened.Store(nil)
	do()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.keys
}

// opened is where the keys of streams are noted; nil in every program.
var opened atomic.Pointer[record]

type record struct {
	mu   sync.Mutex
	keys []Key
}

func (r *record) add(k Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keys = append(r.keys, k)
}
