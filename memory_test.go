package starling

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestMemory: what a refusal says would fit is fitted under the same limit, one more is refused, and no folder is left.
func TestMemory(t *testing.T) {
	const limit = 60 << 20
	// begins says whether a run begins under the limit: it is stopped as soon as its data are there.
	begins := func(spec Spec) (bool, error) {
		dir := filepath.Join(t.TempDir(), "run")
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		loaded := false
		_, err := resume(ctx, dir, spec, Options{Memory: limit, Threads: 2, Progress: func(Event) {
			loaded = true
			stop()
		}})
		if _, there := os.Stat(dir); there == nil {
			t.Error("a folder is left")
		}
		return loaded, err
	}
	alone := map[string][]string{"svgd": {"map=null", "prior.anchor=null"}}
	for name, c := range map[string]struct{ sets, would, again string }{
		"particles": {"method.smc.particles=200000", `; (\d+) particles would fit`, "method.smc.particles="},
		"islands":   {"method.smc.islands=100000", `; (\d+) islands of 8 would fit`, "method.smc.islands="},
		"chains": {
			"method={mcmc: {chains: 100000, start: prior, epochs: 2, keep: last, move: {pcn: {}}}}", `; (\d+) chains would fit`, "method.mcmc.chains=",
		},
		"svgd": {"method={svgd: {particles: 60000, epochs: 1}}", `; (\d+) particles would fit`, "method.svgd.particles="},
	} {
		var config *ConfigError
		loaded, err := begins(trees(t, append(alone[name], c.sets)...))
		if loaded || !errors.As(err, &config) || !strings.Contains(err.Error(), "of memory, but only 60 MB are available") {
			t.Errorf("%s: %v", name, err)
			continue
		}
		match := regexp.MustCompile(c.would).FindStringSubmatch(err.Error())
		if match == nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		n, _ := strconv.Atoi(match[1])
		for more, fits := range []bool{true, false} {
			loaded, err := begins(trees(t, append(alone[name], c.sets, c.again+strconv.Itoa(n+more))...))
			if loaded != fits || errors.As(err, &config) == fits {
				t.Errorf("%s: %d: %v", name, n+more, err)
			}
		}
	}
	if _, err := Fit(t.Context(), trees(t), Options{Memory: limit}); err != nil {
		t.Errorf("a small run: %v", err)
	}
}
