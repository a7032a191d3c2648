package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/internal/regular"
	"github.com/starling-smc/starling/internal/runs"
)

// sweepFile is the name of the file that says what the sweep of a folder varies, so that no other sweep goes on there.
const sweepFile = "sweep.json"

// swept is what sweepFile holds.
type swept struct {
	Over   []string `json:"over"`   // keys of the settings that vary, in order
	Config string   `json:"config"` // sweep.base
	Folds  int      `json:"folds,omitempty"`
}

// open makes the sweep's folder: --out, or the first of runs/NAME, runs/NAME-2, … that does not exist; with --resume it may exist.
func (s *sweep) open(name string) error {
	dir := s.out
	if dir == "" {
		dir = filepath.Join("runs", name)
	}
	if _, err := runs.ReadManifest(dir); err == nil {
		return wrongUse("%s is the folder of a run: name another --out for the sweep", dir)
	}
	if s.resume {
		s.out = dir
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return usageError{err}
		}
		return s.goesOn()
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return usageError{err}
	}
	err := os.Mkdir(dir, 0o777)
	for i := 2; s.out == "" && errors.Is(err, fs.ErrExist); i++ {
		dir = filepath.Join("runs", fmt.Sprintf("%s-%d", name, i))
		err = os.Mkdir(dir, 0o777)
	}
	if errors.Is(err, fs.ErrExist) {
		return wrongUse("%s exists: choose another --out, or go on with that sweep with --resume", dir)
	}
	if err != nil {
		return usageError{err}
	}
	s.out = dir
	return s.begin()
}

// begin says in the folder what is varied.
func (s *sweep) begin() error {
	now := swept{Config: string(s.base), Folds: s.folds}
	for _, a := range s.axes {
		now.Over = append(now.Over, a.Key)
	}
	var text bytes.Buffer
	if err := jsontext.Write(&text, now); err != nil {
		return err
	}
	return ckpt.WriteFile(filepath.Join(s.out, sweepFile), text.Bytes())
}

// goesOn refuses a folder with a sweep over other settings, or from another config. A folder without a sweep takes one.
func (s *sweep) goesOn() error {
	file := filepath.Join(s.out, sweepFile)
	raw, err := regular.Read(file, mostConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return s.begin()
	}
	if err != nil {
		return err
	}
	var was swept
	if err := jsontext.Read(raw, &was); err != nil {
		return &starling.DataError{Err: fmt.Errorf("%s: %w", file, err)}
	}
	same := func(a starling.Axis, key string) bool { return a.Key == key }
	if !slices.EqualFunc(s.axes, was.Over, same) {
		return wrongUse("%s has a sweep over %s: name another --out", s.out, strings.Join(was.Over, " and "))
	}
	if was.Folds != s.folds {
		return wrongUse("%s has a sweep of %d folds, not of %d: name another --out", s.out, was.Folds, s.folds)
	}
	if other := config.Differences([]byte(was.Config), s.base); len(other) > 0 {
		d := other[0]
		return wrongUse("%s: %s, but the sweep in %s was begun with %s: name another --out", d.Path, d.Values[1], s.out, d.Values[0])
	}
	return nil
}
