//go:build unix

// Command soak kills runs at random instants and resumes them, again and again. In the end each run's files must have the
// same bytes as those of a run that was never stopped, except for times.
//
//	go run ./internal/soak               # 200 kills
//	go run ./internal/soak -kills 2000 -seed 7
//
// Of ten signals seven are SIGKILL; the others are an interrupt, an interrupt followed by a second one at once, and a
// SIGTERM. Every start has its own number of threads, kernel, and time between two checkpoints. At the end it prints how many
// processes were killed in which phase of a run. The exit status is 1 if the bytes of any run differ.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	kills := flag.Int("kills", 200, "processes to kill")
	seed := flag.Uint64("seed", 1, "seed of the instants and of the settings of each start")
	verbose := flag.Bool("v", false, "print every kill")
	flag.Parse()
	if err := run(*kills, *seed, *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

func run(kills int, seed uint64, verbose bool) error {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return fmt.Errorf("not in the module: %w", err)
	}
	dir, err := os.MkdirTemp("", "soak")
	if err != nil {
		return err
	}
	program := filepath.Join(dir, "starling")
	build := exec.Command("go", "build", "-o", program, "./cmd/starling")
	build.Dir = strings.TrimSpace(string(out))
	if text, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, text)
	}
	s, err := newSoak(program, dir, seed)
	if err != nil {
		return err
	}
	if verbose {
		s.log = os.Stdout
	}
	if err := s.until(kills); err != nil {
		return fmt.Errorf("seed %d, %w\nthe files are in %s", seed, err, dir)
	}
	fmt.Print(s.report())
	return os.RemoveAll(dir)
}
