//go:build unix

package main

import (
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/metamorphic"
)

// soak kills runs of the module's command.
type soak struct {
	world  *metamorphic.World
	random *rand.Rand
	log    io.Writer // every start

	killed           map[string]int // by run and phase
	kills            int
	starts, finished int // finished: runs that ended with the same bytes
}

// newSoak builds the command, and works in a folder from then on.
func newSoak(dir string, seed uint64) (*soak, error) {
	program := filepath.Join(dir, "starling")
	if text, err := exec.Command("go", "build", "-o", program, "github.com/starling-smc/starling/cmd/starling").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, text)
	}
	if err := os.Chdir(dir); err != nil {
		return nil, err
	}
	s := &soak{world: metamorphic.NewWorld(".", program), random: rand.New(rand.NewPCG(seed, 5)), log: io.Discard, killed: map[string]int{}}
	return s, metamorphic.WriteTables()
}

// until kills and resumes all runs in turn, over and over, until the given number of processes was killed.
func (s *soak) until(kills int, all []metamorphic.Run) error {
	for i := 0; i < len(all) || s.kills < kills; i++ {
		r := all[i%len(all)]
		if err := s.world.Make(r); err != nil {
			return err
		}
		c := metamorphic.Case{"new " + r.Name}
		for range min(1+s.random.IntN(max(1, min(8, kills/len(all)))), kills-s.kills) {
			c = append(c, s.start()+s.signal(s.world.Took[r.Name]))
		}
		c = append(c, s.start(), "same")
		if err := s.play(c); err != nil {
			return fmt.Errorf("%w\nmade small: go run ./internal/soak -case '%s'", err, metamorphic.Reduce(c, s.fails))
		}
		s.finished++
	}
	return nil
}

// play plays a case, and counts its kills.
func (s *soak) play(c metamorphic.Case) error {
	_, name, _ := strings.Cut(c[0], " ")
	_, err := s.world.Play(c, func(op, said string, _ error) {
		fmt.Fprintf(s.log, "%s: %s: %s\n", name, op, said)
		if strings.HasPrefix(op, "start") {
			s.starts++
		}
		if said != "" && said != metamorphic.Ended {
			s.kills++
			s.killed[name+", "+said]++
		}
	})
	if err != nil {
		return fmt.Errorf("%s: %w", c, err)
	}
	return nil
}

// fails reports whether one of a few attempts fails: a process is never killed at quite the same instant.
func (s *soak) fails(c metamorphic.Case) bool {
	for range 4 {
		if _, err := s.world.Play(c, nil); metamorphic.IsFault(err) {
			return true
		}
	}
	return false
}

// start is a start with settings that change no byte.
func (s *soak) start() string {
	kernels := lanes.Kernels()
	return fmt.Sprintf("start kernel=%s threads=%d save-every=%dms", kernels[s.random.IntN(len(kernels))], 1+s.random.IntN(3), 1+s.random.IntN(40))
}

// signal ends a start at a random instant within half of the time that the run takes or, since some phases are short, soon after a
// file has appeared.
func (s *soak) signal(took time.Duration) string {
	kinds := []string{"KILL", "KILL", "KILL", "KILL", "KILL", "KILL", "KILL", "INT", "INTINT", "TERM"}
	files := []string{"config.yaml", "manifest.json", "trace.jsonl", "checkpoint", "samples-0-1", "posterior.safetensors", "tracks.jsonl", "metrics.json"}
	at, most := "", took/2+20*time.Millisecond
	if s.random.IntN(3) == 0 {
		at, most = " at="+files[s.random.IntN(len(files))], 5*time.Millisecond
	}
	return fmt.Sprintf(" signal=%s%s after=%v", kinds[s.random.IntN(len(kinds))], at, time.Duration(s.random.Int64N(int64(most))).Round(10*time.Microsecond))
}

// report lists the kills by run and phase.
func (s *soak) report() string {
	text := fmt.Sprintf("%d of %d processes ended by a signal, %d runs ended with the same bytes\n", s.kills, s.starts, s.finished)
	for _, at := range slices.Sorted(maps.Keys(s.killed)) {
		text += fmt.Sprintf("%5d %s\n", s.killed[at], at)
	}
	return text
}
