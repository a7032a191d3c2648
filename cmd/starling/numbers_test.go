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

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1200: "1,200", 61706: "61,706", 1000007: "1,000,007"} {
		if got := thousands(n); got != want {
			t.Errorf("thousands(%d) = %q", n, got)
		}
	}
}
