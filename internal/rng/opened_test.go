package rng

import (
	"slices"
	"sync"
	"testing"
)

// Opened lists every stream that is opened meanwhile, also by other goroutines, and none that is opened before or after.
func TestOpened(t *testing.T) {
	key := func(i int) Key {
		return Key{Seed: 3, Purpose: Synthetic, Island: 1, Iteration: i, Mutation: 2, Particle: 5}
	}
	key(0).Stream()
	keys := Opened(func() {
		key(1).Stream().Uint64()
		var wait sync.WaitGroup
		for i := range 50 {
			wait.Go(func() { key(i + 2).Stream() })
		}
		wait.Wait()
	})
	key(60).Stream()
	if len(keys) != 51 || keys[0] != key(1) {
		t.Errorf("%d keys: %v", len(keys), keys)
	}
	for i := range 51 {
		if !slices.Contains(keys, key(i+1)) {
			t.Errorf("%v is missing", key(i+1))
		}
	}
	if keys := Opened(func() {}); keys != nil {
		t.Errorf("nothing opens %v", keys)
	}
}
