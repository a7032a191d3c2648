package testkit

import (
	"os"
	"strconv"
	"testing"
	"time"
)

// Long says whether tests run that take so many minutes of one processor. STARLING_LONG holds the most minutes that one test may take; by default
// it is 0, and no package's tests take more than seconds.
func Long(t testing.TB, minutes int) bool {
	t.Helper()
	text, ok := os.LookupEnv("STARLING_LONG")
	if !ok {
		return false
	}
	most, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("STARLING_LONG=%s: want the most minutes that one test may take, as a whole number", text)
	}
	return minutes <= most
}

// Takes skips a test that takes so many minutes, unless such tests run.
func Takes(t testing.TB, minutes int) {
	t.Helper()
	if !Long(t, minutes) {
		t.Skipf("it takes up to %d minutes: set STARLING_LONG=%d", minutes, minutes)
	}
}

// Patience is how long a test waits for what must come. It is long, since it is no fault that a machine is busy.
const Patience = 3 * time.Minute
