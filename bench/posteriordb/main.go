// Posteriordb compares the samplers with the reference draws of posteriordb (https://github.com/stan-dev/posteriordb):
//
//	go run ./bench/posteriordb [-smc=false] [-nuts=false] [-chains=false] [-seed N] [-gradients N] [-wide W] [NAME …]
//
// It samples every posterior, or those whose names contain a NAME, by tempered SMC and by chains, with default settings, ten
// times each, and prints a table. A mean or a standard deviation misses where it is further from the reference than 4.5 Monte
// Carlo standard errors (MCSE): those of the ten runs and of the reference together. The command exits 1 if one misses although
// no trajectory diverged and, of chains, the ten agree with each other (mcmc.Mixed): R-hat of each quantity is at most 1.1. Chains that are
// too short for an R-hat do not agree.
//
// The error of ten runs is itself uncertain: where the reference's error is small, a distance has Student's t distribution with
// nine degrees of freedom, and one number in 700 misses by chance. Try another -seed before you believe a single miss of 5.
//
// draws/1e3 are the independent draws of the posterior that the means of a run are worth, for 1,000 gradients: the variance of a
// quantity over that of its means in ten runs, in the geometric mean of all quantities. Of one posterior it is rough.
//
// Parameters are those of the Stan programs, and inputs are not scaled. README.md says where the data come from.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/starling-smc/starling/mcmc"
)

func main() {
	use := make([]*bool, len(methods))
	for i, m := range methods {
		use[i] = flag.Bool(m.name, true, "sample by "+m.title)
	}
	var o options
	flag.Uint64Var(&o.seed, "seed", 1, "of all runs; the ten differ in their islands")
	flag.IntVar(&o.gradients, "gradients", 200_000, "budget of a chain")
	flag.Float64Var(&o.wide, "wide", 0, "begin flat parameters at draws of N(0, wide²), and do not scale their starts by the data")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	workers := mcmc.NewPool(0)
	compared, missed := 0, 0
	fmt.Printf("%-42s %3s  %-6s  %-20s  %-20s  %-18s  %7s  %7s  %9s  %9s  %8s  %7s\n",
		"posterior", "D", "by", "worst mean, in MCSE", "worst sd, in MCSE", "log evidence", "R-hat", "off, sd", "gradients", "draws/1e3", "diverged", "seconds")
	for _, p := range posteriors {
		for i, m := range methods {
			if !*use[i] || !wanted(p.name, flag.Args()) {
				continue
			}
			start := time.Now()
			c, err := p.compare(ctx, m, o, workers)
			if err != nil {
				fmt.Fprintf(os.Stderr, "%s by %s: %v\n", p.name, m.title, err)
				os.Exit(1)
			}
			verdict := ""
			compared++
			switch {
			case c.misses() && (c.diverged > 0 || c.mixed != nil):
				verdict = "  misses, and says so"
			case c.misses():
				missed++
				verdict = "  misses"
			}
			if c.mixed != nil {
				verdict += fmt.Sprintf("  %v", c.mixed)
			}
			fmt.Printf("%-42s %3d  %-6s  %-20s  %-20s  %-18s  %7.3f  %7.2g  %9.1e  %9.3f  %8d  %7.1f%s\n", p.name, c.dim, m.name, c.mean, c.sd, c.logZ, c.rhat.errors, c.off.errors,
				float64(c.gradients), 1e3*runs*c.draws/float64(c.gradients), c.diverged, time.Since(start).Seconds(), verdict)
		}
	}
	fmt.Printf("%d of %d miss\n", missed, compared)
	if missed > 0 || compared == 0 {
		os.Exit(1)
	}
}

// options are what a run of the benchmark may change.
type options struct {
	seed      uint64
	gradients int     // budget of a chain
	wide      float64 // standard deviation of the starts of flat parameters; 0: as the models have them
}

// wanted reports whether a name contains one of some words; of no words, it does.
func wanted(name string, words []string) bool {
	for _, w := range words {
		if strings.Contains(name, w) {
			return true
		}
	}
	return len(words) == 0
}
