package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/internal/regular"
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

// reportFile is the name of the page in a run's folder.
const reportFile = "report.html"

// writeReport writes the page of a run into its folder, all of it or nothing, and returns its path.
func writeReport(run *starling.Run, a *eval.Assessment) (string, error) {
	var page bytes.Buffer
	if err := pages.Write(&page, run, a); err != nil {
		return "", err
	}
	path := filepath.Join(run.Dir, reportFile)
	return path, ckpt.WriteFile(path, page.Bytes())
}

// reported says whether a run's folder has the page that starling report writes.
type reported struct {
	State reportState `json:"state"`
	Why   string      `json:"why,omitempty"`
}

type reportState string

const (
	reportOK      reportState = "ok"
	reportDiffers reportState = "differs"
	reportMissing reportState = "missing"
	reportUnknown reportState = "unknown" // what starling report would write
)

// checkReport makes the page of a run that is done again, in memory, and compares it with the one in the folder. The error is that of an
// interrupt.
func checkReport(ctx context.Context, dir string, o starling.Options) (reported, error) {
	path := filepath.Join(dir, reportFile)
	has, err := regular.Read(path, math.MaxInt64)
	if errors.Is(err, fs.ErrNotExist) {
		return reported{reportMissing, "starling report " + quoted(dir) + " writes it"}, nil
	}
	var page bytes.Buffer
	if err == nil {
		err = renderAgain(ctx, &page, dir, o)
	}
	switch {
	case stopped(ctx, err):
		return reported{}, err
	case err != nil:
		return reported{reportUnknown, "it cannot be made again: " + err.Error()}, nil
	case !bytes.Equal(page.Bytes(), has):
		return reported{reportDiffers, "it was changed, or written by another version or before starling calibrate: starling report " + quoted(dir) + " writes it again"}, nil
	}
	return reported{reportOK, "as starling report writes it"}, nil
}

// renderAgain writes the page of a run, of either kind.
func renderAgain(ctx context.Context, page *bytes.Buffer, dir string, o starling.Options) error {
	if starling.IsFilterRun(dir) {
		run, err := starling.OpenFilterRun(dir)
		if err != nil {
			return err
		}
		return pages.WriteFilterRun(page, run)
	}
	run, err := openRun(dir)
	if err != nil {
		return err
	}
	a, err := run.Evaluate(ctx, starling.On{}, o)
	if err != nil {
		return err
	}
	return pages.Write(page, run, a)
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
