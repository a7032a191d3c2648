//go:build unix

package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/starling-smc/starling/internal/metamorphic"
)

// patience is the longest time that one folder may take, all verbs together.
const patience = 10 * time.Second

// The outcomes of one folder.
const (
	refused = "refused" // every verb gave an error, or its whole result; at least one gave an error
	same    = "same"    // every verb gave its whole result
	failed  = "failed"
)

// try plays a case, and stops the process where it takes too long.
func try(w *metamorphic.World, c metamorphic.Case, tell func(op, said string, err error)) (outcome, text string, err error) {
	late := time.AfterFunc(patience, func() { panic(fmt.Sprintf("the folder takes more than %v", patience)) })
	defer late.Stop()
	was, err := w.Play(c, tell)
	var fault *metamorphic.Fault
	switch {
	case errors.As(err, &fault):
		return failed, err.Error(), nil
	case was:
		return refused, "", err
	}
	return same, "", err
}

// spread gives the folders to as many processes as there are processors. A process that ends early, killed, crashed or
// without a word for too long, is a failure of the folder it was at; another one goes on after it. first is a folder that failed.
func spread(dir string, seed uint64, folders int) (failures, first int, err error) {
	workers := runtime.NumCPU()
	var (
		turn   sync.Mutex
		done   sync.WaitGroup
		counts = map[string]int{}
		said   = time.Now()
	)
	count := func(i int, outcome, text string) {
		turn.Lock()
		defer turn.Unlock()
		if counts[outcome]++; outcome == failed {
			fmt.Printf("folder %d: %s\n", i, text)
			first = i
		}
		if time.Since(said) > 10*time.Second {
			said = time.Now()
			fmt.Fprintf(os.Stderr, "%d of %d folders, %d failures\n", counts[refused]+counts[same]+counts[failed], folders, counts[failed])
		}
	}
	for w := range workers {
		done.Go(func() {
			for next := w; next < folders; {
				fault := child(func(line string) {
					number, rest, _ := strings.Cut(line, " ")
					outcome, text, _ := strings.Cut(rest, " ")
					var i int
					if _, err := fmt.Sscan(number, &i); err == nil {
						count(i, outcome, text)
						next = i + workers
					}
				}, "-work", dir, "-seed", fmt.Sprint(seed), "-folders", fmt.Sprint(folders), "-part", fmt.Sprintf("%d,%d", next, workers))
				var exit *exec.ExitError
				switch {
				case fault == nil:
				case errors.As(fault, &exit) && exit.ExitCode() != setup:
					count(next, failed, fault.Error())
					next += workers
				default:
					turn.Lock()
					err, next = fault, folders
					turn.Unlock()
				}
			}
		})
	}
	done.Wait()
	if err == nil {
		fmt.Printf("%d folders damaged: %d refused, %d without effect on any result, %d failures\n", folders, counts[refused], counts[same], counts[failed])
	}
	return counts[failed], first, err
}

// worker damages the folders first, first + step, … below the given number, and prints a line for each: NUMBER OUTCOME TEXT.
func worker(seed uint64, first, step, folders int) error {
	w, err := metamorphic.NewWorld(fmt.Sprintf("worker-%d", first%step), "")
	if err != nil {
		return err
	}
	for i := first; i < folders; i += step {
		c, err := damaged(w, seed, i)
		if err != nil {
			return err
		}
		outcome, text, err := try(w, c, nil)
		if err != nil {
			return err
		}
		if outcome == failed {
			text = c.String() + ": " + text
		}
		fmt.Println(i, outcome, strings.ReplaceAll(text, "\n", " | "))
	}
	return nil
}

// child runs this program with other arguments, and passes on its lines.
func child(each func(line string), args ...string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(program, args...)
	var crash strings.Builder
	cmd.Stderr = &crash
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	late := time.AfterFunc(6*patience, func() { cmd.Process.Kill() })
	defer late.Stop()
	lines := bufio.NewScanner(out)
	for lines.Buffer(nil, 1<<20); lines.Scan(); late.Reset(6 * patience) {
		each(lines.Text())
	}
	if err := cmd.Wait(); err != nil {
		text := crash.String()
		return fmt.Errorf("the process ended: %w: %s", err, text[:min(len(text), 4000)])
	}
	return lines.Err()
}
