package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/table"
	"github.com/starling-smc/starling/method"
	pages "github.com/starling-smc/starling/report"
	"github.com/starling-smc/starling/sbc"
)

func newSBC() *cobra.Command {
	var s sbcRun
	cmd := &cobra.Command{
		Use:   "sbc CONFIG|PRESET",
		Short: "Check that a method draws from the posterior, by simulated data",
		Long: `Sbc checks a config's method by simulation-based calibration. It draws parameters from the prior, and targets from
the likelihood at the inputs of the config's training examples. It fits them by the config's method, and ranks the parameters among
the networks of the fit. If the method draws from the posterior, ranks are uniform for every quantity: the log-likelihood, the
log-prior, and predictions at five of the inputs are ranked. Real targets are not used.

All ranks together give one p-value. A method that draws from the posterior has p of at most 0.01 in at most one of a hundred checks.
The page shows how ranks of each quantity deviate from the uniform law, and how: draws that are too low, too high, too close to each
other or too wide. A method passes if its faults are smaller than the number of fits can show.

Every fit takes as long as starling fit does. Take a small network and few training examples: the method is the same. What is done is
saved, and --resume goes on.

Exit status: 0 the ranks are uniform, 1 they are not or the check failed, 2 wrong use or config, 3 bad data, 130 interrupted.`,
		Example: `  starling sbc pima --runs 100 --set method.smc.particles=100
  starling sbc mine.yaml --out checks/mine --json
  starling sbc mine.yaml --set 'method={mcmc: {chains: 4, start: prior}}'`,
		Args: cobra.ExactArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return starling.PresetsFor("fit"), cobra.ShellCompDirectiveDefault
		},
		RunE: s.run,
	}
	s.flags(cmd, starling.Keys)
	cmd.Flag("out").Usage = "folder `DIR` of the check, which must not exist yet, except with --resume"
	cmd.Flag("resume").Usage = "go on with the check in --out, or in runs/NAME-sbc"
	cmd.Flags().IntVar(&s.fits, "runs", 200, fmt.Sprintf("make `N` fits, at least %d", sbc.Fewest))
	dataDir(cmd, &s.dataDir)
	return cmd
}

type sbcRun struct {
	kept
	fits    int
	dataDir string
}

func (s *sbcRun) run(cmd *cobra.Command, args []string) error {
	if err := s.check(cmd); err != nil {
		return err
	}
	if s.fits < sbc.Fewest || s.fits > sbc.Most {
		return wrongUse("--runs %d: want %d to %s fits, whose ranks can be told from others", s.fits, sbc.Fewest, numeral.Count(sbc.Most))
	}
	began := time.Now()
	spec, err := readSpec(args[0], s.set)
	if err != nil {
		return err
	}
	folder, err := s.folder(spec.Name+"-sbc", starling.SBCRuns)
	if err != nil {
		return err
	}
	defer folder.Close()
	line := newProgress(s.quiet, s.json)
	defer line.end()
	line.show(method.Status{Phase: "reading the data"})
	o := watched(starling.Options{Threads: s.threads, DataDir: s.dataDir, Folder: folder, Every: s.every}, line, func(*starling.Loaded) {})
	c, err := starling.SBC(cmd.Context(), spec, s.fits, o)
	if stopped(cmd.Context(), err) {
		line.end()
		return s.saved("sbc", args[0], folder, flagged{"--runs", strconv.Itoa(s.fits), s.fits != 200},
			flagged{"--data-dir", s.dataDir, s.dataDir != os.Getenv("STARLING_DATA")})
	}
	if err != nil {
		return err
	}
	var page bytes.Buffer
	if err := pages.WriteSBC(&page, c); err != nil {
		return err
	}
	if err := ckpt.WriteFile(filepath.Join(folder.Dir, reportFile), page.Bytes()); err != nil {
		return err
	}
	line.end()
	if s.json {
		if err := jsontext.Write(cmd.OutOrStdout(), c.Summary); err != nil {
			return err
		}
	} else if err := s.show(cmd.OutOrStdout(), c, folder.Dir, spent(began)); err != nil {
		return err
	}
	if !c.Uniform {
		return fmt.Errorf("the ranks are not uniform: p = %s. The method does not draw from this posterior, or makes too few moves: %s", pages.PValue(c.P), shapes(c))
	}
	return nil
}

// shapes names the quantities whose ranks are not uniform, and how.
func shapes(c *starling.SBCResult) string {
	var odd []string
	for _, q := range c.Quantities {
		if q.Shape != sbc.Even {
			odd = append(odd, fmt.Sprintf("%s: %s", pages.QuantityName(q.Name), q.Shape))
		}
	}
	return strings.Join(odd, "; ")
}

// show prints the table of quantities, and what they say together.
func (s *sbcRun) show(w io.Writer, c *starling.SBCResult, dir, took string) error {
	t := table.Table{Left: []int{4}}
	t.Add("quantity", "p", "mean rank", "spread", "ranks")
	for _, q := range c.Quantities {
		t.Add(pages.QuantityName(q.Name), pages.PValue(q.P), numeral.Fixed(q.Mean, 3), numeral.Fixed(q.SD, 3), string(q.Shape))
	}
	if err := t.Write(w); err != nil {
		return err
	}
	for _, text := range pages.SBCWords(c) {
		wrap(w, text)
	}
	fmt.Fprintln(w, "written to "+dir)
	_, err := fmt.Fprintln(w, took)
	return err
}
