package main

import (
	"bytes"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/method"
	pages "github.com/starling-smc/starling/report"
)

func newReport() *cobra.Command {
	var e evaluation
	cmd := &cobra.Command{
		Use:   "report RUN",
		Short: "Write a run's page again: report.html in its folder",
		Long: `Report evaluates the ensembles of a run on its own test examples and writes report.html into the run's folder: a
summary in plain words, the scores, pictures of calibration, uncertainty and sampling, and the provenance of the run. The
page needs no other file. Fit writes the same page when it is done. Of a filter's run, report writes the page that filter wrote.`,
		Example: `  starling report runs/mnist7`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			line := e.progress()
			defer line.end()
			page := e.page
			if starling.IsFilterRun(args[0]) {
				page = filterPage
			}
			path, err := page(cmd, args[0], line)
			if err != nil {
				return err
			}
			line.end()
			if e.json {
				return jsontext.Write(cmd.OutOrStdout(), map[string]string{"report": path})
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), path)
			return err
		},
	}
	e.flags(cmd)
	return cmd
}

// page writes the page of a network's run, and returns its path.
func (e *evaluation) page(cmd *cobra.Command, dir string, line *progress) (string, error) {
	run, a, err := e.of(cmd, dir, starling.On{}, line, nil)
	if err != nil {
		return "", err
	}
	line.show(method.Status{Phase: "writing the report"})
	return writeReport(run, a)
}

// writeReport writes the page of a run into its folder, all of it or nothing, and returns its path.
func writeReport(run *starling.Run, a *eval.Assessment) (string, error) {
	var page bytes.Buffer
	if err := pages.Write(&page, run, a); err != nil {
		return "", err
	}
	path := filepath.Join(run.Dir, "report.html")
	return path, ckpt.WriteFile(path, page.Bytes())
}

// showPage writes the page of a run that fit has just finished. If that fails, the run is kept all the same.
func showPage(result *starling.Result, dir string, line *progress) {
	run, err := starling.OpenRun(dir)
	if err == nil {
		_, err = writeReport(run, result.Assessment)
	}
	if err != nil {
		line.say(fmt.Sprintf("starling: the run is done, but its page could not be written: %v; try again: starling report %s", err, dir))
	}
}
