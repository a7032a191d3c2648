package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/filter"
	"github.com/starling-smc/starling/filtering"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/table"
)

func newFilter() *cobra.Command {
	var f filterRun
	cmd := &cobra.Command{
		Use:   "filter CONFIG|PRESET",
		Short: "Follow a hidden state through scans of measurements",
		Long: `Filter estimates the state of the model that a config file or a preset describes, scan by scan, and prints one JSON line a
scan to stdout as soon as it is ready: the mean and covariance of each target or of the state, its Monte Carlo error, and how well the
sampler did. On a terminal it is a short line for people: the time, the returns, each position ± its standard deviation, and a
question mark with what is doubtful. --scans reads the scans from a file or, with -, from stdin: JSON lines or CSV, compressed with gzip or not.

With --out, or for scans that do not come from stdin, the run is kept in a folder: runs/NAME, or runs/NAME-2 and so on. It has the same
lines (tracks.jsonl), a table (tracks.csv), scores (metrics.json) and a page (report.html). The run is saved there every ten seconds
and when it is interrupted; --resume continues it, and all files end with the same bytes. A file is read again from its beginning. A
sender on stdin replays scans from any time up to the last one that was filtered.

A run takes the same memory for any number of scans. Of a stream without an end --last keeps the lines of the last scans alone, by their
time (1h, 7d) or by size (500MB), so that the disk does not fill up; scores and page are of these scans.

The nodes of method ep may be on other machines: with --server they are divided among the workers that are free, and this process takes a share
if there are fewer of them than nodes. The bytes are those of one process. A worker that is lost while it has nodes is replaced by another one, and the
scan is taken again.

Exit status: 0 done, 1 the run failed, left out more than half of its scans, or nobody reads stdout any more, 2 wrong use or config, 3 bad scans, 130 interrupted.

Parts that a config can name, each by its key:

` + partsHere + `

Every key can be completed after --set, and starling presets NAME prints a commented config.`,
		Example: `  starling filter clutter3
  starling filter clutter3 --against bootstrap --set scans.simulate=50
  starling filter mine.yaml --scans scans.csv --truth truth.csv --out runs/mine
  radar | starling filter mine.yaml --scans - > tracks.jsonl
  radar | starling filter mine.yaml --scans - --out runs/mine --last 1h
  starling filter clutter3 --set method='{ep: {nodes: 8}}' --workers 2`,
		Args: cobra.ExactArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return starling.PresetsFor("filter"), cobra.ShellCompDirectiveDefault
		},
		RunE: f.run,
	}
	helpParts(cmd, filterParts)
	f.flags(cmd, starling.FilterKeys)
	flags := cmd.Flags()
	flags.StringVar(&f.scans, "scans", "", "read the scans from `FILE`, or from stdin if it is -")
	flags.StringVar(&f.truth, "truth", "", "compare with the true states in `FILE`, as scans.truth in the config")
	flags.StringVar(&f.bad, "bad", "", "`WHAT` happens to scans that cannot be used: stop or skip, as scans.bad in the config")
	flags.StringVar(&f.last, "last", "", "keep only the lines of the last `TIME` of scans, as in 1h, or of the last bytes, as in 500MB; last in the config")
	f.elsewhere.flags(cmd, "the nodes of method ep")
	flags.DurationVar(&f.away, "away", longestAway, "end the run, to be continued, when a worker with nodes is not heard of for `TIME`")
	flags.StringVar(&f.against, "against", "", "run another `METHOD` beside, as against in the config: "+strings.Join(filter.Methods.Names(), ", "))
	return cmd
}

type filterRun struct {
	kept
	elsewhere                        elsewhere
	away                             time.Duration
	scans, truth, bad, last, against string
}

