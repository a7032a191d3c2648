// Evidence compares the log evidence of SMC with the exact one, cell by cell:
//
//	go run ./bench/evidence                          # all cells: an hour and a half of one processor
//	go run ./bench/evidence -record z.json 'D=20'    # cells whose names match D=20; those in z.json are not run again
//	go run ./bench/evidence -list                    # names of cells
//	go run ./bench/evidence -problems problems.json  # the problems, for other programs (bench/peers/evidence_jax.py)
//	go run ./bench/evidence -data-dir dir moves      # waste-free samplers beside others of the same move, also on real data
//
// The problem is a Bayesian linear regression of D coefficients with 2D rows (of 63 with 60), noise 1 and the prior N(0, I): its
// evidence is known. A cell is a size, a number of particles, a path and a move, and has 200 runs (40 where they take long). On a
// fixed ladder the mean of Z over exact must be 1, if a move uses nothing that it learned from the particles that it moves. The
// ladder is the one that the exact covariance found adaptively with another seed.
//
// The table also has the error of log Z and the bias by an adaptive ladder that runs state by themselves, beside the standard deviation over
// runs that the error should have.
//
// Moves "exact covariance" have the covariance of each target as their scale, and learn the rest. Those "frozen" take what a run
// of another seed learned at the same stage: what a stage learns from the particles that it moves, one thing at a time. They are
// asked for by a pattern with that word, and are on ladders alone.
//
// Cells "moves of chains" are of waste-free samplers: m chains of k moves, whose m(k + 1) states are the particles. Beside them stand
// samplers of which m particles make k moves, and only where they end counts: as many gradients, but for the first draws. They and all on
// real data are asked for by a pattern with the word "moves". What is exact of the real data is computed by importance sampling.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/smc"
)

