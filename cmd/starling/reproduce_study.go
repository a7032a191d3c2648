package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/paper"
)

// study makes the runs of a study, prints their figures, and writes its picture to OUT/TABLE/NAME.svg.
func (r *reproduce) study(cmd *cobra.Command, s paper.Study) error {
	for _, flag := range []string{"record", "markdown", "pictures", "resume", "data-dir"} {
		if cmd.Flags().Changed(flag) {
			return wrongUse("--%s is for tables of runs on data; %s %s has none", flag, s.Table, s.Name)
		}
	}
	reduced, err := r.isReduced()
	if err != nil {
		return err
	}
	if err := checkThreads(r.threads); err != nil {
		return err
	}
	var seeds []uint64
	for _, seed := range r.seeds {
		seeds = append(seeds, uint64(seed))
	}
	if !cmd.Flags().Changed("seeds") {
		seeds = nil
		for i := range s.Seeds {
			seeds = append(seeds, uint64(i+1))
		}
	}
	picture := filepath.Join(r.out, s.Table, s.Name+".svg")
	if err := os.MkdirAll(filepath.Dir(picture), 0o777); err != nil { // before the runs
		return err
	}
	line := newProgress(r.quiet, r.json)
	defer line.end()
	line.show(method.Status{Phase: s.Name})
	shown, err := s.Run(cmd.Context(), seeds, reduced, mcmc.NewPool(r.threads), func(said string) {
		if !r.quiet {
			line.say(said)
		}
	})
	if stopped(cmd.Context(), err) {
		return interrupted{"nothing was saved; the same command begins it again"}
	}
	if err != nil {
		return err
	}
	line.end()
	if err := ckpt.WriteFile(picture, shown.Picture()); err != nil {
		return err
	}
	if r.json {
		return jsontext.Write(cmd.OutOrStdout(), shown)
	}
	if err := shown.WriteText(cmd.OutOrStdout()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "picture: %s\n", picture)
	return err
}
