//go:build unix

// Command hostile damages the files of runs' folders at random and reads the folders: predict, evaluate, report, compare and
// resume must give an error, or what the whole folder gives, byte for byte.
//
//	go run ./internal/hostile                     # 10,000 damaged folders
//	go run ./internal/hostile -folders 100000 -seed 3
//	go run ./internal/hostile -seed 3 -one 4711   # one of them again, with its errors; the folder is kept
//
// A panic, a result that differs without an error, an error of a kind that does not say that a file is damaged, more than
// ten seconds, and memory above four times the folder and 200 MB are failures. Each is printed with its number. The exit
// status is 1 if there was any.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

func main() {
	folders := flag.Int("folders", 10_000, "folders to damage")
	seed := flag.Uint64("seed", 1, "seed of the damage")
	one := flag.Int("one", -1, "the number of one folder: damage it alone, and print what each verb said")
	work := flag.String("work", "", "used by the command itself: the folder of the runs")
	part := flag.String("part", "", "used by the command itself: FIRST,STEP of the folders that this process damages")
	flag.Parse()
	if err := run(*folders, *seed, *one, *work, *part); err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
		os.Exit(1)
	}
}

func run(folders int, seed uint64, one int, work, part string) error {
	if part != "" {
		var first, step int
		if _, err := fmt.Sscanf(part, "%d,%d", &first, &step); err != nil {
			return err
		}
		return worker(work, seed, first, step, folders)
	}
	dir, err := os.MkdirTemp("", "hostile")
	if err != nil {
		return err
	}
	if err := prepare(dir); err != nil {
		return err
	}
	if one >= 0 {
		fmt.Println("the folder is", filepath.Join(dir, "damaged"))
		return again(dir, seed, one)
	}
	failures, err := spread(dir, seed, folders)
	if err != nil {
		return err
	}
	if failures > 0 {
		return fmt.Errorf("%d failures in %d folders (the runs are in %s)", failures, folders, dir)
	}
	return os.RemoveAll(dir)
}

// patience is the longest time that one folder may take, all verbs together.
const patience = 10 * time.Second

// spread gives the folders to as many processes as there are processors. A process that ends early, killed, crashed or
// without a word for too long, is a failure of the folder it was at; another one goes on after it.
func spread(dir string, seed uint64, folders int) (failures int, err error) {
	program, err := os.Executable()
	if err != nil {
		return 0, err
	}
	workers := runtime.NumCPU()
	var (
		turn   sync.Mutex
		done   sync.WaitGroup
		counts = map[string]int{}
		said   = time.Now()
		ended  int
	)
	for w := range workers {
		done.Go(func() {
			for next := w; next < folders; {
				fault := child(program, dir, seed, next, workers, folders, func(i int, outcome, text string) {
					turn.Lock()
					defer turn.Unlock()
					counts[outcome]++
					if next = i + workers; outcome == failed {
						failures++
						fmt.Printf("folder %d: %s\n", i, text)
					}
					if ended++; time.Since(said) > 10*time.Second {
						said = time.Now()
						fmt.Fprintf(os.Stderr, "%d of %d folders, %d failures\n", ended, folders, failures)
					}
				})
				if fault == nil {
					continue
				}
				turn.Lock()
				var setup *setupError
				if errors.As(fault, &setup) {
					err, next = fault, folders
				} else {
					fmt.Printf("folder %d: %v\n", next, fault)
					failures, next = failures+1, next+workers
				}
				turn.Unlock()
			}
		})
	}
	done.Wait()
	if err != nil {
		return 0, err
	}
	fmt.Printf("%d folders damaged: %d refused, %d without effect on any result, %d failures\n", folders, counts[refused], counts[same], failures)
	return failures, nil
}

// ready is a worker's first line: it has read the whole runs.
const ready = "ready"

// setupError is the error of a worker that could not begin.
type setupError struct{ error }

// child runs one worker and passes on its lines: NUMBER OUTCOME TEXT.
func child(program, dir string, seed uint64, first, step, folders int, each func(i int, outcome, text string)) error {
	cmd := exec.Command(program, "-work", dir, "-seed", fmt.Sprint(seed), "-folders", fmt.Sprint(folders), "-part", fmt.Sprintf("%d,%d", first, step))
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
	lines.Buffer(nil, 1<<20)
	if !lines.Scan() || lines.Text() != ready {
		cmd.Wait()
		return &setupError{errors.New(crash.String())}
	}
	for lines.Scan() {
		late.Reset(6 * patience)
		var i int
		number, rest, _ := strings.Cut(lines.Text(), " ")
		if _, err := fmt.Sscan(number, &i); err != nil {
			return fmt.Errorf("a worker says %q", lines.Text())
		}
		outcome, text, _ := strings.Cut(rest, " ")
		each(i, outcome, text)
	}
	err = cmd.Wait()
	if err == nil {
		return lines.Err()
	}
	text := crash.String()
	if at := strings.Index(text, "\n\n"); at > 0 && len(text) > 4000 {
		text = text[:4000]
	}
	return errors.Join(fmt.Errorf("the process ended: %w", err), errors.New(text))
}
