package testkit

import "testing"

// Statistics skips a test of statistics under the race detector, which takes ten times as long there. Other tests run the same
// code on several threads.
func Statistics(t *testing.T) {
	t.Helper()
	if Race {
		t.Skip("statistics, under the race detector")
	}
}

// NoThreads skips a test under the race detector that starts no goroutine and would take long there.
func NoThreads(t *testing.T) {
	t.Helper()
	if Race {
		t.Skip("no threads, under the race detector")
	}
}

// Elsewhere skips a test of the command that other builds than the usual one need not repeat: other tests run the same code under
// the race detector, and the same arithmetic with the kernels in Go.
func Elsewhere(t *testing.T) {
	t.Helper()
	if Race || Purego {
		t.Skip("in the usual build alone")
	}
}
