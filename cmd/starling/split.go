package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/method"
)

// splitHeader is the first line of a list of starling split.
const splitHeader = "row,line,part,file\n"

func newSplit() *cobra.Command {
	var (
		o           starling.Options
		out         string
		json, quiet bool
		force       bool
	)
	cmd := &cobra.Command{
		Use:   "split RUN",
		Short: "Say which row of a run's data was in which part",
		Long: `Split lists the rows of a run's own data with the part that each was in: train, validate, test or calibrate. It writes a CSV to
stdout, or to --out: the number of a row among those that have a target, counted from 0 as in data.split.test_rows; the line of the
file on which it begins, which a Parquet file and an array have not; its part; and its file. A row that was in no part is not among them.

Nothing is stored for it: the config, the seed and the data decide the parts. The data must be there and not have changed.`,
		Example: `  starling split runs/rents
  starling split runs/rents --out parts.csv
  starling split runs/rents | grep test`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ours := func(beginning []byte) bool { return bytes.HasPrefix(beginning, []byte(splitHeader)) }
			if out != "" {
				if err := checkNew("--out", out, written{"a list of starling split", ours}, force); err != nil {
					return err
				}
			}
			line := newProgress(quiet, json)
			defer line.end()
			line.show(method.Status{Phase: "dividing the data of " + args[0]})
			run, err := openRun(args[0])
			if err != nil {
				return err
			}
			all, err := run.Division(o)
			if err != nil {
				return err
			}
			line.end()
			switch {
			case out != "":
				var text bytes.Buffer
				if err := writeDivision(&text, all); err != nil {
					return err
				}
				if err := ckpt.WriteFile(out, text.Bytes()); err != nil {
					return err
				}
				if json {
					return jsontext.Write(cmd.OutOrStdout(), map[string]any{"out": out, "rows": len(all)})
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s, written to %s\n", numeral.Several(len(all), "row"), out)
				return err
			case json:
				return jsontext.Write(cmd.OutOrStdout(), map[string]any{"examples": all})
			}
			return writeDivision(cmd.OutOrStdout(), all)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "`FILE` to write in place of stdout")
	forced(cmd, &force)
	dataDir(cmd, &o.DataDir)
	asJSON(cmd, &json)
	quietly(cmd, &quiet)
	return cmd
}

// writeDivision writes a line for each row.
func writeDivision(to io.Writer, all []data.Place) error {
	w := csv.NewWriter(to)
	w.Write(strings.Split(strings.TrimSpace(splitHeader), ","))
	for _, at := range all {
		line := ""
		if at.Line > 0 {
			line = strconv.Itoa(at.Line)
		}
		w.Write([]string{strconv.Itoa(at.Row), line, at.Part, at.File})
	}
	w.Flush()
	return w.Error()
}
