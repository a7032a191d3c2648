package main

import (
	"testing"
	"time"
)

func TestSeconds(t *testing.T) {
	for d, want := range map[time.Duration]string{
		1400 * time.Millisecond: "1.4 s", 42 * time.Second: "42 s", 10 * time.Minute: "10 min", 5 * time.Hour: "5.0 h",
	} {
		if got := seconds(d); got != want {
			t.Errorf("seconds(%v) = %q, want %q", d, got, want)
		}
	}
}
