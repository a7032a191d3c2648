package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/jsontext"
	pages "github.com/starling-smc/starling/report"
)

func newReport() *cobra.Command {
	var (
		options starling.Options
		jsonOut bool
	)
	cmd := &cobra.Command{
		Use:   "report RUN",
		Short: "Write a run's page anew: report.html in its folder",
		Long: `Report judges the ensembles of a run on its own test examples and writes report.html into the run's folder: a
summary in plain words, the figures, pictures of calibration, doubt and sampling, and where all of it comes from. The
page is complete in itself; fit writes the same page when it is done.`,
		Example: `  starling report runs/mnist7`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			run, judgement, err := judge(cmd, args[0], options)
			if err != nil {
				return err
			}
			path, err := writeReport(run, judgement)
			if err != nil {
				return err
			}
			if jsonOut {
				return jsontext.Write(cmd.OutOrStdout(), map[string]string{"report": path})
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), path)
			return err
		},
	}
	computes(cmd, &options)
	asJSON(cmd, &jsonOut)
	return cmd
}

// writeReport writes the page of a run into its folder, all of it or nothing, and returns its path.
func writeReport(run *starling.Run, j *starling.Judgement) (string, error) {
	var page bytes.Buffer
	if err := pages.Write(&page, run, j); err != nil {
		return "", err
	}
	path := filepath.Join(run.Dir, "report.html")
	return path, ckpt.WriteFile(path, page.Bytes())
}

// showPage writes the page of a run that fit has just finished. The run is kept whether or not that works.
func showPage(result *starling.Result, dir string) {
	run, err := starling.OpenRun(dir)
	if err == nil {
		_, err = writeReport(run, result.Judgement)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "starling: the run is done, but its page could not be written: %v; try again: starling report %s\n", err, dir)
	}
}
