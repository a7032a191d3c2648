//go:build unix

// Command soak kills runs at random instants and goes on with them, again and again, and compares what they leave with
// what a run leaves that nobody touched: the same bytes, in every file but for times.
//
//	go run ./internal/soak               # 200 kills
//	go run ./internal/soak -kills 2000 -seed 7
//
// Of ten signals seven are SIGKILL; the others are an interrupt, an interrupt with a second one right behind it, and a
// SIGTERM. Every start takes its own number of threads, kernels and time between two states that are saved. At the end
// it prints how many processes were ended in which phase of a run; the exit status is 1 if any run came to other bytes.
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
	seed := flag.Uint64("seed", 1, "of the instants and of what differs between starts")
	verbose := flag.Bool("v", false, "tell of every kill")
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
