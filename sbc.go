package starling

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/regular"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/sbc"
)

// sbcFile is the file of a check's result in its folder: an sbc.Summary.
const sbcFile = "sbc.json"

// SBCRuns is the kind of run that SBC makes.
var SBCRuns = Kind{Name: "sbc", Files: []string{sbcFile, reportFile}, Differ: differsSBC}

// SBCResult is what a check by SBC says of a config's method.
type SBCResult struct {
	Spec Spec // resolved: with every default
	*sbc.Summary
	Manifest Manifest
}

// SBC asks whether the method of a Spec draws from the posterior, by simulation-based calibration with so many fits: see package sbc. Each fit is of
// parameters and targets that are drawn from the prior and the likelihood, at the inputs of the Spec's data. With Options.Folder it keeps what is
// done there; given the folder of a check that was stopped, it goes on, and the result has the same bytes. Fits go on side by side, one on each thread.
//
// The error is a *ConfigError for a Spec that cannot be checked, and those of Fit.
func SBC(ctx context.Context, spec Spec, fits int, o Options) (_ *SBCResult, err error) {
	defer func() { err = damage(err) }()
	defer regular.Caught(&err)
	if err := checkSBC(&spec, fits); err != nil {
		return nil, err
	}
	now := time.Now
	if o.now != nil {
		now = o.now
	}
	m := Manifest{Started: now(), Kernel: lanes.Kernel()}
	m.Version, m.Revision = Version()
	tell := oneByOne(o.Progress)
	threads := pool.New(o.Threads)
	p, err := spec.Plan(o.DataDir, o.Memory/int64(min(threads.Threads(), fits)), method.Job{Pool: threads, Tell: func(s method.Status) { tell(&Progress{s}) }})
	if err != nil {
		return nil, err
	}
	tell(&Loaded{&p.Spec, p.Job.Data, p.Job.Net})
	c, err := sbc.New(p.Job, p.Way, fits)
	if err != nil {
		return nil, err
	}
	m.Threads, m.Data, m.Init = threads.Threads(), p.Job.Data.Checksums(), p.InitSum
	if o.Folder != nil {
		m.From = whence(o.Folder.Dir)
	}
	run, err := runs.Open(o.Folder, append(sbcLead(fits), p.Spec.YAML()...), m, runs.Options{
		Every: o.Every, Now: o.now, Free: o.free, Notice: func(text string) { tell(&Notice{Text: text}) },
	})
	if err != nil {
		return nil, err
	}
	out := &SBCResult{Spec: p.Spec}
	if run.Done() {
		return OpenSBC(o.Folder.Dir)
	}
	run.Intact = p.Job.Data.Unchanged
	if err := run.Close(out.work(ctx, c, run)); err != nil {
		return nil, err
	}
	out.Manifest = run.Manifest
	return out, nil
}

// checkSBC refuses a Spec that cannot be checked.
func checkSBC(s *Spec, fits int) error {
	switch needs := s.Method.Needs(); {
	case !needs.Posterior:
		return s.Fault(s.At(), "draws nothing from a posterior that could be checked: want %s",
			strings.Join(method.MethodsWhere(func(n method.Needs) bool { return n.Posterior }), " or "))
	case s.Prior.Anchor != nil:
		return s.Fault("prior.anchor", "makes the prior depend on the data, and sbc draws the data from the prior: "+
			"leave the anchor out. For s of at least 0.5, which moves no mean, give the prior s times the variance")
	case s.Prior.Added != nil:
		return s.Fault("prior.added", "makes the prior depend on the data, and sbc draws the data from the prior: leave it out")
	case s.Way().Sampling() != nil && s.Way().Sampling().Path.Traits().Evidence.Cold:
		return s.Fault(s.At()+".temperature", "makes the target a cold posterior, and what sbc draws has the posterior itself: leave temperature out")
	case s.Data.Augment != nil:
		return s.Fault("data.augment", "changes images at random in each step: the likelihood cannot be drawn from then; leave it out")
	case !s.Model.Random.All():
		return s.Fault("model.random", "leaves layers without a prior, of which sbc could draw nothing: leave random out, or check the same method on a smaller network")
	}
	if fits < sbc.Fewest || fits > sbc.Most {
		return s.Fault("", "%d fits are too few or too many to judge ranks by: want %d to %s", fits, sbc.Fewest, numeral.Count(sbc.Most))
	}
	return nil
}

