//go:build unix

package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/metamorphic"
)

// trying is the time of a processor, in seconds, in which a run that differs is made small.
const trying = 300

// small halves the whole numbers of a preset's config, as long as the programs still differ and take no more of a processor, but for what
// such times vary by. It prints the command that compares the runs of these settings. before is the folder of the old program's run.
func (o *options) small(p pair, preset, seed, before string) error {
	text, err := os.ReadFile(filepath.Join(before, "config.yaml"))
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "same")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	own, spent, least := wholeNumbers(text), 0.0, math.Inf(1)
	changed := func(c metamorphic.Case) []string {
		return slices.DeleteFunc(slices.Clone(c), func(s string) bool { return slices.Contains(own, s) })
	}
	differ := func(c metamorphic.Case) bool {
		if spent > trying {
			return false
		}
		took := 0.0
		for name, of := range map[string]*program{"old": p.old, "new": p.new} {
			c, err := of.cost(filepath.Join(dir, name), p.kernel, preset, seed, changed(c)...)
			if err != nil {
				return false
			}
			took += c[1]
		}
		spent += took
		found, err := differences(filepath.Join(dir, "old"), filepath.Join(dir, "new"))
		if err != nil || found == nil || took > float64(1.1*least)+0.1 {
			return false
		}
		least = min(least, took)
		return true
	}
	line := []string{"go run ./internal/same", "-kernels", p.kernel, "-presets", preset}
	if seed != "" {
		line = append(line, "-seeds", seed)
	}
	if p.old.data != "" {
		line = append(line, "-data-dir", p.old.data)
	}
	for _, s := range slices.Concat(p.old.set, changed(halve(own, differ))) {
		line = append(line, "-set", "'"+s+"'")
	}
	fmt.Println("made small:", strings.Join(append(line, p.old.path, p.new.path), " "))
	return nil
}

// wholeNumbers lists the settings of a config that are numbers of something.
func wholeNumbers(text []byte) (c metamorphic.Case) {
	for _, d := range config.Differences(text, []byte("{}")) {
		if _, err := strconv.Atoi(d.Values[0]); err == nil && d.Path != "seed" {
			c = append(c, d.Path+"="+d.Values[0])
		}
	}
	return c
}

// halve halves the numbers of settings, of many at once and then one by one, as long as the programs differ: at once, since what is tried
// next takes less time; and of fewer, since some must fit each other or the data.
func halve(c metamorphic.Case, differ func(metamorphic.Case) bool) metamorphic.Case {
	for size := len(c); size > 0; size /= 2 {
		for from := 0; from < len(c); from += size {
			for {
				less := slices.Clone(c)
				for i := from; i < min(from+size, len(c)); i++ {
					less[i] = halved(less[i])
				}
				if slices.Equal(less, c) || !differ(less) {
					break
				}
				c = less
			}
		}
	}
	return c
}

// halved is a setting of half the number, if that is not 0.
func halved(setting string) string {
	key, value, _ := strings.Cut(setting, "=")
	if n, _ := strconv.Atoi(value); n > 1 {
		return fmt.Sprintf("%s=%d", key, n/2)
	}
	return setting
}
