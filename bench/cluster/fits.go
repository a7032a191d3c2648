package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

const fitRounds = 5

// fitWays are what is compared.
var fitWays = []struct {
	name string
	args []string
}{
	{"one process of two threads", []string{"--threads", "2"}},
	{"two processes of one thread", []string{"--threads", "2", "--workers", "2"}},
}

// fits compares whole runs of mnist7-smc with sixteen islands, in turns. Their ensembles have the same bytes.
func fits(ctx context.Context, b *bench) error {
	ensemble := ""
	for len(b.samples["fits:seconds:"+fitWays[1].name]) < fitRounds {
		for _, w := range fitWays {
			sum, err := b.fit(ctx, w.name, w.args)
			if err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			if ensemble == "" {
				ensemble = sum
			}
			if ensemble != sum {
				return fmt.Errorf("%s: another ensemble", w.name)
			}
		}
	}
	base, baseCPU := b.median("fits:seconds:"+fitWays[0].name, 1), b.median("fits:processor:"+fitWays[0].name, 1)
	fmt.Printf("mnist7-smc with 16 islands, medians of %d, in turns; %s:\n\n| | seconds | least | most | of the first | seconds of processors | of the first |\n|---|---|---|---|---|---|---|\n",
		len(b.samples["fits:seconds:"+fitWays[1].name]), b.loads("fits"))
	for _, w := range fitWays {
		seconds, cpu := "fits:seconds:"+w.name, "fits:processor:"+w.name
		fmt.Printf("| %s | %.1f | %.1f | %.1f | %.3f | %.1f | %.3f |\n", w.name, b.median(seconds, 1), b.least(seconds), b.most(seconds),
			b.median(seconds, 1)/base, b.median(cpu, 1), b.median(cpu, 1)/baseCPU)
	}
	return nil
}

// fit makes a run, and returns the sum of its ensemble.
func (b *bench) fit(ctx context.Context, name string, args []string) (ensemble string, err error) {
	dir, err := os.MkdirTemp(b.temp, "fit-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	run := filepath.Join(dir, "run")
	c := exec.CommandContext(ctx, b.command, append([]string{"fit", "mnist7-smc", "--set", "method.smc.islands=16", "--quiet", "--json", "--out", run}, args...)...)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.Stderr = os.Stderr
	begun := time.Now()
	if err := c.Run(); err != nil {
		return "", err
	}
	took := time.Since(begun)
	file, err := os.ReadFile(filepath.Join(run, "posterior.safetensors"))
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(file)
	if err := b.add("fits:processor:"+name, (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()); err != nil {
		return "", err
	}
	fmt.Fprintf(os.Stderr, "%s: %.1f s\n", name, took.Seconds())
	return hex.EncodeToString(sum[:]), b.add("fits:seconds:"+name, took.Seconds())
}