func (f *filterRun) run(cmd *cobra.Command, args []string) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	if err := f.elsewhere.check(); err != nil {
		return err
	}
	if f.away <= 0 {
		return wrongUse("--away %v: want a time above 0, as in 5m", f.away)
	}
	limitGarbage()
	began := time.Now()
	s, err := f.spec(args[0])
	if err != nil {
		return err
	}
	piped := f.scans == "-"
	o := starling.FilterOptions{Options: starling.Options{Threads: f.threads, Every: f.every, Memory: memoryLimit(os.DirFS("/"))}}
	if piped {
		o.Stream = os.Stdin
	}
	if f.out != "" || f.resume || !piped {
		if o.Folder, err = f.folder(s.Name, starling.FilterRuns); err != nil {
			return err
		}
		defer o.Folder.Close()
	}
	end, err := f.open(cmd.Context(), s, &o)
	if err != nil {
		return err
	}
	done := false
	defer func() { end(done) }()
	people := !f.json && term.IsTerminal(int(os.Stdout.Fd())) // who read the lines: these are their progress, too
	line := newProgress(f.quiet || people, f.json)
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
		form := inJSON
		if people {
			form = func(l *filtering.Line) ([]byte, error) { return []byte(l.Short(s.Method.Filters())), nil }
		}
		o.Line = lineWriter(os.Stdout, form)
	}
	result, err := starling.Filter(cmd.Context(), s, o)
	line.end()
	switch {
	case stopped(cmd.Context(), err) && o.Folder == nil:
		return interrupted{"nothing was saved: give --out to keep a run"}
	case stopped(cmd.Context(), err):
		return f.saved("filter", args[0], o.Folder, f.flagged()...)
	case o.Folder != nil && o.Folder.Kept() && (filtering.AboutScans(err) || errors.Is(err, syscall.EPIPE) || errors.As(err, new(*filtering.LostNodesError))):
		return fmt.Errorf("%w; to go on from there:\n  %s", err, f.again("filter", args[0], o.Folder.Dir, f.flagged()...))
	case err != nil:
		return err
	}
	done = true
	switch {
	case result.Metrics.Scans == 0 && result.Metrics.LeftOut == 0:
		line.say("starling: there were no scans")
	case o.Folder != nil:
		showFilterPage(o.Folder.Dir, line)
	}
	failure := failed(result.Findings)
	var notes []string
	for _, found := range result.Findings {
		if !found.PageOnly() && !found.Failure() {
			notes = append(notes, found.Words())
		}
	}
	writeNotes(os.Stderr, notes)
	showMore(os.Stderr, result.Findings)
	if f.json {
		return errors.Join(failure, writeMetrics(cmd.OutOrStdout(), result.Metrics))
	}
	if !f.quiet {
		tell(strings.TrimRight(filterTable(result), "\n"))
		if o.Folder != nil {
			tell("written to " + o.Folder.Dir)
		}
		tell(spent(began))
	}
	return failure
}

// failed is the error of a run that failed, although its results are there.
func failed(found []starling.Finding) error {
	for _, f := range found {
		if f.Failure() {
			return errors.New(f.Words())
		}
	}
	return nil
}

// spec reads the config, which flags change.
func (f *filterRun) spec(name string) (starling.Filtering, error) {
	text, err := readConfig(name, "filter")
	if err != nil {
		return starling.Filtering{}, err
	}
	set := slices.Clone(f.set)
	if f.scans != "" {
		set = append(set, "scans.simulate=null", "scans.set=null")
	}
	switch f.scans {
	case "":
	case "-":
		set = append(set, "scans.file=null")
	default:
		set = append(set, "scans.file="+config.Scalar(f.scans))
	}
	if f.truth != "" {
		set = append(set, "scans.truth="+config.Scalar(f.truth))
	}
	if f.bad != "" {
		set = append(set, "scans.bad="+f.bad)
	}
	if f.last != "" {
		set = append(set, "last="+config.Scalar(f.last))
	}
	if f.against != "" {
		set = append(set, "against="+f.against)
	}
	return starling.ParseFiltering(name, text, set...)
}

// flagged lists the flags that only filter has.
func (f *filterRun) flagged() (all []flagged) {
	all = f.elsewhere.given()
	all = append(all, flagged{"--away", f.away.String(), f.away != longestAway})
	for _, flag := range []flagged{{"--scans", f.scans, false}, {"--truth", f.truth, false}, {"--bad", f.bad, false}, {"--last", f.last, false}, {"--against", f.against, false}} {
		flag.given = flag.value != ""
		all = append(all, flag)
	}
	return all
}

// inJSON writes a line for programs.
func inJSON(l *filtering.Line) ([]byte, error) { return json.Marshal(l) }

