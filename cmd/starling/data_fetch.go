package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/fetch"
	"github.com/starling-smc/starling/internal/jsontext"
)

// transport brings downloads; nil: the network. Tests set it.
var transport http.RoundTripper

func newDataFetch() *cobra.Command {
	var (
		dir     string
		jsonOut bool
	)
	cmd := &cobra.Command{
		Use:   "fetch SET",
		Short: "Download a data set, checked by SHA-256, into the data directory",
		Long: `Fetch downloads a data set into the data directory, in the places where it is looked for.

Sizes and SHA-256 of all files are known to the program: other bytes are refused, from whatever server. Files that are
there and right stay as they are; one that is wrong is named, and stays too. A download that breaks is gone on with, now
or by the same command later.`,
		Example:           "  starling data fetch mnist --data-dir ~/data",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: setNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			name, out := args[0], cmd.OutOrStdout()
			known := false
			for _, k := range data.List("") {
				known = known || k.Name == name && !k.BuiltIn
			}
			if known && dir == "" {
				return wrongUse("say where to: --data-dir DIR or STARLING_DATA")
			}
			bar := newProgress(os.Stderr)
			files, err := data.Fetch(cmd.Context(), name, dir, downloader(bar, name))
			if bar != nil {
				bar.end()
			}
			switch {
			case errors.Is(err, data.ErrUnknown) || errors.Is(err, data.ErrNoDownload):
				return usageError{err}
			case errors.Is(err, data.ErrContent) || errors.Is(err, fetch.ErrContent):
				return &starling.DataError{Err: err}
			case errors.Is(err, context.Canceled):
				return interrupted{"what has arrived is kept; to go on, run starling data fetch " + name + " again"}
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
	return cmd
}

// downloader brings files over the network, shows what arrives on bar, unless that is nil, and tells of attempts that
// are repeated.
func downloader(bar *progress, name string) func(ctx context.Context, r data.Remote, path string) error {
	return func(ctx context.Context, r data.Remote, path string) error {
		c := fetch.Client{Failed: func(err error, wait time.Duration) {
			if bar != nil {
				bar.end()
			}
			fmt.Fprintf(os.Stderr, "%v: again in %s\n", err, seconds(wait))
		}}
		if transport != nil {
			c.HTTP = &http.Client{Transport: transport}
		}
		if bar != nil {
			c.Progress = bar.download(name, strings.TrimPrefix(filepath.Base(path), "."), r.Size)
		}
		return c.Get(ctx, fetch.File(r), path)
	}
}

// download returns what shows the bytes of a file that are there, of size in all. The time left counts from those that
// were there at its first call.
func (p *progress) download(name, file string, size int64) func(done int64) {
	first := int64(-1)
	return func(done int64) {
		if first < 0 {
			first, p.began = done, p.now()
		}
		const mega = 1e6
		text := fmt.Sprintf("%s  %.1f of %.1f MB", file, float64(done)/mega, float64(size)/mega)
		p.show(name, float64(done-first)/float64(max(1, size-first)), done == size, text)
	}
}
