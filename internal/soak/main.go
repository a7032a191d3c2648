//go:build unix

// Command soak kills runs at random instants and resumes them, again and again. In the end each run's files must have the
// same bytes as those of a run that was never stopped, except for times.
//
//	go run ./internal/soak               # 200 kills
//	go run ./internal/soak -kills 2000 -seed 7
//	go run ./internal/soak -cluster      # workers, servers and submitters of clusters (cluster.go)
//	go run ./internal/soak -case 'new map; start threads=3 signal=KILL after=40ms; start; same'    # these operations (internal/metamorphic)
//
// Of ten signals seven are SIGKILL; the others are an interrupt, an interrupt followed by a second one at once, and a
// SIGTERM. Every start has its own number of threads, kernel, and time between two checkpoints. At the end it prints how many
// processes were killed in which phase of a run. The exit status is 1 if the bytes of any run differ; then a case is printed of few
// operations that still fails.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/starling-smc/starling/internal/metamorphic"
)

func main() {
	kills := flag.Int("kills", 200, "processes to kill")
	seed := flag.Uint64("seed", 1, "seed of the instants and of the settings of each start")
	text := flag.String("case", "", "`operations` with \"; \" between them: do these, and print what each said")
	machines := flag.Bool("cluster", false, "kill workers, servers and submitters of clusters")
	verbose := flag.Bool("v", false, "print every kill")
	flag.Parse()
	if err := run(*kills, *seed, *text, *machines, *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

func run(kills int, seed uint64, text string, machines, verbose bool) error {
	dir, err := os.MkdirTemp("", "soak")
	if err != nil {
		return err
	}
	s, err := newSoak(dir, seed)
	if err != nil {
		return err
	}
	if verbose || text != "" {
		s.log = os.Stdout
	}
	switch {
	case text != "":
		err = s.play(metamorphic.Parse(text))
	case machines:
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		var report string
		report, err = s.clusters(ctx, kills)
		fmt.Print(report)
	default:
		if err = s.until(kills, metamorphic.Runs); err == nil {
			fmt.Print(s.report())
		}
	}
	if err != nil {
		return fmt.Errorf("seed %d, %w\nthe files are in %s", seed, err, dir)
	}
	return os.RemoveAll(dir)
}
