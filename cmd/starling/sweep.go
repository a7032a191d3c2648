package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/internal/spelling"
)

func newSweep() *cobra.Command {
	var s sweep
	cmd := &cobra.Command{
		Use:   "sweep CONFIG|PRESET --over KEY=V1,V2,…",
		Short: "Try values of settings, and choose without test data",
		Long: `Sweep makes a run for each combination of the values that --over gives, and tells which is the best: by the NLL of the
posterior on the validation examples or, with --by log_evidence, by the log evidence. No test example is used for the choice.

The runs are beside one another in one folder, runs/NAME-sweep, each in a folder that is named after its values, and a page there
compares them. --resume goes on with a sweep that was stopped: runs that are done are read back. It also takes more values. A run that
fails is told, and left out of the choice.

With --folds K each combination is judged by K runs. The rows that are not for the test are divided into K folds; each run validates on one
of them and trains on the others. So every such row is validated once, and the figure is the mean over all of them. In the end sweep names
the starling fit that trains with the best values.

Values are in YAML with commas between them; commas inside brackets and braces do not count.`,
		Example: `  starling sweep mine.yaml --over 'prior={learned: {}},{normal: {variance: 1}}'
  starling sweep mine.yaml --over map.epochs=50,300 --over map.batch=8,64
  starling sweep small.yaml --over map.rate=0.01,0.03 --folds 5
  starling sweep smc.yaml --over model.layers.0.dense=8,32 --by log_evidence
  starling sweep mine.yaml --over map.batch=8,64 --workers 2`,
		Args: cobra.ExactArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return starling.PresetsFor("fit"), cobra.ShellCompDirectiveDefault
		},
		RunE: s.run,
	}
	flags := cmd.Flags()
	s.flags(cmd, starling.Keys)
	cmd.Flag("out").Usage = "folder `DIR` of the sweep, which must not exist yet, except with --resume"
	cmd.Flag("resume").Usage = "go on with the sweep in --out, or in runs/NAME-sweep"
	flags.StringArrayVar(&s.over, "over", nil, "try each of the values, `KEY=V1,V2`; repeatable, for every combination")
	flags.IntVar(&s.folds, "folds", 0, "judge each combination by `K` runs, each of which validates on another of K folds of the rows")
	flags.StringVar(&s.by, "by", starling.Criteria[0].Name, "choose by `FIGURE`: "+strings.Join(criteria(), " or "))
	cmd.RegisterFlagCompletionFunc("over", completeKeys(starling.Keys))
	cmd.RegisterFlagCompletionFunc("by", cobra.FixedCompletions(criteria(), cobra.ShellCompDirectiveNoFileComp))
	dataDir(cmd, &s.dataDir)
	s.elsewhere.flags(cmd, "the runs")
	return cmd
}

// criteria lists the names of the criteria.
func criteria() (names []string) {
	for _, c := range starling.Criteria {
		names = append(names, c.Name)
	}
	return names
}

type sweep struct {
	kept
	over    []string
	by      string
	folds   int // 0: each combination is a run
	dataDir string

	elsewhere elsewhere
	failed    map[string]error // of runs that were made elsewhere, by their folders

	config    string // the argument
	base      []byte // the config without the values that are tried: resolved, if it is one
	criterion starling.Criterion
	axes      []starling.Axis
	points    []starling.Point   // the combinations
	runs      [][]starling.Point // of each of them
	tried     []tried            // likewise
}

// tried is what became of a point of a sweep.
type tried struct {
	dir    string              // of its first run
	failed error               // why it has no value; nil: it has one
	judged *starling.Judgement // nil: failed
	result *starling.Result    // of its first run; nil: one of its runs did not end
	told   int                 // the warnings of its runs
}

