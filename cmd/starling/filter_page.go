package main

import (
	"bytes"
	"path/filepath"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/internal/ckpt"
	pages "github.com/starling-smc/starling/report"
)

// writeFilterReport writes the page of a filter's run into its folder, all of it or nothing, and returns its path.
func writeFilterReport(run *starling.FilterRun) (string, error) {
	var page bytes.Buffer
	if err := pages.WriteFilterRun(&page, run); err != nil {
		return "", err
	}
	path := filepath.Join(run.Dir, "report.html")
	return path, ckpt.WriteFile(path, page.Bytes())
}
