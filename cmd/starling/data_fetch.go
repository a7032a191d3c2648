package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/internal/fetch"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/internal/sets"
	"github.com/starling-smc/starling/method"
)

// transport is the HTTP transport of downloads; nil: the network. Tests replace it.
var transport http.RoundTripper

func newDataFetch() *cobra.Command {
	var (
		dir     string
		jsonOut bool
		quiet   bool
	)
	cmd := &cobra.Command{
		Use:   "fetch SET",
		Short: "Download a data set, checked by SHA-256, into the data directory",
		Long: `Fetch downloads a data set into the data directory, in the places where it is looked for.

Sizes and SHA-256 of all files are known to the program: other bytes are refused, from whatever server. Files that are
there and right stay as they are; a wrong one is named, and stays as well. A download that breaks off is continued, now or
by the same command later.`,
		Example:           "  starling data fetch mnist --data-dir ~/data",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: setNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			name, out := args[0], cmd.OutOrStdout()
			known := false
			for _, k := range sets.List("") {
				known = known || k.Name == name && !k.BuiltIn
			}
			if known && dir == "" {
				return wrongUse("say where to: --data-dir DIR or STARLING_DATA")
			}
			line := newProgress(quiet, jsonOut)
			defer line.end()
			files, err := sets.Fetch(cmd.Context(), name, dir, downloader(line, name))
			line.end()
			switch {
			case errors.Is(err, sets.ErrUnknown) || errors.Is(err, sets.ErrNoDownload):
				return usageError{err}
			case errors.Is(err, sets.ErrContent) || errors.Is(err, fetch.ErrContent):
				return &starling.DataError{Err: err}
			case errors.Is(err, context.Canceled):
				return interrupted{"the part that has arrived is kept; to continue, run starling data fetch " + name + " again"}
			case err != nil:
				return err
			}
			type row struct {
				File  string `json:"file"`
				Size  int64  `json:"size"`
				Sum   string `json:"sha256"`
				There bool   `json:"there"`
			}
			rows := []row{}
			for _, f := range files {
				rows = append(rows, row{f.File, f.Size, f.Sum, f.There})
			}
			if jsonOut {
				return jsontext.Write(out, map[string]any{"set": name, "files": rows})
			}
			for _, r := range rows {
				state := "fetched"
				if r.There {
					state = "there"
				}
				fmt.Fprintf(out, "%-8s %s\n", state, r.File)
			}
			if len(rows) == 0 {
				fmt.Fprintln(out, name+" is built in: there is nothing to download")
			}
			return nil
		},
	}
	dataDir(cmd, &dir)
	asJSON(cmd, &jsonOut)
	quietly(cmd, &quiet)
	return cmd
}

// downloader downloads files over the network. It shows the progress on line, and names attempts that fail.
func downloader(line *progress, name string) func(ctx context.Context, r sets.Remote, path string) error {
	return func(ctx context.Context, r sets.Remote, path string) error {
		c := fetch.Client{
			Failed: func(err error, wait time.Duration) { line.say(fmt.Sprintf("%v: again in %s", err, seconds(wait))) },
			Progress: func(done int64) {
				line.show(downloaded(name, strings.TrimPrefix(filepath.Base(path), "."), done, r.Size))
			},
		}
		if transport != nil {
			c.HTTP = &http.Client{Transport: transport}
		}
		return c.Get(ctx, fetch.File(r), path)
	}
}

// downloaded is the status of a download of which done bytes are there.
func downloaded(name, file string, done, size int64) method.Status {
	const mega = 1e6
	return method.Status{
		Phase: name, Share: float64(done) / float64(max(1, size)), Ended: done == size,
		Long: fmt.Sprintf("%s  %.1f of %.1f MB", file, float64(done)/mega, float64(size)/mega),
	}
}
