package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/starling-smc/starling"
)

// TestProgress draws the phases of a run on a terminal of 80 columns: lines are redrawn in place, fit the width, and the
// last of a phase stands.
func TestProgress(t *testing.T) {
	spec, err := starling.Preset("mnist7-smc")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	clock := time.Now()
	p := &progress{out: &out, width: func() int { return 80 }, now: func() time.Time {
		clock = clock.Add(time.Second)
		return clock
	}}
	p.event(&starling.Loaded{Spec: &spec})
	for _, e := range []starling.Event{
		&starling.Descending{Restarts: 8, Done: 3, Share: 0.4, Epoch: 57, NLL: 0.3, Accuracy: 0.915},
		&starling.Descending{Restarts: 8, Done: 8, Share: 1, Epoch: 131, NLL: 0.25, Accuracy: 0.925},
		&starling.Sampling{Islands: 8, Share: 0.1, Temperature: 0.001, ESS: 5, Particles: 10, Acceptance: 0.3, Ancestors: 9},
		&starling.Sampling{Islands: 8, Share: 0.5, Temperature: 0.31, ESS: 5, Particles: 10, Acceptance: 0.58, Ancestors: 4},
		&starling.Sampling{Islands: 8, Share: 1, Done: 8, Temperature: 1, ESS: 6, Particles: 10, Acceptance: 0.58, Ancestors: 1},
	} {
		p.event(e)
	}
	p.end()
	want := []string{
		"\rMAP                    0 of 8 starts\x1b[K",
		"\rMAP          ███▎      3 of 8 starts, epoch 57  validation 91.5 %     ETA 3.0 s\x1b[K",
		"\rMAP          best of 8 starts, epoch 131  validation 92.5 %               3.0 s\x1b[K\n",
		"\rislands 8×10 ▋       λ 0.001  ESS 5.0/10  accepted 0.30  ancestors 9  ETA 9.0 s\x1b[K",
		"\rislands 8×10 ████      λ 0.31  ESS 5.0/10  accepted 0.58  ancestors 4 ETA 2.0 s\x1b[K",
		"\rislands 8×10 λ 1  ESS 6.0/10  accepted 0.58  ancestors 1                  3.0 s\x1b[K\n",
	}
	if got := out.String(); got != strings.Join(want, "") {
		t.Errorf("drawn\n%q\nwant\n%q", got, strings.Join(want, ""))
	}
}

// TestNarrow: on 80 columns every figure and the time that is left are there, however many islands and particles; where
// less room is left, words go before figures.
func TestNarrow(t *testing.T) {
	for _, c := range []struct {
		preset string
		width  int
		event  starling.Sampling
		want   string
	}{
		{"mnist7-smc", 80, starling.Sampling{Islands: 100, Particles: 1000, Share: 0.25, Temperature: 0.00123, ESS: 512.5, Acceptance: 0.58, Ancestors: 1000},
			"islands 100×1000 ██        λ 0.0012  ESS 512  acc 0.58  anc 1000      ETA 3 min"},
		{"mnist7-smc", 60, starling.Sampling{Islands: 8, Particles: 10, Share: 0.25, Temperature: 0.00123, ESS: 5, Acceptance: 0.58, Ancestors: 9},
			"islands 8×10 λ 0.0012  ESS 5  acc 0.58  anc 9     ETA 3 min"},
		{"mnist7", 80, starling.Sampling{Islands: 8, Share: 0.25, Epochs: 1520, Acceptance: 0.72, Step: 0.0089},
			"8 chains     ██        1,520/1,600 epochs  accepted 0.72  step 0.0089 ETA 3 min"},
	} {
		spec, err := starling.Preset(c.preset)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		clock := time.Now()
		p := &progress{out: &out, spec: &spec, width: func() int { return c.width }, now: func() time.Time { return clock }}
		p.event(&c.event)
		clock = clock.Add(time.Minute)
		out.Reset()
		p.event(&c.event)
		got := strings.TrimSuffix(strings.TrimPrefix(out.String(), "\r"), "\x1b[K")
		if n := utf8.RuneCountInString(got); got != c.want || n >= c.width {
			t.Errorf("%d columns of %d\n%q, want\n%q", n, c.width, got, c.want)
		}
	}
}

func TestBar(t *testing.T) {
	for share, want := range map[float64]string{-1: "        ", 0: "        ", 0.5: "████    ", 0.93: "███████▌", 1: "████████", 2: "████████"} {
		if got := bar(share, 8); got != want {
			t.Errorf("bar(%v) = %q, want %q", share, got, want)
		}
	}
}

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

// TestPredicting: a long prediction shows its rows and the time that is left.
func TestPredicting(t *testing.T) {
	var out bytes.Buffer
	clock := time.Now()
	p := &progress{out: &out, width: func() int { return 80 }, now: func() time.Time {
		clock = clock.Add(time.Second)
		return clock
	}}
	for _, done := range []int{0, 1024, 4096} {
		p.event(&starling.Predicting{Rows: 4096, Done: done})
	}
	p.end()
	if got, want := out.String(), "\rpredict                0 of 4,096 rows\x1b[K"; !strings.HasPrefix(got, want) {
		t.Errorf("drawn\n%q\nwant first\n%q", got, want)
	}
	for _, want := range []string{"\rpredict      ██        1,024 of 4,096 rows", "ETA 6.0 s\x1b[K", "\rpredict      4,096 of 4,096 rows", "3.0 s\x1b[K\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("drawn\n%q\nlacks\n%q", out.String(), want)
		}
	}
}
