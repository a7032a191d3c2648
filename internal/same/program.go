//go:build unix

package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/internal/metamorphic"
	"github.com/starling-smc/starling/spec"
)

// errSlow says that a run exceeded the time limit.
var errSlow = errors.New("too slow")

// program is a build of starling, with a folder for its runs.
type program struct {
	path, runs, data string
	set              []string
}

func (o *options) program(path string) (*program, error) {
	path, err := filepath.Abs(path) // exec would look for a bare name in $PATH
	if err != nil {
		return nil, err
	}
	file, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(file)
	return &program{path, filepath.Join(o.dir, hex.EncodeToString(sum[:6])), o.data, o.set}, nil
}

// presets lists the names of the presets that the program has.
func (p *program) presets() ([]string, error) {
	var v struct{ Presets map[string]string }
	out, err := exec.Command(p.path, "presets", "--json").Output()
	if err == nil {
		err = json.Unmarshal(out, &v)
	}
	return slices.Sorted(maps.Keys(v.Presets)), err
}

// fit returns the folder of a finished run, and runs it if it is not there yet. A run that takes longer than limit is
// stopped with errSlow, and noted in a file, so that it is not tried again; 0 is no limit.
func (p *program) fit(kernel, preset, seed string, limit time.Duration) (dir string, err error) {
	name := append([]string{preset, cmp.Or(seed, "own")}, p.set...)
	dir = filepath.Join(p.runs, kernel, strings.ReplaceAll(strings.Join(name, "-"), "/", "_"))
	slow := dir + ".slow"
	if _, err := os.Stat(slow); err == nil && limit > 0 {
		return "", errSlow
	}
	if metamorphic.Done(dir) {
		return dir, nil
	}
	if err := os.RemoveAll(dir); err != nil { // left by an interrupted run
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return "", err
	}
	ctx := context.Background()
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	cmd := p.command(ctx, kernel, preset, seed, dir)
	if err := run(cmd); ctx.Err() != nil {
		return "", errors.Join(errSlow, os.WriteFile(slow, nil, 0o666), os.RemoveAll(dir))
	} else if err != nil {
		return "", err
	}
	return dir, nil
}

// command runs fit or filter, as the preset needs, and writes to a folder that does not exist yet.
func (p *program) command(ctx context.Context, kernel, preset, seed, dir string, sets ...string) *exec.Cmd {
	text, err := starling.PresetText(preset) // no preset of this build: fit says so, or knows it
	filter := err == nil && spec.IsFiltering(text)
	args := []string{"fit", preset, "--out", dir}
	if filter {
		args[0] = "filter"
	}
	if seed != "" {
		args = append(args, "--seed", seed)
	}
	for _, s := range slices.Concat(p.set, sets) {
		args = append(args, "--set", s)
	}
	if p.data != "" && !filter {
		args = append(args, "--data-dir", p.data)
	}
	return metamorphic.Command(ctx, p.path, kernel, args...)
}

// run runs a command. Its output is part of the error.
func run(cmd *exec.Cmd) error {
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, said)
	}
	return nil
}