// sbcLead begins the config of a check with its number of fits.
func sbcLead(fits int) []byte { return fmt.Appendf(nil, "# starling sbc --runs %d\n", fits) }

// differsSBC names the values in which two checks differ.
func differsSBC(was, is []byte) error {
	before, _, _ := bytes.Cut(was, []byte("\n"))
	now, _, _ := bytes.Cut(is, []byte("\n"))
	if err := config.Diff(was, is); err != nil || bytes.Equal(before, now) {
		return err
	}
	return fmt.Errorf("the check was begun as %q, and is %q now", before, now)
}

// work makes the fits, and sums them up.
func (c *SBCResult) work(ctx context.Context, check *sbc.Check, run *runs.Run) (err error) {
	defer regular.Caught(&err)
	done := 0
	tell := func(resumed bool) {
		check.Job.Tell(method.Status{
			Phase: numeral.Several(check.Fits, "fit"), Share: float64(done) / float64(check.Fits), Ended: done == check.Fits, Resumed: resumed,
			Long: fmt.Sprintf("%d of %d done", done, check.Fits), Short: fmt.Sprintf("%d/%d", done, check.Fits),
		})
	}
	tell(false)
	err = run.Phase(ctx, check.Job.Pool, runs.Phase{
		Name: "fits", Parts: check.Parts(),
		Watch: func(runs.TraceLine) error {
			done++
			tell(false)
			return nil
		},
		Resumed: func(kept []runs.TraceLine) error {
			done = len(kept)
			tell(true)
			return nil
		},
	})
	if err != nil {
		return err
	}
	lines, err := sbcLines(run.Trace())
	if err != nil {
		return err
	}
	if c.Summary, err = check.Summarise(lines); err != nil {
		return err
	}
	return run.Finish([]runs.File{{Name: sbcFile, Write: func(w io.Writer) error { return jsontext.Write(w, c.Summary) }}})
}

// sbcLines reads the lines of a trace, which is in the order of the fits.
func sbcLines(trace []runs.TraceLine) ([]sbc.Line, error) {
	lines := make([]sbc.Line, len(trace))
	for i, l := range trace {
		if err := json.Unmarshal(l.Fields, &lines[i]); err != nil {
			return nil, fmt.Errorf("line %d of the trace: %w", i+1, err)
		}
	}
	return lines, nil
}

// OpenSBC reads the folder of a check that is done. Errors are those of OpenRun.
func OpenSBC(dir string) (*SBCResult, error) {
	record, err := runs.Read(dir, SBCRuns)
	if err != nil {
		return nil, damage(err)
	}
	c := &SBCResult{Manifest: record.Manifest, Summary: new(sbc.Summary)}
	if c.Spec, err = ParseSpec(filepath.Join(dir, "config.yaml"), record.Config); err != nil {
		return nil, &DataError{Err: err}
	}
	text, err := record.File(sbcFile)
	if err != nil {
		return nil, damage(err)
	}
	if err := cmp.Or(jsontext.Read(text, c.Summary), c.check()); err != nil {
		return nil, &DataError{Err: fmt.Errorf("%s: %w", filepath.Join(dir, sbcFile), err)}
	}
	return c, nil
}

// check refuses a summary that is none.
func (c *SBCResult) check() error {
	if len(c.Quantities) == 0 {
		return errors.New("ranks of no quantities")
	}
	for _, q := range c.Quantities {
		if len(q.Ranks) != c.Fits-c.Failed || len(q.Ranks) < sbc.Fewest {
			return fmt.Errorf("%d ranks of %s, for %d fits of which %d failed", len(q.Ranks), q.Name, c.Fits, c.Failed)
		}
	}
	return nil
}
