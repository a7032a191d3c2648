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
// ten seconds of a processor, and memory above four times the folder and 200 MB are failures. Each is printed with its number, and one is
// made small: few operations that still fail. The exit status is 1 if there was any.
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/starling-smc/starling/internal/metamorphic"
)

func main() {
	folders := flag.Int("folders", 10_000, "folders to damage")
	seed := flag.Uint64("seed", 1, "seed of the damage")
	one := flag.Int("one", -1, "the number of one folder: damage it alone, and print what each verb said")
	text := flag.String("case", "", "`operations` with \"; \" between them: do these, and print what each said")
	place := flag.String("place", "", "used by the command itself: the folder for damaged ones, in the working directory")
	flag.Parse()
	if err := run(*folders, *seed, *one, *text, *place); err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
		os.Exit(1)
	}
}

func run(folders int, seed uint64, one int, text, place string) error {
	if place != "" {
		return metamorphic.NewWorld(place, "").Serve(os.Stdin, os.Stdout)
	}
	dir, err := os.MkdirTemp("", "hostile")
	if err != nil {
		return err
	}
	if err := os.Chdir(dir); err != nil {
		return err
	}
	if err := metamorphic.WriteTables(); err != nil {
		return err
	}
	if text == "" {
		if err := prepare(); err != nil {
			return err
		}
	}
	if one >= 0 {
		c, err := damaged(seed, one)
		if err != nil {
			return err
		}
		text = c.String()
	}
	if text != "" {
		fmt.Println("the folder is in", dir)
		return again(metamorphic.Parse(text))
	}
	first, failures, err := spread(seed, folders)
	if err != nil {
		return err
	}
	if failures > 0 {
		again(first)
		return fmt.Errorf("%d failures in %d folders (the runs are in %s)", failures, folders, dir)
	}
	return os.RemoveAll(dir)
}

// prepare makes the whole runs.
func prepare() error {
	w := metamorphic.NewWorld("damaged", "")
	for _, r := range metamorphic.Runs {
		if err := w.Make(r); err != nil {
			return err
		}
	}
	return nil
}

// damaged is the case of a folder: damages of one file, and all verbs.
func damaged(seed uint64, i int) (metamorphic.Case, error) {
	r := rand.New(rand.NewPCG(seed, uint64(i)))
	run := metamorphic.Runs[r.IntN(len(metamorphic.Runs))]
	state, way := "done", append(run.Verbs(), "verify")
	if r.IntN(3) == 0 {
		state, way = "begun", []string{"resume"}
	}
	damages, err := metamorphic.Damages(r, state+"/"+run.Name)
	return slices.Concat(metamorphic.Case{state + " " + run.Name}, damages, way), err
}

// spread gives the folders to as many processes as there are processors, and counts what they give. first is the case of a folder that failed.
func spread(seed uint64, folders int) (first metamorphic.Case, failures int, err error) {
	type result struct {
		i       int
		c       metamorphic.Case
		refused bool
		err     error
	}
	workers, results := runtime.NumCPU(), make(chan result, 100)
	for w := range workers {
		go func() {
			player := metamorphic.Player{Args: []string{"-place", fmt.Sprint("worker-", w)}}
			defer player.End()
			for i := w; i < folders; i += workers {
				r := result{i: i}
				if r.c, r.err = damaged(seed, i); r.err == nil {
					_, r.refused, r.err = player.Play(r.c)
				}
				results <- r
			}
		}()
	}
	refused, said := 0, time.Now()
	for n := range folders {
		r := <-results
		switch {
		case metamorphic.IsFault(r.err):
			fmt.Printf("folder %d: %s: %s\n", r.i, r.c, strings.ReplaceAll(r.err.Error(), "\n", " | "))
			first = r.c
			failures++
		case r.err != nil:
			return nil, 0, fmt.Errorf("folder %d: %s: %w", r.i, r.c, r.err)
		case r.refused:
			refused++
		}
		if time.Since(said) > 10*time.Second {
			said = time.Now()
			fmt.Fprintf(os.Stderr, "%d of %d folders, %d failures\n", n+1, folders, failures)
		}
	}
	fmt.Printf("%d folders damaged: %d refused, %d without effect on any result, %d failures\n", folders, refused, folders-refused-failures, failures)
	return first, failures, nil
}

// again plays a case, prints what each operation says, and makes the case small if it fails.
func again(c metamorphic.Case) error {
	player := metamorphic.Player{Args: []string{"-place", "damaged"}}
	defer player.End()
	said, _, err := player.Play(c)
	fmt.Printf("%s\n%s", c, said)
	fails := func(c metamorphic.Case) bool {
		_, _, err := player.Play(c)
		return metamorphic.IsFault(err)
	}
	if metamorphic.IsFault(err) {
		fmt.Printf("made small: go run ./internal/hostile -case '%s'\n", metamorphic.Reduce(c, fails))
	}
	return err
}
