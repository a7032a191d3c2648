//go:build unix

// Command hostile damages the files of runs' folders at random and reads the folders: predict, evaluate, report, compare and
// resume must give an error, or what the whole folder gives, byte for byte.
//
//	go run ./internal/hostile                     # 10,000 damaged folders
//	go run ./internal/hostile -folders 100000 -seed 3
//	go run ./internal/hostile -seed 3 -one 4711   # one of them again, with its errors; the folder is kept
//	go run ./internal/hostile -case 'done chains; edit metrics.json 7 8 0; metrics'    # these operations (internal/metamorphic)
//
// A panic, a result that differs without an error, an error of a kind that does not say that a file is damaged, more than
// ten seconds, and memory above four times the folder and 200 MB are failures. Each is printed with its number, and one of them
// is made small: the fewest operations that still fail. The exit status is 1 if there was any.
package main

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"

	"github.com/starling-smc/starling/internal/metamorphic"
)

// setup is the exit status of a process that cannot begin.
const setup = 3

func main() {
	folders := flag.Int("folders", 10_000, "folders to damage")
	seed := flag.Uint64("seed", 1, "seed of the damage")
	one := flag.Int("one", -1, "the number of one folder: damage it alone, and print what each verb said")
	text := flag.String("case", "", "`operations` with \"; \" between them: do these, and print what each verb said")
	work := flag.String("work", "", "used by the command itself: the folder of the runs")
	part := flag.String("part", "", "used by the command itself: FIRST,STEP of the folders that this process damages")
	flag.Parse()
	if err := run(*folders, *seed, *one, *text, *work, *part); err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
		var fault *metamorphic.Fault
		if *work != "" && !errors.As(err, &fault) {
			os.Exit(setup)
		}
		os.Exit(1)
	}
}

func run(folders int, seed uint64, one int, text, work, part string) error {
	alone := work == ""
	if alone {
		var err error
		if work, err = os.MkdirTemp("", "hostile"); err != nil {
			return err
		}
	}
	if err := os.Chdir(work); err != nil {
		return err
	}
	if part != "" {
		var first, step int
		if _, err := fmt.Sscanf(part, "%d,%d", &first, &step); err != nil {
			return err
		}
		return worker(seed, first, step, folders)
	}
	w, err := metamorphic.NewWorld("damaged", "")
	if err != nil {
		return err
	}
	switch {
	case text != "" && !alone:
		_, text, err := try(w, metamorphic.Parse(text), func(op, _ string, err error) { fmt.Printf("%-9s %v\n", op, err) })
		if text != "" {
			err = metamorphic.Faultf("%s", text)
		}
		return err
	case text != "":
		return again(work, metamorphic.Parse(text))
	case one >= 0:
		c, err := damaged(w, seed, one)
		if err != nil {
			return err
		}
		return again(work, c)
	}
	for _, r := range metamorphic.Runs {
		if err := w.Make(r); err != nil {
			return err
		}
	}
	failures, first, err := spread(work, seed, folders)
	if err == nil && failures > 0 {
		var c metamorphic.Case
		if c, err = damaged(w, seed, first); err == nil {
			small(work, c)
			err = fmt.Errorf("%d failures in %d folders (the runs are in %s)", failures, folders, work)
		}
	}
	if err != nil {
		return err
	}
	return os.RemoveAll(work)
}

// damaged is the case of a folder: damages of one file, and all verbs.
func damaged(w *metamorphic.World, seed uint64, i int) (metamorphic.Case, error) {
	r := rand.New(rand.NewPCG(seed, uint64(i)))
	run := metamorphic.Runs[r.IntN(len(metamorphic.Runs))]
	state, way := "done", append(run.Verbs(), "verify")
	if r.IntN(3) == 0 {
		state, way = "begun", []string{"resume"}
	}
	c, err := w.Damaged(r, metamorphic.Case{state + " " + run.Name})
	return append(c, way...), err
}

// again plays one case in a process of its own, and makes it small if it fails.
func again(work string, c metamorphic.Case) error {
	fmt.Printf("%s\nthe folder is %s/damaged\n", c, work)
	err := play(work, c, func(line string) { fmt.Println(line) })
	if fails(err) {
		small(work, c)
	}
	return err
}

func play(work string, c metamorphic.Case, each func(line string)) error {
	return child(each, "-work", work, "-case", c.String())
}

// fails reports whether a process has found a fault, or crashed.
func fails(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && exit.ExitCode() != setup
}

// small prints a small case that fails as well.
func small(work string, c metamorphic.Case) {
	c = metamorphic.Reduce(c, func(c metamorphic.Case) bool { return fails(play(work, c, func(string) {})) })
	fmt.Printf("made small: go run ./internal/hostile -case '%s'\n", c)
}
