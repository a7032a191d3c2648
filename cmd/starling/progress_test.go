package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/starling-smc/starling/method"
)

// tick stands for a tick among statuses.
var tick = method.Status{}

// shown shows statuses and ticks, so much time apart, and returns what each has written.
func shown(on func(out *bytes.Buffer) screen, apart time.Duration, statuses ...method.Status) (written []string) {
	var out bytes.Buffer
	clock := time.Now()
	p := &progress{screen: on(&out), now: func() time.Time { return clock }, stop: func() {}}
	for _, s := range statuses {
		clock = clock.Add(apart)
		if s == tick {
			p.tick()
		} else {
			p.show(s)
		}
		written = append(written, out.String())
		out.Reset()
	}
	p.end()
	return append(written, out.String())
}

// wide is a terminal of so many columns.
func wide(columns int) func(out *bytes.Buffer) screen {
	return func(out *bytes.Buffer) screen { return &terminal{out: out, width: func() int { return columns }} }
}

func compare(t *testing.T, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d outputs, want %d: %q", len(got), len(want), got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("status %d: written\n%q, want\n%q", i, got[i], want[i])
		}
	}
}

// longRun is the progress of a run of mnist7-smc whose steps are long.
var longRun = []method.Status{
	{Phase: "reading the data"},
	tick,
	{Phase: "MAP", Long: "0 of 8 starts", Short: "0 of 8 starts"},
	{Phase: "MAP", Share: 0.4, Long: "3 of 8 starts, epoch 57  validation 91.5 %", Short: "3 of 8 starts"},
	tick,
	{Phase: "MAP", Share: 1, Ended: true, Long: "best of 8 starts, epoch 131  validation 92.5 %", Short: "best of 8 starts"},
	tick,
	{Phase: "islands 8×10"},
	tick,
	{Phase: "islands 8×10", Share: 0.1, Long: "λ 0.001  ESS 5.0/10  accepted 0.30  ancestors 9", Short: "λ 0.001  ESS 5"},
	{Phase: "islands 8×10", Share: 0.5, Long: "λ 0.31  ESS 5.0/10  accepted 0.58  ancestors 4", Short: "λ 0.31  ESS 5"},
	tick,
	{Phase: "islands 8×10", Share: 1, Ended: true, Long: "λ 1  ESS 6.0/10  accepted 0.58  ancestors 1", Short: "λ 1  ESS 6"},
	{Phase: "evaluation"},
	tick,
}

// On a terminal of 80 columns lines are redrawn in place and fit the width; the last of a phase stays, and work without figures
// leaves nothing.
func TestTerminalLines(t *testing.T) {
	compare(t, shown(wide(80), time.Second, longRun...), []string{
		"",
		"\rreading the data                                                          1.0 s\x1b[K",
		"\rMAP                    0 of 8 starts\x1b[K",
		"\rMAP          ███▎      3 of 8 starts, epoch 57  validation 91.5 %     ETA 1.5 s\x1b[K",
		"\rMAP          ███▎      3 of 8 starts, epoch 57  validation 91.5 %     ETA 0.5 s\x1b[K",
		"\rMAP          best of 8 starts, epoch 131  validation 92.5 %               3.0 s\x1b[K\n",
		"",
		"",
		"\rislands 8×10                                                              1.0 s\x1b[K",
		"\rislands 8×10 ▊         λ 0.001  ESS 5.0/10  accepted 0.30  ancestors 9 ETA 18 s\x1b[K",
		"\rislands 8×10 ████      λ 0.31  ESS 5.0/10  accepted 0.58  ancestors 4 ETA 3.0 s\x1b[K",
		"\rislands 8×10 ████      λ 0.31  ESS 5.0/10  accepted 0.58  ancestors 4 ETA 2.0 s\x1b[K",
		"\rislands 8×10 λ 1  ESS 6.0/10  accepted 0.58  ancestors 1                  5.0 s\x1b[K\n",
		"",
		"\revaluation                                                                1.0 s\x1b[K",
		"\r\x1b[K",
	})
}