func main() {
	record := flag.String("record", "", "file of the results, which grows cell by cell")
	threads := flag.Int("threads", runtime.NumCPU(), "runs side by side")
	runs := flag.Int("runs", 0, "runs of a cell; 0: 200, or 40 where they take long")
	list := flag.Bool("list", false, "print the names of the cells alone")
	dir := flag.String("data-dir", "", "folder of the data, which cells on real data need")
	written := flag.String("problems", "", "file to write the problems to, and nothing else is done")
	flag.Parse()
	if *written != "" {
		if err := writeProblems(*written); err != nil {
			fmt.Fprintln(os.Stderr, "evidence:", err)
			os.Exit(1)
		}
		return
	}
	var patterns []*regexp.Regexp
	for _, arg := range flag.Args() {
		p, err := regexp.Compile(arg)
		if err != nil {
			fmt.Fprintln(os.Stderr, "evidence:", err)
			os.Exit(2)
		}
		patterns = append(patterns, p)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := compare(ctx, *record, *dir, *threads, *runs, *list, patterns); err != nil {
		fmt.Fprintln(os.Stderr, "evidence:", err)
		os.Exit(1)
	}
}

// Result is what a cell found: means over runs, and their standard errors.
type Result struct {
	Exact           float64 // log Z
	LogZ, LogZError float64 // log Z − exact
	SD              float64 // of log Z
	Z, ZError       float64 // Z over exact
	Stages          float64
	Evaluations     float64 // of all particles
	Variance        float64 // of the posterior over exact, mean over coordinates
	VarianceError   float64
	MeanError       float64 // of the posterior's means: root of the mean square over runs and coordinates, in exact standard deviations
	Stated          float64 // the error of log Z that a run states by itself, mean
	Low, High       float64 // its 5th and 95th percentile over runs
	Covered         float64 // share of the runs whose log Z is within 1.96 of it from the exact one
	Bias            float64 // the bias by the ladder that a run states, mean; 0 on fixed ladders
	Seconds         float64 // of all threads together
}

func compare(ctx context.Context, record, dir string, threads, runs int, list bool, patterns []*regexp.Regexp) error {
	results := map[string]Result{}
	if record != "" {
		if b, err := os.ReadFile(record); err == nil {
			if err := json.Unmarshal(b, &results); err != nil {
				return fmt.Errorf("%s: %w", record, err)
			}
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	fmt.Printf("%-56s %9s %-16s %-6s %-22s %8s %7s %-14s %6s %11s %-14s %10s %8s\n",
		"cell", "exact", "log Z − exact", "sd", "sd stated", "coverage", "bias", "Z / exact", "stages", "evaluations", "variance", "mean error", "seconds")
	for _, c := range cells() {
		if !wanted(c, patterns) {
			continue
		}
		if list {
			fmt.Println(c)
			continue
		}
		r, done := results[c.String()]
		if !done {
			n := runs
			if n == 0 {
				n = c.runs()
			}
			var err error
			if r, err = c.run(ctx, dir, threads, n); err != nil {
				return fmt.Errorf("%v: %w", c, err)
			}
			results[c.String()] = r
			if record != "" {
				b, err := json.MarshalIndent(results, "", "  ")
				if err == nil {
					err = os.WriteFile(record, b, 0o666)
				}
				if err != nil {
					return err
				}
			}
		}
		fmt.Printf("%-56s %9.3f %7.3f ± %.3f  %5.3f  %5.3f (%.3f to %.3f) %8.3f %7.3f  %5.3f ± %.3f  %6.1f %11.0f  %.3f ± %.3f  %10.4f %8.1f\n",
			c, r.Exact, r.LogZ, r.LogZError, r.SD, r.Stated, r.Low, r.High, r.Covered, r.Bias, r.Z, r.ZError, r.Stages, r.Evaluations, r.Variance, r.VarianceError,
			r.MeanError, r.Seconds)
	}
	return nil
}

// wanted reports whether a cell's name matches one of some patterns that has its word; of none, every cell without a word is wanted.
func wanted(c cell, patterns []*regexp.Regexp) bool {
	for _, p := range patterns {
		if p.MatchString(c.String()) && strings.Contains(p.String(), c.word()) {
			return true
		}
	}
	return len(patterns) == 0 && c.word() == ""
}

// run makes the runs of a cell on some threads.
func (c cell) run(ctx context.Context, dir string, threads, runs int) (Result, error) {
	p, err := c.posterior(ctx, dir)
	if err != nil {
		return Result{}, err
	}
	var path smc.Targets = smc.Tempering{}
	var pilot *course
	if c.fixed {
		if path, err = c.ladder(ctx, p); err != nil {
			return Result{}, err
		}
		if pilot, err = c.pilot(ctx, p, path); err != nil {
			return Result{}, err
		}
	}
	exact, _ := numeral.Spread(p.variance)
	columns := make([][]float64, 9) // of runs: log Z, Z, stages, evaluations, variance, stated error, stated bias, covered, square of the mean's error
	for i := range columns {
		columns[i] = make([]float64, runs)
	}
	failed := make([]error, runs)
	seconds := make([]float64, runs)
	next := make(chan int)
	var workers sync.WaitGroup
	for range threads {
		workers.Go(func() {
			for r := range next {
				start := time.Now()
				st, err := finish(ctx, c.sampler(p, path, pilot, uint64(r+1)), nil)
				if failed[r] = err; err != nil {
					continue
				}
				columns[0][r], columns[1][r] = st.LogZ-p.logZ, math.Exp(st.LogZ-p.logZ)
				columns[2][r], columns[3][r] = float64(st.K), float64(st.Gradients+st.Values)/float64(p.model.Examples())
				columns[4][r] = variance(st) / exact
				columns[5][r], columns[6][r] = st.Genealogy.SD(), st.LadderBias
				if math.Abs(columns[0][r]) <= 1.96*columns[5][r] {
					columns[7][r] = 1
				}
				columns[8][r] = p.squareError(st)
				seconds[r] = time.Since(start).Seconds()
			}
		})
	}
	for r := range runs {
		next <- r
	}
	close(next)
	workers.Wait()
	if err := errors.Join(failed...); err != nil {
		return Result{}, err
	}
	out := Result{Exact: p.logZ}
	out.LogZ, out.SD = numeral.Spread(columns[0])
	root := math.Sqrt(float64(runs))
	out.LogZError = out.SD / root
	out.Z, out.ZError = numeral.Spread(columns[1])
	out.Stages, _ = numeral.Spread(columns[2])
	out.Evaluations, _ = numeral.Spread(columns[3])
	out.Variance, out.VarianceError = numeral.Spread(columns[4])
	out.ZError, out.VarianceError = out.ZError/root, out.VarianceError/root
	out.Stated, _ = numeral.Spread(columns[5])
	out.Low, out.High = numeral.Quantile(columns[5], 0.05), numeral.Quantile(columns[5], 0.95)
	out.Bias, _ = numeral.Spread(columns[6])
	out.Covered, _ = numeral.Spread(columns[7])
	square, _ := numeral.Spread(columns[8])
	out.MeanError = math.Sqrt(square)
	for _, s := range seconds {
		out.Seconds += s
	}
	return out, nil
}

// finish takes a sampler to its end.
func finish(ctx context.Context, s *smc.Sampler, watch smc.Watch) (*smc.State, error) {
	st, err := s.Init(ctx)
	if err == nil {
		err = s.Run(ctx, st, watch)
	}
	return st, err
}

// variance is the mean over coordinates of the particles' variance.
func variance(st *smc.State) (sum float64) {
	for i := range st.D {
		var mean, square, squares float64
		for j, l := range st.LogW {
			w := math.Exp(l)
			mean += float64(w * st.Theta[j*st.D+i])
			squares += float64(w * w)
		}
		for j, l := range st.LogW {
			away := st.Theta[j*st.D+i] - mean
			square += float64(math.Exp(l) * away * away)
		}
		sum += square / (1 - squares) / float64(st.D)
	}
	return sum
}
