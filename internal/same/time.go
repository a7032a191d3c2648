//go:build unix

package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// rounds is the number of times that each program is timed.
const rounds = 7

// within is how far a ratio may be above 1.
const within = 0.03

// cost is the time of a run, that of the processors, and the memory: s, s, and the system's unit of the largest resident set.
type cost [3]float64

// timing runs the programs in turns and compares the medians of their costs.
func (o *options) timing() error {
	dir, err := os.MkdirTemp("", "same")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Printf("%-8s %-26s %-4s  %20s %20s %9s\n", "kernel", "preset", "seed", "wall, s", "CPU, s", "memory")
	worse := 0
	err = o.each(func(p pair, name, seed string) error {
		var costs [2][]cost // before and after
		for range rounds {
			for i, of := range []*program{p.old, p.new} {
				c, err := of.cost(filepath.Join(dir, "run"), p.kernel, name, seed)
				if err != nil {
					return err
				}
				costs[i] = append(costs[i], c)
			}
		}
		a, b := median(costs[0]), median(costs[1])
		ratio, mark := cost{b[0] / a[0], b[1] / a[1], b[2] / a[2]}, ""
		if !(max(ratio[0], ratio[1], ratio[2]) <= 1+within) {
			worse++
			mark = "  MORE"
		}
		fmt.Printf("%-8s %-26s %-4s  %6.2f %6.2f ×%.3f %6.2f %6.2f ×%.3f    ×%.3f%s\n",
			p.name, name, cmp.Or(seed, "own"), a[0], b[0], ratio[0], a[1], b[1], ratio[1], ratio[2], mark)
		return nil
	})
	if err != nil {
		return err
	}
	if worse > 0 {
		return fmt.Errorf("%d runs take more than %g times as much as before", worse, 1+within)
	}
	return nil
}

// cost runs a preset in a folder that is removed before each run.
func (p *program) cost(dir, kernel, preset, seed string, sets ...string) (cost, error) {
	if err := os.RemoveAll(dir); err != nil {
		return cost{}, err
	}
	cmd := p.command(context.Background(), kernel, preset, seed, dir, sets...)
	began := time.Now()
	if err := run(cmd); err != nil {
		return cost{}, err
	}
	took := time.Since(began)
	end := cmd.ProcessState
	return cost{took.Seconds(), (end.UserTime() + end.SystemTime()).Seconds(), float64(end.SysUsage().(*syscall.Rusage).Maxrss)}, nil
}

// median returns the median of each part of the costs.
func median(costs []cost) (m cost) {
	for i := range m {
		var v []float64
		for _, c := range costs {
			v = append(v, c[i])
		}
		slices.Sort(v)
		m[i] = v[len(v)/2]
	}
	return m
}