// TestTimeLeftOfResumed: of a run that goes on from a half, the time left is by the speed since then, and not by the share of all.
func TestTimeLeftOfResumed(t *testing.T) {
	written := shown(wide(60), time.Second, method.Status{Phase: "islands 8×10"}, method.Status{Phase: "islands 8×10", Share: 0.5, Resumed: true, Long: "λ 0.1"},
		method.Status{Phase: "islands 8×10", Share: 0.51, Long: "λ 0.2"})
	if last := written[2]; !strings.Contains(last, "ETA 49 s") {
		t.Errorf("a hundredth in a second, 49 hundredths are left: %q", last)
	}
}

// Statuses that come fast are not all drawn, but the first and the last of a phase are.
func TestTerminalIsNotFlooded(t *testing.T) {
	var statuses []method.Status
	for i := range 100 {
		statuses = append(statuses, method.Status{Phase: "MAP", Share: float64(i) / 100, Long: fmt.Sprint(i, " of 100 epochs")})
	}
	statuses = append(statuses, method.Status{Phase: "MAP", Share: 1, Ended: true, Long: "best"}, method.Status{Phase: "islands", Long: "λ 0"})
	written := shown(wide(80), time.Millisecond, statuses...)
	lines := strings.Count(strings.Join(written, ""), "\r")
	if lines != 3 || written[0] == "" || written[100] == "" || written[101] == "" {
		t.Errorf("%d lines within 0.1 s: %q", lines, written)
	}
}

// On 80 columns every figure and the time that is left are there, however long the figures; where less room is left, the shorter
// way to write them is taken.
func TestNarrow(t *testing.T) {
	for _, c := range []struct {
		width int
		s     method.Status
		want  string
	}{
		{80, method.Status{Phase: "islands 100×1000", Share: 0.25, Long: "λ 0.0012  ESS 512.5/1000  accepted 0.58  ancestors 1000", Short: "λ 0.0012  ESS 512  acc 0.58  anc 1000"},
			"islands 100×1000 ██        λ 0.0012  ESS 512  acc 0.58  anc 1000      ETA 3 min"},
		{60, method.Status{Phase: "islands 8×10", Share: 0.25, Long: "λ 0.0012  ESS 5.0/10  accepted 0.58  ancestors 9", Short: "λ 0.0012  ESS 5  acc 0.58  anc 9"},
			"islands 8×10 λ 0.0012  ESS 5  acc 0.58  anc 9     ETA 3 min"},
		{80, method.Status{Phase: "8 chains", Share: 0.25, Long: "1,520/1,600 epochs  accepted 0.72  step 0.0089", Short: "1,520/1,600 ep  acc 0.72  step 0.0089"},
			"8 chains     ██        1,520/1,600 epochs  accepted 0.72  step 0.0089 ETA 3 min"},
		{20, method.Status{Phase: "8 chains", Share: 0.25, Long: "1,520/1,600 epochs", Short: "1,520/1,600 ep"}, "8 chains  ETA 3 min"},
	} {
		written := shown(wide(c.width), time.Minute, method.Status{Phase: c.s.Phase}, c.s)
		got := strings.TrimSuffix(strings.TrimPrefix(written[1], "\r"), "\x1b[K")
		if n := utf8.RuneCountInString(got); got != c.want || n >= c.width {
			t.Errorf("%d columns of %d\n%q, want\n%q", n, c.width, got, c.want)
		}
	}
}

// Where there is no terminal each tick writes a line with phase, share, time left and figures; so does the end of a phase of ten
// seconds or more.
func TestPlainLines(t *testing.T) {
	compare(t, shown(func(out *bytes.Buffer) screen { return plain{out} }, 10*time.Second, longRun...), []string{
		"",
		"reading the data  10 s so far\n",
		"",
		"",
		"MAP  40 %  ETA 5.0 s  3 of 8 starts, epoch 57  validation 91.5 %\n",
		"MAP  done in 30 s  best of 8 starts, epoch 131  validation 92.5 %\n",
		"after MAP  10 s so far\n",
		"",
		"islands 8×10  10 s so far\n",
		"",
		"",
		"islands 8×10  50 %  ETA 20 s  λ 0.31  ESS 5.0/10  accepted 0.58  ancestors 4\n",
		"islands 8×10  done in 50 s  λ 1  ESS 6.0/10  accepted 0.58  ancestors 1\n",
		"",
		"evaluation  10 s so far\n",
		"",
	})
}

