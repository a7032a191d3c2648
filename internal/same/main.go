//go:build unix

// Command same says whether two builds of starling compute the same bytes.
//
//	go build -o /tmp/old ./cmd/starling                   # before a change
//	go build -o /tmp/new ./cmd/starling                   # after it
//	go run ./internal/same /tmp/old /tmp/new              # every preset that takes under a minute, on every kernel
//	go run ./internal/same -presets pima,mnist7-smc -seeds 1,2 -kernels avx512,go /tmp/old /tmp/new
//	go run ./internal/same -purego /tmp/oldp,/tmp/newp /tmp/old /tmp/new    # also two builds with -tags purego
//	go run ./internal/same -kernels go -presets mnist7 -set method.mcmc.epochs=160 /tmp/old /tmp/new        # a shorter run
//	go run ./internal/same -time -presets mnist7 /tmp/old /tmp/new          # how long each takes, and how much memory
//
// All files that a run results in must have the same bytes, and the trace the same values except for times. Runs are kept in a folder
// under -dir that is named by the checksum of their program: finished runs are not repeated after an interruption, or when only the
// other program changes. The first run that differs is made small: its whole numbers are halved as long as the programs differ. The
// exit status is 1 if anything differs.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/metamorphic"
)

// slowest is the longest time that a preset may take, on the processor's best kernel, to be run by default.
const slowest = time.Minute

// manySeeds are the presets that are run with three seeds by default. Together they have every kind of phase and diagnostic.
var manySeeds = map[string][]string{"mnist7": {"1", "2", "3"}, "mnist7-chains": {"1", "2", "3"}, "mnist7-smc": {"1", "2", "3"}}

func main() {
	var o options
	flag.StringVar(&o.presets, "presets", "", "`names` with commas between them (default: those that take under a minute)")
	flag.StringVar(&o.seeds, "seeds", "", "`numbers` with commas between them (default: the preset's own, and 1,2,3 of mnist7, mnist7-chains and mnist7-smc)")
	flag.StringVar(&o.kernels, "kernels", "", "`names` with commas between them (default: those of this processor)")
	flag.StringVar(&o.purego, "purego", "", "`OLD,NEW` built with -tags purego, to be compared as well")
	flag.StringVar(&o.data, "data-dir", os.Getenv("STARLING_DATA"), "`folder` of the data sets that are not built in")
	flag.Func("set", "`KEY=VALUE` for every preset, as in fit; the Go kernel takes a hundred times as long as the assembly", func(v string) error {
		o.set = append(o.set, v)
		return nil
	})
	flag.StringVar(&o.dir, "dir", "runs/same", "`folder` that keeps the runs")
	timed := flag.Bool("time", false, "time the programs in turns, instead of comparing what they write")
	flag.Parse()
	if flag.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "usage: same [flags] OLD NEW")
		flag.PrintDefaults()
		os.Exit(2)
	}
	o.old, o.new = flag.Arg(0), flag.Arg(1)
	work := o.compare
	if *timed {
		work = o.timing
	}
	if err := work(); err != nil {
		fmt.Fprintln(os.Stderr, "same:", err)
		os.Exit(1)
	}
}

type options struct {
	old, new                              string
	presets, seeds, kernels, purego, data string
	dir                                   string
	set                                   []string
}

// pair is two programs that are run on the same kernel.
type pair struct {
	old, new *program
	kernel   string
	name     string // the kernel, or purego
}

// pairs returns the pairs to run.
func (o *options) pairs() (all []pair, err error) {
	add := func(old, new, name string, kernels ...string) error {
		before, err := o.program(old)
		if err != nil {
			return err
		}
		after, err := o.program(new)
		if err != nil {
			return err
		}
		if before.runs == after.runs {
			return fmt.Errorf("%s and %s are the same bytes: there is nothing to compare", old, new)
		}
		for _, k := range kernels {
			all = append(all, pair{before, after, k, cmp.Or(name, k)})
		}
		return nil
	}
	kernels := split(o.kernels)
	if kernels == nil {
		kernels = lanes.Kernels()
	}
	if err := add(o.old, o.new, "", kernels...); err != nil || o.purego == "" {
		return all, err
	}
	old, new, ok := strings.Cut(o.purego, ",")
	if !ok {
		return nil, fmt.Errorf("-purego %s: want OLD,NEW", o.purego)
	}
	return all, add(old, new, "purego", "go")
}

// chosen returns the presets to run.
func (o *options) chosen(first pair) ([]string, error) {
	if presets := split(o.presets); presets != nil {
		return presets, nil
	}
	all, err := first.old.presets()
	if err != nil {
		return nil, err
	}
	var presets []string
	for _, name := range all {
		if _, err := first.old.fit(first.kernel, name, o.seedsOf(name)[0], slowest); err == nil {
			presets = append(presets, name)
		} else if !errors.Is(err, errSlow) {
			return nil, err
		}
	}
	fmt.Printf("presets of under a minute: %s\n", strings.Join(presets, ","))
	return presets, nil
}

// seedsOf returns the seeds of a preset; "" is its own.
func (o *options) seedsOf(preset string) []string {
	if seeds := split(o.seeds); seeds != nil {
		return seeds
	}
	if seeds := manySeeds[preset]; seeds != nil {
		return seeds
	}
	return []string{""}
}

// each calls f for every pair of programs, preset and seed; it stops at the first error.
func (o *options) each(f func(p pair, preset, seed string) error) error {
	pairs, err := o.pairs()
	if err != nil {
		return err
	}
	presets, err := o.chosen(pairs[0])
	if err != nil {
		return err
	}
	for _, p := range pairs {
		for _, name := range presets {
			for _, seed := range o.seedsOf(name) {
				if err := f(p, name, seed); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// compare runs both programs of every pair and prints what differs.
func (o *options) compare() error {
	runs, different := 0, 0
	err := o.each(func(p pair, name, seed string) error {
		before, err := p.old.fit(p.kernel, name, seed, 0)
		if err != nil {
			return err
		}
		after, err := p.new.fit(p.kernel, name, seed, 0)
		if err != nil {
			return err
		}
		found, err := differences(before, after)
		if err != nil {
			return err
		}
		verdict := "same"
		if runs++; found != nil {
			different++
			verdict = "DIFFERENT"
		}
		fmt.Printf("%-8s %-26s seed %-4s %s\n", p.name, name, cmp.Or(seed, "own"), verdict)
		for _, d := range found {
			fmt.Println("    " + d)
		}
		if different == 1 && found != nil {
			return o.small(p, name, seed, before)
		}
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Printf("%d runs, %d of them different\n", runs, different)
	if different > 0 {
		return fmt.Errorf("%d of %d runs are different", different, runs)
	}
	return nil
}

// differences compares what two runs result in, and not how they were made.
func differences(before, after string) ([]string, error) {
	return metamorphic.Differences(before, after, "manifest.json", "config.yaml", "checkpoint", "checkpoint.previous")
}

// split splits a list at its commas; an empty list is nil.
func split(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}
