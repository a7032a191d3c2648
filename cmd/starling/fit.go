package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/method"
)

func newFit() *cobra.Command {
	var f fit
	cmd := &cobra.Command{
		Use:   "fit CONFIG|PRESET|TABLE",
		Short: "Train a network, evaluate it, and keep the run in a folder",
		Long: `Fit trains the network that a config file or a preset describes, samples its posterior, evaluates the ensemble on
the test examples, and writes all of it to a folder: runs/NAME, or runs/NAME-2 and so on if that exists.

With --target the file is a table, or an array of features, and starling makes the config for it that starling new prints. The run keeps it as config.yaml,
with all defaults; --set changes it.

The run is saved there every ten seconds and when it is interrupted. --resume continues it after an interrupt or a crash.
The result is the same, bit for bit, as that of a run that never stopped.

If the particles did not move in most stages, or most chains never moved in their second half, the run has failed. It is kept and
complete, and fit ends with exit status 1, unless --allow-stuck.

Exit status: 0 done, 1 the run failed, 2 wrong use or config, 3 bad data, 130 interrupted.

While it works, fit shows its progress on stderr: on a terminal by a line that is redrawn, elsewhere by a plain line every
ten seconds.

Parts that a config can name, each by its key:

` + partsHere + `

Every key can be completed after --set, and starling presets NAME prints a commented config.`,
		Example: `  starling fit mnist7
  starling fit flowers.csv --target species
  starling fit spring.csv --target sales --test summer.csv
  starling fit visits.csv --target cost --group patient
  starling fit mnist7-smc --workers 2 --set method.smc.islands=16
  starling fit mine.yaml --out runs/mine --seed 2 --set map.restarts=4
  starling fit mine.yaml --out runs/mine --seed 2 --set map.restarts=4 --resume`,
		Args: cobra.ExactArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return starling.PresetsFor("fit"), cobra.ShellCompDirectiveDefault
		},
		RunE: f.run,
	}
	flags := cmd.Flags()
	helpParts(cmd, fitParts)
	f.flags(cmd, starling.Keys)
	flags.BoolVar(&f.allowStuck, "allow-stuck", false, "end with exit status 0 even if the particles, or most chains, did not move")
	f.table.flags(cmd, "the file is a table: predict this `COLUMN` of it, with the config that starling new makes")
	dataDir(cmd, &f.dataDir)
	f.elsewhere.flags(cmd, "the parts of the run")
	return cmd
}

type fit struct {
	kept
	dataDir    string
	allowStuck bool
	table      tableToLearn // without a target, the argument is a config
	elsewhere  elsewhere
}

// specs reads the config, or makes those of a table, of which one is chosen.
func (f *fit) specs(name string) ([]starling.Spec, error) {
	switch {
	case f.table.target != "":
		if is, err := f.table.features(name); err != nil || is {
			return f.head(name, err)
		}
		table, err := f.table.csv(name)
		if err != nil {
			return nil, err
		}
		specs, err := starling.NewSpecs("the config of "+name, table, f.set...)
		return specs, mended(err)
	case isTable(name) && !exists(name):
		return nil, wrongUse("there is no file %s", name)
	case isTable(name):
		return nil, wrongUse("%s is a table: name the column to predict with --target, or write a config with starling new", name)
	case strings.EqualFold(filepath.Ext(name), ".npy"):
		return nil, wrongUse("%s is an array: name the file of the labels with --target, to train a head on these features, or write a config", name)
	case f.table.without("target").told():
		return nil, wrongUse("%s are for a table with --target; a config has them in data.csv", f.table.without("target").list())
	}
	spec, err := readSpec(name, f.set)
	return []starling.Spec{spec}, err
}

// head makes the config of a head on features, unless the error forbids it.
func (f *fit) head(name string, err error) ([]starling.Spec, error) {
	if err != nil {
		return nil, err
	}
	text, err := starling.NewHeadConfig(name, f.table.target)
	if err != nil {
		return nil, err
	}
	spec, err := starling.ParseSpec("the config of "+name, text, f.set...)
	return []starling.Spec{spec}, err
}

