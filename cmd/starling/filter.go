package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/filter"
	"github.com/starling-smc/starling/filtering"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/table"
	"github.com/starling-smc/starling/ssm"
)

func newFilter() *cobra.Command {
	var f filterRun
	cmd := &cobra.Command{
		Use:   "filter CONFIG|PRESET",
		Short: "Follow a hidden state through scans of measurements",
		Long: `Filter estimates the state of the model that a config file or a preset describes, scan by scan, and prints one JSON line a
scan to stdout as soon as it is ready: the mean and covariance of each target or of the state, its Monte Carlo error, and how well the
sampler did. --scans reads the scans from a file or, with -, from stdin: JSON lines or CSV, compressed with gzip or not.

With --out, or for scans that do not come from stdin, the run is kept in a folder: runs/NAME, or runs/NAME-2 and so on. It has the same
lines (tracks.jsonl), a table (tracks.csv), scores (metrics.json) and a page (report.html). The run is saved there every ten seconds
and when it is interrupted; --resume continues it, and all files end with the same bytes. A file is read again from its beginning. A
sender on stdin replays scans from any time up to the last one that was filtered.

Models that a config can name: ` + strings.Join(ssm.Models.Names(), ", ") + `. Methods: ` + strings.Join(filter.Methods.Names(), ", ") + `.

Exit status: 0 done, 1 the run failed or nobody reads stdout any more, 2 wrong use or config, 3 bad scans, 130 interrupted.`,
		Example: `  starling filter clutter3
  starling filter clutter3 --against bootstrap --set scans.simulate=50
  starling filter mine.yaml --scans scans.csv --truth truth.csv --out runs/mine
  radar | starling filter mine.yaml --scans - > tracks.jsonl`,
		Args: cobra.ExactArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return starling.PresetsFor("filter"), cobra.ShellCompDirectiveDefault
		},
		RunE: f.run,
	}
	f.flags(cmd, starling.FilterKeys())
	flags := cmd.Flags()
	flags.StringVar(&f.scans, "scans", "", "read the scans from `FILE`, or from stdin if it is -")
	flags.StringVar(&f.truth, "truth", "", "compare with the true states in `FILE`, as scans.truth in the config")
	flags.StringVar(&f.bad, "bad", "", "`WHAT` happens to scans that cannot be used: stop or skip, as scans.bad in the config")
	flags.StringVar(&f.against, "against", "", "run another `METHOD` beside, as against in the config: "+strings.Join(filter.Methods.Names(), ", "))
	return cmd
}

type filterRun struct {
	kept
	scans, truth, bad, against string
}

func (f *filterRun) run(cmd *cobra.Command, args []string) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	for _, flag := range []struct{ key, value string }{
		{"scans.truth", f.truth}, {"scans.bad", f.bad}, {"against", f.against},
	} {
		if flag.value != "" {
			f.set = append(f.set, flag.key+"="+flag.value)
		}
	}
	piped := f.scans == "-"
	switch {
	case piped:
		f.set = append(f.set, "scans.simulate=null", "scans.set=null", "scans.file=null")
	case f.scans != "":
		f.set = append(f.set, "scans.simulate=null", "scans.set=null", "scans.file="+f.scans)
	}
	text, err := readConfig(args[0], "filter")
	if err != nil {
		return err
	}
	began := time.Now()
	spec, err := starling.ParseFiltering(args[0], text, f.set...)
	if err != nil {
		return err
	}
	o := starling.FilterOptions{Options: starling.Options{Threads: f.threads, Every: f.every, Memory: memoryLimit(os.DirFS("/"))}}
	if piped {
		o.Stream = os.Stdin
	}
	if f.out != "" || f.resume || !piped {
		if o.Folder, err = f.folder(spec.Name, starling.FilterRuns); err != nil {
			return err
		}
		defer o.Folder.Close()
	}
	line := newProgress(f.quiet, f.json)
	defer line.end()
	o.Progress = func(e starling.Event) {
		switch e := e.(type) {
		case *starling.Notice:
			line.say("starling: " + e.Text)
		case *starling.Progress:
			line.show(e.Status)
		}
	}
	if !f.json {
		o.Line = lineWriter(os.Stdout)
	}
	result, err := starling.Filter(cmd.Context(), spec, o)
	line.end()
	switch {
	case stopped(cmd.Context(), err) && o.Folder == nil:
		return interrupted{"nothing was to be saved: give --out to keep a run"}
	case stopped(cmd.Context(), err):
		return f.saved("filter", args[0], o.Folder, flagged{"--scans", "-", piped})
	case err != nil:
		return err
	}
	if o.Folder != nil {
		showFilterPage(o.Folder.Dir, line)
	}
	writeNotes(os.Stderr, result.Notes())
	if f.json {
		return writeMetrics(cmd.OutOrStdout(), result.Metrics)
	}
	if !f.quiet {
		tell(strings.TrimRight(filterTable(result), "\n"))
		if o.Folder != nil {
			tell("written to " + o.Folder.Dir)
		}
		tell(spent(began))
	}
	return nil
}

