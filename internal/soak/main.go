//go:build unix

// Command soak kills runs at random times and resumes them, again and again. It compares the files of each run with those of a run
// that was never stopped: all must have the same bytes, except for times.
//
//	go run ./internal/soak               # 200 kills
//	go run ./internal/soak -kills 2000 -seed 7
//
// Seven of ten signals are SIGKILL; the others are an interrupt, two interrupts at once, and a SIGTERM. Every start has a random
// number of threads, random kernels and a random time between two saved states. At the end it prints how many processes were
// killed in which phase of a run. The exit status is 1 if a run has other bytes.
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
	seed := flag.Uint64("seed", 1, "of the times and settings of the starts")
	verbose := flag.Bool("v", false, "print a line for every kill")
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
		s.tell = os.Stdout
	}
	if err := s.until(kills); err != nil {
		return fmt.Errorf("seed %d, %w\nthe files are in %s", seed, err, dir)
	}
	fmt.Print(s.report())
	return os.RemoveAll(dir)
}