func (f *fit) run(cmd *cobra.Command, args []string) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	if err := f.elsewhere.check(); err != nil {
		return err
	}
	began := time.Now()
	specs, err := f.specs(args[0])
	if err != nil {
		return err
	}
	folder, err := f.folder(specs[0].Name, starling.FitRuns)
	if err != nil {
		return err
	}
	defer folder.Close()
	others, end, err := f.elsewhere.open(cmd.Context(), storeOf(folder.Dir), f.threads)
	if err != nil {
		return err
	}
	done := false
	defer func() { end(done) }()
	stdout, line := cmd.OutOrStdout(), newProgress(f.quiet, f.json)
	line.named = f.elsewhere.server != "" && !f.quiet && !f.json
	defer line.end()
	line.show(method.Status{Phase: "reading the data"})
	result, err := learn(cmd.Context(), specs, starling.Options{Threads: f.threads, DataDir: f.dataDir, Folder: folder, Every: f.every, Cluster: others}, line,
		func(l *starling.Loaded) {
			switch {
			case !f.json:
				wrap(stdout, header(l))
			case line.drawn():
				tell(strings.Join(lines(header(l), columns), "\n"))
			}
		})
	if stopped(cmd.Context(), err) {
		line.end()
		f.elsewhere.tellStore(storeOf(folder.Dir))
		return f.saved("fit", args[0], folder, append(append(f.table.given(), f.elsewhere.given()...),
			flagged{"--data-dir", f.dataDir, f.dataDir != os.Getenv("STARLING_DATA")}, flagged{"--allow-stuck", "", f.allowStuck})...)
	}
	if err != nil {
		return err
	}
	done = true
	line.show(method.Status{Phase: "writing the report"})
	showPage(result, folder.Dir, line)
	drawn := line.drawn()
	line.end()
	if f.json {
		writeNotes(os.Stderr, f.notes(result, line))
		if drawn {
			tell("written to " + folder.Dir)
			tell(spent(began))
		}
		if err := result.Metrics.WriteJSON(stdout); err != nil {
			return err
		}
		return f.verdict(result, folder)
	}
	showMetrics(stdout, &result.Spec, &result.Ensembles, result.Assessment, false)
	showDecisions(stdout, result.Assessment, false)
	writeNotes(stdout, f.notes(result, line))
	showMore(stdout, result.Findings, result.Assessment.Findings(&result.Ensembles, result.Spec.Method.Needs().Whole))
	fmt.Fprintln(stdout, "written to "+folder.Dir)
	if _, err = fmt.Fprintln(stdout, spent(began)); err != nil {
		return err
	}
	return f.verdict(result, folder)
}

// notes are the run's notes: those that the command has not told yet, and does not tell as the error that the run failed. With --allow-stuck
// they do not say so.
func (f *fit) notes(result *starling.Result, line *progress) (notes []string) {
	for _, found := range result.Findings {
		switch {
		case found.PageOnly(), line.told(found), found.Failure() && !f.allowStuck:
		case f.allowStuck && found.Failure():
			notes = append(notes, "accepted by --allow-stuck: "+found.Allowed().Words())
		default:
			notes = append(notes, found.Words())
		}
	}
	return notes
}

// verdict is an error if a finding says that the run failed, although its results are there.
func (f *fit) verdict(result *starling.Result, folder *starling.Folder) error {
	if f.allowStuck {
		return nil
	}
	for _, found := range result.Findings {
		if found.Failure() {
			return fmt.Errorf("%s. The run is complete in %s, and --allow-stuck accepts it", found.Words(), folder.Dir)
		}
	}
	return nil
}

// spent says how much time the command took, and how much memory if that is known.
func spent(began time.Time) string {
	text := "took " + seconds(time.Since(began))
	if most := peak(); most > 0 {
		text += fmt.Sprintf(" and %d MB of memory", (most+1<<20-1)>>20)
	}
	return text
}