// lineWriter writes each line at once. A reader that has gone away stops the run, which is saved.
func lineWriter(out io.Writer) func(*filtering.Line) error {
	return func(l *filtering.Line) error {
		text, err := json.Marshal(l)
		if err != nil {
			return err
		}
		_, err = out.Write(append(text, '\n'))
		if errors.Is(err, syscall.EPIPE) {
			return fmt.Errorf("nobody reads stdout any more: %w", err)
		}
		return err
	}
}

// filterTable says how a filter did, and the one that it is compared with.
func filterTable(r *starling.Filtered) string {
	m := r.Metrics
	var text strings.Builder
	t := table.Table{}
	t.Add("", "RMSE", "sd", "within 95 %", "NEES (right: "+fmt.Sprint(nees(m))+")", "log evidence")
	row := []string{shortTitle(r.Spec.Method), "", "", "", "", some(m.LogEvidence, 2)}
	if e := m.Errors; e != nil {
		row[1], row[2], row[3], row[4] = numeral.Significant(float64(e.RMSE)), numeral.Significant(float64(e.SD)),
			numeral.Percent(float64(e.Coverage), 1), fixed(e.NEES, 2)
	}
	t.Add(row...)
	if a := m.Against; a != nil {
		row := []string{shortTitle(r.Spec.Against), "", "", "", "", some(a.LogEvidence, 2)}
		if a.RMSE != nil {
			row[1] = numeral.Significant(float64(*a.RMSE))
		}
		t.Add(row...)
	}
	t.Write(&text)
	if a := m.Against; a != nil {
		fmt.Fprintf(&text, "KS distance of the two laws %s, difference of their means %s (mean over scans and coordinates)\n",
			numeral.Significant(float64(a.KS)), numeral.Significant(float64(a.Distance)))
	}
	if h := m.Held; h != nil {
		fmt.Fprintf(&text, "log score of %s held-out measurements %s, of the running mean %s\n", numeral.Count(h.N), fixed(h.LogScore, 4), fixed(h.Running, 4))
	}
	if m.ESS != nil {
		fmt.Fprintf(&text, "effective sample size of a scan: median %s, smallest %s\n", fixed(m.ESS.Median, 0), fixed(m.ESS.Min, 0))
	}
	fmt.Fprintf(&text, "%s, %s, %s missing\n", numeral.Several(m.Scans, "scan"), numeral.Several(m.Returns, "measurement"), numeral.Count(m.Missing))
	return text.String()
}

func nees(m *filtering.Metrics) int {
	if m.Errors == nil {
		return 0
	}
	return m.NEESDim
}

func shortTitle(m filter.Method) string { return filter.Methods.Name(m) }

// some is a number, or empty.
func some(v *filtering.Number, decimals int) string {
	if v == nil {
		return ""
	}
	return fixed(*v, decimals)
}

// writeMetrics writes the scores as JSON.
func writeMetrics(out io.Writer, m *filtering.Metrics) error { return jsontext.Write(out, m) }

// showFilterPage writes the page of a run that has just been made. If that fails, the run is kept all the same.
func showFilterPage(dir string, line *progress) {
	run, err := starling.OpenFilterRun(dir)
	if err == nil {
		_, err = writeFilterReport(run)
	}
	if err != nil {
		line.say(fmt.Sprintf("starling: the run is done, but its page could not be written: %v; try again: starling report %s", err, dir))
	}
}