func (s *sweep) run(cmd *cobra.Command, args []string) error {
	s.config = args[0]
	if err := s.check(cmd); err != nil {
		return err
	}
	if err := s.elsewhere.check(); err != nil {
		return err
	}
	if err := s.grid(); err != nil {
		return err
	}
	if err := s.open(s.points[0].Spec.Name + "-sweep"); err != nil {
		return err
	}
	line := newProgress(s.quiet, s.json)
	line.named = s.elsewhere.server != "" && !s.quiet && !s.json
	defer line.end()
	done := 0
	if err := s.makeElsewhere(cmd.Context(), line); stopped(cmd.Context(), err) {
		line.end()
		return s.interrupted(done)
	} else if err != nil {
		return err
	}
	for i, p := range s.points {
		one, err := s.tryAll(cmd.Context(), i, &done, line)
		if stopped(cmd.Context(), err) {
			line.end()
			return s.interrupted(done)
		}
		if err != nil {
			return err
		}
		if one.failed != nil {
			line.say(fmt.Sprintf("starling: %s is left out of the choice: %v", p.Name, one.failed))
		}
		s.tried = append(s.tried, one)
	}
	line.end()
	c := s.choose()
	if err := s.writePage(&c); err != nil {
		return err
	}
	if s.json {
		if err := jsontext.Write(cmd.OutOrStdout(), s.object(c)); err != nil {
			return err
		}
	} else {
		s.show(cmd.OutOrStdout(), c)
	}
	if slices.ContainsFunc(s.tried, func(t tried) bool { return t.judged != nil }) {
		return nil
	}
	return fmt.Errorf("no run of the sweep has a value: %w", s.tried[0].failed)
}

// grid reads the flags and the config, and makes the points. All faults that need no data are found here, before anything is written.
func (s *sweep) grid() error {
	at := slices.Index(criteria(), s.by)
	if at < 0 {
		return wrongUse("--by %s: want %s%s", s.by, strings.Join(criteria(), " or "), spelling.Suggest(s.by, criteria()))
	}
	s.criterion = starling.Criteria[at]
	if len(s.over) == 0 {
		return wrongUse("name a setting and its values, as in --over prior.normal.variance=0.1,1,10")
	}
	for _, text := range s.over {
		axis, err := starling.ParseAxis(text)
		if err != nil {
			return wrongUse("--over %w", err)
		}
		s.axes = append(s.axes, axis)
	}
	if isTable(s.config) {
		return wrongUse("%s is a table: write a config with starling new", s.config)
	}
	text, err := readConfig(s.config, "fit")
	if err != nil {
		return err
	}
	s.base = text
	if spec, err := starling.ParseSpec(s.config, text, s.set...); err == nil { // it need not be whole without the values of the axes
		s.base = spec.YAML()
	}
	if s.points, err = starling.Grid(s.config, text, s.set, s.axes...); err != nil {
		return err
	}
	for _, p := range s.points {
		if err := s.criterion.Check(&p.Spec); err != nil {
			return fmt.Errorf("run %s of the sweep: %w", p.Name, err)
		}
	}
	return s.divide(text)
}

// divide makes the runs of each point: one, or one for each fold.
func (s *sweep) divide(text []byte) error {
	switch {
	case s.folds == 0:
		s.runs = slices.Collect(slices.Chunk(s.points, 1))
		return nil
	case s.folds < 2:
		return wrongUse("--folds %d: want at least 2", s.folds)
	case !s.criterion.Folds:
		return wrongUse("--folds are for --by %s: a fold that does not train says nothing of the %s", starling.Criteria[0].Name, s.criterion.Title)
	}
	const folds, fold = "data.split.folds", "data.split.fold"
	axis := starling.Axis{Key: fold}
	for k := range s.folds {
		axis.Values = append(axis.Values, strconv.Itoa(k+1))
	}
	sets := append(slices.Clip(s.set), fmt.Sprintf("%s=%d", folds, s.folds))
	all, err := starling.Grid(s.config, text, sets, append(slices.Clip(s.axes), axis)...)
	if err != nil {
		return err
	}
	s.runs = slices.Collect(slices.Chunk(all, s.folds))
	return nil
}