// lineWriter writes each line at once, in a form. A reader that has gone away stops the run, which is saved.
func lineWriter(out io.Writer, form func(*filtering.Line) ([]byte, error)) func(*filtering.Line) error {
	return func(l *filtering.Line) error {
		text, err := form(l)
		if err != nil {
			return err
		}
		_, err = out.Write(append(text, '\n'))
		if errors.Is(err, syscall.EPIPE) {
			return fmt.Errorf("nobody reads stdout any more: %w", syscall.EPIPE)
		}
		return err
	}
}

// filterTable says how a filter did, and the one that it is compared with.
func filterTable(r *starling.Filtered) string {
	var text strings.Builder
	if m := r.Metrics; m.Errors != nil || m.LogEvidence != nil || m.Against != nil {
		scoreTable(&text, r)
	}
	m := r.Metrics
	if a := m.Against; a != nil {
		fmt.Fprintf(&text, "KS distance of the two laws %s, root mean square difference of their means %s (over scans and coordinates)\n",
			numeral.Significant(float64(a.KS)), numeral.Significant(float64(a.Distance)))
	}
	if h := m.Held; h != nil {
		fmt.Fprintf(&text, "log score of %s held-out measurements %s, of the running mean %s\n", numeral.Count(h.N), fixed(h.LogScore, 4), fixed(h.Running, 4))
	}
	if m.ESS != nil {
		fmt.Fprintf(&text, "effective sample size of a scan: median %s, smallest %s\n", fixed(m.ESS.Median, 0), fixed(m.ESS.Min, 0))
	}
	if m.RHat != nil {
		of := "filters'"
		if m.Nodes != nil {
			of = "nodes'"
		}
		fmt.Fprintf(&text, "R-hat of the %s chains: median %s, largest %s\n", of, fixed(m.RHat.Median, 2), fixed(m.RHat.Max, 2))
	}
	if n := m.Nodes; n != nil {
		fmt.Fprintf(&text, "%d nodes, passes over a scan: %d; %s, %s repaired, %s that say nothing; of %s terms the slowest node in each pass has evaluated %s\n",
			n.Nodes, len(n.Passes), numeral.Several(n.Sites, "site"), numeral.Count(n.Repaired), numeral.Count(n.Empty),
			numeral.Count(int(m.Evaluated)), numeral.Percent(float64(n.Critical)/float64(max(1, m.Evaluated)), 1))
	}
	fmt.Fprintf(&text, "%s, %s, %s missing\n", numeral.Several(m.Scans, "scan"), numeral.Several(m.Returns, "measurement"), numeral.Count(m.Missing))
	if m.Earlier > 0 {
		fmt.Fprintf(&text, "all of this is of the last %s; %s before them are no longer kept\n", r.Spec.Last, numeral.Several(m.Earlier, "scan"))
	}
	return text.String()
}

// scoreTable writes a table of errors and evidence: a row for each of the methods.
func scoreTable(out io.Writer, r *starling.Filtered) {
	m, t := r.Metrics, table.Table{}
	nees := "NEES"
	if m.Errors != nil {
		nees += fmt.Sprintf(" (right: %d)", m.NEESDim)
	}
	t.Add("", "RMSE", "sd", "within 95 %", nees, "log evidence")
	row := []string{shortTitle(r.Spec.Method), "", "", "", "", some(m.LogEvidence, 2)}
	if e := m.Errors; e != nil {
		row[1], row[2], row[3], row[4] = numeral.Significant(float64(e.RMSE)), numeral.Significant(float64(e.SD)),
			numeral.Percent(float64(e.Coverage), 1), neesText(e.NEES)
	}
	t.Add(row...)
	if a := m.Against; a != nil {
		row := []string{shortTitle(r.Spec.Against), "", "", "", "", some(a.LogEvidence, 2)}
		if a.RMSE != nil {
			row[1] = numeral.Significant(float64(*a.RMSE))
		}
		t.Add(row...)
	}
	t.Write(out)
}

func shortTitle(m filter.Method) string { return filter.Methods.Name(m) }

// some is a number, or empty.
func some(v *filtering.Number, decimals int) string {
	if v == nil {
		return ""
	}
	return fixed(*v, decimals)
}

// neesText is a NEES, or empty. That of a filter that has lost its target may have any size.
func neesText(v *filtering.Number) string {
	if v != nil && *v >= 1e6 {
		return numeral.Significant(float64(*v))
	}
	return some(v, 2)
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
