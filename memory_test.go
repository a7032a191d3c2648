package starling

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// TestMemory: what a refusal says would fit does fit, and one more does not.
func TestMemory(t *testing.T) {
	for name, c := range map[string]struct {
		sets, would string
		again       string
	}{
		"particles": {"method.smc.particles=200000", `; (\d+) particles would fit`, "method.smc.particles="},
		"islands":   {"method.smc.islands=100000", `; (\d+) islands of 8 would fit`, "method.smc.islands="},
		"chains": {
			"method={mcmc: {chains: 100000, start: prior, epochs: 2, keep: last, move: {pcn: {}}}}", `; (\d+) chains would fit`, "method.mcmc.chains=",
		},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		const limit = 60 << 20
		ctx, stop := context.WithCancel(t.Context())
		o := Options{Memory: limit, Threads: 2, Progress: func(Event) { stop() }} // had it begun, it would not end soon
		_, err := resume(ctx, dir, trees(t, c.sets), o)
		stop()
		var config *ConfigError
		if !errors.As(err, &config) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s: a folder is left", name)
		}
		match := regexp.MustCompile(c.would).FindStringSubmatch(err.Error())
		if match == nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		n, _ := strconv.Atoi(match[1])
		for more, fits := range []bool{true, false} {
			spec := trees(t, c.sets, c.again+strconv.Itoa(n+more))
			r, err := prepare(spec, Options{Threads: 2})
			if err != nil {
				t.Fatal(err)
			}
			if err := r.fits(limit); (err == nil) != fits {
				t.Errorf("%s: %d: %v", name, n+more, err)
			}
		}
	}
	// What a move keeps for a parameter: smooth annealing has a gradient more, cheap gradients have theirs apart.
	each := func(path, gradient string) int64 {
		r, err := prepare(trees(t, "method.smc={path: {"+path+"}, move: {leapfrog: {step: 0.1"+gradient+"}}}"), Options{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		return (r.memory(200_000, 1) - r.memory(100_000, 1)) / 100_000
	}
	r, err := prepare(trees(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := int64(r.Net.Dim())
	full, sda, cheap := each("full: {}", ""), each("sda: {}", ""), each("full: {}", ", gradient: {batch: 5}")
	if sda-full != 8*4*d || full-cheap != 8*(4-2)*d {
		t.Errorf("bytes a particle of %d parameters: %d, smooth annealing %d, cheap gradients %d", d, full, sda, cheap)
	}
	if full > 12*8*d {
		t.Errorf("a particle of %d parameters takes %d bytes, more than 12 numbers for each", d, full)
	}
	if need := r.memory(8, 3); need < programBytes || need > programBytes+4<<20 {
		t.Errorf("a small run needs %d bytes", need)
	}
	if err := r.fits(0); err != nil {
		t.Errorf("without a limit: %v", err)
	}
}