// tryAll makes the runs of a point, and judges them together. The first that has no value is the reason why the point has none. done counts
// the runs of the sweep.
func (s *sweep) tryAll(ctx context.Context, i int, done *int, line *progress) (tried, error) {
	var first tried
	var judged []*starling.Judgement
	for k, p := range s.runs[i] {
		if !s.quiet && !s.json && s.failed == nil {
			line.say(fmt.Sprintf("run %d of %d: %s", i*len(s.runs[i])+k+1, len(s.points)*len(s.runs[i]), p.Name))
		}
		one, err := s.try(ctx, p, line)
		if err != nil {
			return one, err
		}
		*done++
		if one.result != nil {
			one.told = one.warnings()
		}
		if k == 0 {
			first = one
		} else {
			first.told += one.told
		}
		if one.failed != nil {
			if first.failed, first.judged = one.failed, nil; k > 0 {
				first.failed = fmt.Errorf("fold %d: %w", k+1, one.failed)
			}
			*done = (i + 1) * len(s.runs[i]) // the others would change nothing
			return first, nil
		}
		judged = append(judged, one.judged)
	}
	if s.folds > 0 {
		first.judged = starling.Pool(judged)
	}
	return first, nil
}

// makeElsewhere has workers make all runs, if there are any. They are then read back as those of a sweep that goes on.
func (s *sweep) makeElsewhere(ctx context.Context, line *progress) error {
	if !s.elsewhere.asked() {
		return nil
	}
	others, end, err := s.elsewhere.open(ctx, storeOf(s.out), s.threads)
	if err != nil {
		return err
	}
	var all []starling.Whole
	for _, runs := range s.runs {
		for _, p := range runs {
			all = append(all, starling.Whole{Dir: filepath.Join(s.out, p.Name), Fit: &p.Spec})
		}
	}
	o := watched(starling.Options{}, line, nil)
	failed, err := starling.MakeElsewhere(ctx, *others, all, s.dataDir, o.Progress)
	end(err == nil)
	s.failed = map[string]error{}
	for i, why := range failed {
		s.failed[all[i].Dir] = why
	}
	return err
}

// try makes the run of a point, or reads it back, and judges it. The error is that of an interrupt, or of a folder that is not this
// sweep's: every other one is the run's own.
func (s *sweep) try(ctx context.Context, p starling.Point, line *progress) (tried, error) {
	one := tried{dir: filepath.Join(s.out, p.Name)}
	folder, err := starling.TakeFolder(one.dir, starling.FitRuns)
	if errors.Is(err, fs.ErrExist) { // the sweep goes on
		folder, err = starling.ResumeFolder(one.dir, starling.FitRuns)
	}
	if err != nil {
		return one, wrongUse("cannot write a run to %s: %w", one.dir, err)
	}
	defer folder.Close()
	if one.failed = s.failed[one.dir]; one.failed != nil {
		return one, nil
	}
	o := starling.Options{Threads: s.threads, DataDir: s.dataDir, Folder: folder, Every: s.every}
	if s.failed != nil { // it is done, elsewhere: there is nothing to tell of its progress
		one.result, one.failed = starling.Fit(ctx, p.Spec, o)
	} else {
		one.result, one.failed = learn(ctx, []starling.Spec{p.Spec}, o, line, func(*starling.Loaded) {})
	}
	var other *starling.OtherRunError
	if errors.As(one.failed, &other) || stopped(ctx, one.failed) {
		return one, one.failed
	}
	if one.failed == nil {
		one.judged, one.failed = s.criterion.Judge(ctx, one.result, o)
		if stopped(ctx, one.failed) {
			return one, one.failed
		}
		showPage(one.result, one.dir, line)
	}
	return one, nil
}

// interrupted says what was done, and how to go on.
func (s *sweep) interrupted(done int) error {
	more := append(s.elsewhere.given(), []flagged{{"--folds", strconv.Itoa(s.folds), s.folds > 0}, {"--by", s.by, s.by != starling.Criteria[0].Name}, {"--data-dir", s.dataDir, s.dataDir != os.Getenv("STARLING_DATA")}}...)
	for _, over := range s.over {
		more = append(more, flagged{"--over", over, true})
	}
	return interrupted{fmt.Sprintf("the sweep is saved in %s: %d of %d runs are done; to go on:\n  %s",
		s.out, done, len(s.points)*len(s.runs[0]), s.again("sweep", s.config, s.out, more...))}
}
