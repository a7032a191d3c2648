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
