package starling

import (
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
		"chains":    {"method={mcmc: {chains: 100000, start: prior, epochs: 2, keep: last, move: {pcn: {}}}}", `; (\d+) chains would fit`, "method.mcmc.chains="},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		const limit = 60 << 20
		_, err := resume(t.Context(), dir, trees(t, c.sets), Options{Memory: limit, Threads: 2})
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
	r, err := prepare(trees(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if need := r.memory(8, 3); need < programBytes || need > programBytes+4<<20 {
		t.Errorf("a small run needs %d bytes", need)
	}
	if err := r.fits(0); err != nil {
		t.Errorf("without a limit: %v", err)
	}
}
