package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/starling-smc/starling/internal/numeral"
)

// bench holds what was measured, and where.
type bench struct {
	out, temp string
	command   string
	samples   map[string][]float64 // by the name of the quantity
}

func open(ctx context.Context, out, command string) (*bench, error) {
	b := &bench{samples: map[string][]float64{}, command: command}
	var err error
	if b.out, err = filepath.Abs(out); err == nil {
		err = os.MkdirAll(b.out, 0o777)
	}
	if err != nil {
		return nil, err
	}
	if text, err := os.ReadFile(b.record()); err == nil {
		if err := json.Unmarshal(text, &b.samples); err != nil {
			return nil, fmt.Errorf("%s: %w", b.record(), err)
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if b.temp, err = os.MkdirTemp(b.out, "temp-"); err != nil {
		return nil, err
	}
	if b.command == "" {
		b.command = filepath.Join(b.temp, "starling")
		if err := show(ctx, "go", "build", "-o", b.command, "./cmd/starling"); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (b *bench) record() string { return filepath.Join(b.out, "samples.json") }

// add keeps measured values, and the load of the machine.
func (b *bench) add(name string, values ...float64) error {
	b.samples[name] = append(b.samples[name], values...)
	if l, ok := load(); ok {
		table, _, _ := strings.Cut(name, ":")
		b.samples["load:"+table] = append(b.samples["load:"+table], l)
	}
	text, err := json.MarshalIndent(b.samples, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(b.record(), text, 0o666)
}

// median and high are the median and what 95 % do not exceed, in a unit.
func (b *bench) median(name string, unit float64) float64 {
	return numeral.Quantile(b.samples[name], 0.5) / unit
}
func (b *bench) least(name string) float64 { return slices.Min(b.samples[name]) }
func (b *bench) most(name string) float64  { return slices.Max(b.samples[name]) }

func (b *bench) high(name string, unit float64) float64 {
	return numeral.Quantile(b.samples[name], 0.95) / unit
}

// loads says how busy the machine was while a table was measured.
func (b *bench) loads(table string) string {
	l := b.samples["load:"+table]
	if len(l) == 0 {
		return "load average unknown"
	}
	return fmt.Sprintf("load average %.1f to %.1f", slices.Min(l), slices.Max(l))
}

// load is the load average of the last minute.
func load() (l float64, ok bool) {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0, false
	}
	_, err = fmt.Sscan(string(text), &l)
	return l, err == nil
}

// show carries out a command, and shows what it says.
func show(ctx context.Context, name string, args ...string) error {
	c := exec.CommandContext(ctx, name, args...)
	c.Stdout, c.Stderr = os.Stderr, os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return nil
}
