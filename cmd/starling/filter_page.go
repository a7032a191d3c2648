package main

import (
	"bytes"
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/method"
	pages "github.com/starling-smc/starling/report"
)

// filterPage writes the page of a filter's run, and returns its path.
func filterPage(_ *cobra.Command, dir string, line *progress) (string, error) {
	line.show(method.Status{Phase: "writing the report"})
	run, err := starling.OpenFilterRun(dir)
	switch {
	case errors.As(err, new(*starling.NotDoneError)):
		return "", usageError{err}
	case err != nil:
		return "", err
	}
	return writeFilterReport(run)
}

// writeFilterReport writes the page of a filter's run into its folder, all of it or nothing, and returns its path.
func writeFilterReport(run *starling.FilterRun) (string, error) {
	var page bytes.Buffer
	if err := pages.WriteFilterRun(&page, run); err != nil {
		return "", err
	}
	path := filepath.Join(run.Dir, reportFile)
	return path, ckpt.WriteFile(path, page.Bytes())
}