// A short run writes no plain line, and one whose step takes minutes writes one at every tick.
func TestPlainLinesOfShortAndLongSteps(t *testing.T) {
	on := func(out *bytes.Buffer) screen { return plain{out} }
	for i, line := range shown(on, time.Second, method.Status{Phase: "MAP"}, method.Status{Phase: "MAP", Share: 1, Ended: true, Long: "best"}) {
		if line != "" {
			t.Errorf("status %d of a short run: %q", i, line)
		}
	}
	step := method.Status{Phase: "islands 8×10", Share: 0.5, Long: "λ 0.31"}
	compare(t, shown(on, 10*time.Second, method.Status{Phase: "islands 8×10"}, step, tick, tick, tick), []string{
		"", "", "islands 8×10  50 %  20 s so far  λ 0.31\n",
		"islands 8×10  50 %  30 s so far  λ 0.31\n", "islands 8×10  50 %  40 s so far  λ 0.31\n", "",
	})
}

// Of a phase that begins with a share done, as when a run is resumed, only the rest counts for the time left.
func TestTimeLeftOfAResumedPhase(t *testing.T) {
	var p phase
	now := time.Now()
	p.update(method.Status{Phase: "MAP", Share: 0.8}, now)
	p.update(method.Status{Phase: "MAP", Share: 0.9}, now.Add(time.Minute))
	if got := p.left(now.Add(time.Minute)); got.Round(time.Second) != time.Minute {
		t.Errorf("half of the rest took a minute: %v left", got)
	}
	if got := p.left(now.Add(90 * time.Second)); got.Round(time.Second) != 30*time.Second {
		t.Errorf("half a minute later: %v left", got)
	}
	p.update(method.Status{Phase: "islands", Share: 0}, now)
	p.update(method.Status{Phase: "islands", Share: 1e-300}, now.Add(time.Minute))
	if got := p.left(now.Add(time.Minute)); got != 0 {
		t.Errorf("with hardly any speed: %v left", got)
	}
}

// Ticks come from their channel until the work is over.
func TestFollow(t *testing.T) {
	var out bytes.Buffer
	clock := time.Now()
	p := &progress{screen: plain{&out}, now: func() time.Time { return clock }, stop: func() {}}
	if p.tick(); out.Len() > 0 {
		t.Errorf("a tick before the first status wrote: %q", out.String())
	}
	p.show(method.Status{Phase: "MAP"})
	clock = clock.Add(12 * time.Second)
	ticks, done, followed := make(chan time.Time), make(chan struct{}), make(chan struct{})
	go func() {
		p.follow(ticks, done)
		close(followed)
	}()
	ticks <- clock
	ticks <- clock
	close(done)
	<-followed
	if got, want := out.String(), strings.Repeat("MAP  12 s so far\n", 2); got != want {
		t.Errorf("two ticks wrote %q, want %q", got, want)
	}
	p.end()
	if p.tick(); strings.Count(out.String(), "\n") != 2 {
		t.Errorf("a tick after the end wrote: %q", out.String())
	}
}

// A file is written plain lines, and nothing with --quiet or --json.
func TestNewScreen(t *testing.T) {
	file, err := os.Create(t.TempDir() + "/stderr")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, c := range []struct {
		quiet, json bool
		want        screen
	}{{false, false, plain{file}}, {true, false, silent{}}, {false, true, silent{}}, {true, true, silent{}}} {
		if got := newScreen(file, c.quiet, c.json); got != c.want {
			t.Errorf("quiet %v, json %v: %T, want %T", c.quiet, c.json, got, c.want)
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
