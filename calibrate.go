package starling

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/decide"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/regular"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/spec"
)

// Calibration names what Run.Calibrate learns from, and what it learns.
type Calibration struct {
	// Data are labelled examples that nothing has learnt from: a set by name, a table with the run's columns, or a file of inputs. Empty, or the
	// run's own set: the run's own calibration examples. A program may give them as Run.Spec.Data.Memory, with the others.
	Data   string
	Labels string           // file of the targets, if Data is a file of inputs alone
	OOD    []string         // sets or files of foreign inputs that are known beforehand
	Decide *decide.Settings // what to learn; nil: as Run.Deciding says
}

// decideBlock is the part of a config that says what to learn.
type decideBlock struct {
	Decide *decide.Settings `yaml:"decide"`
}

// Deciding is what a run is calibrated to decide: the block decide of its config or, without one, a temperature, sets that hold the
// truth at a rate of 0.9, and a threshold that answers 0.9 of the rows. Each of sets changes a value, as in "decide.sets.rate=0.99". The
// error is a *ConfigError.
func (r *Run) Deciding(sets ...string) (*decide.Settings, error) {
	by := r.Spec.Decide
	if by == nil {
		by = &decide.Settings{Temperature: true, Sets: &decide.Sets{Rate: 0.9}, Abstain: &decide.Abstain{At: decide.Coverage(0.9)}}
	}
	return asConfig(by, sets...)
}

// asConfig fills settings in, changes and checks them as those of a config.
func asConfig(by *decide.Settings, sets ...string) (*decide.Settings, error) {
	b, _, err := config.Parse[decideBlock]("decide", config.Encode(decideBlock{by}, decide.Families()...), sets, decide.Families()...)
	if err == nil && b.Decide == nil {
		return nil, wrongUse("decide is null, which leaves nothing to learn: leave out a piece of it, as in --set decide.abstain=null")
	}
	return b.Decide, err
}

// Calibrate learns a decision from examples that the run has not seen. It replaces the run's decision.json, and in the manifest the findings
// about the decision. The rest of the run stays as it is. A process that is killed meanwhile leaves the old decision or the new one. The same examples give the same decision, byte for byte,
// as if the run had had them as data.calibrate and data.calibrate_groups, and the settings as decide.
//
// The run's own data are read, too: its validation examples teach the temperature. What was refused, and why, is among the findings. If
// there is an error, the run keeps the decision that it had: a *ConfigError for settings that cannot be learnt, a *DataError for examples
// that do not fit the network.
func (r *Run) Calibrate(ctx context.Context, c Calibration, o Options) (_ *eval.Decision, _ []Finding, err error) {
	defer func() { err = damage(err) }()
	defer regular.Caught(&err)
	by, err := r.Deciding()
	if c.Decide != nil {
		by, err = asConfig(c.Decide)
	}
	if err != nil {
		return nil, nil, err
	}
	p, found, err := r.toCalibrate(&c, by, o.DataDir)
	if err != nil {
		return nil, nil, readFault(err)
	}
	faults := config.NewFaults()
	by.CheckWith(spec.DecideFrom(r.Net, p, r.Posterior.Alive() == 1), faults.In("decide"))
	if err := new(Spec).Error(faults.All()...); err != nil {
		return nil, nil, err
	}
	d, more, err := eval.Decide(ctx, &r.Ensembles, p.Lessons(), by, r.Schema, r.Spec.Seed, pool.New(o.Threads))
	if err != nil {
		if errors.As(err, new(*eval.InputError)) {
			err = &DataError{Err: err}
		}
		return nil, nil, err
	}
	found = slices.Concat(found, more)
	if learntNothing(d) {
		return nil, nil, &DataError{Err: fmt.Errorf("nothing was learnt, and the run in %s keeps what it had: %s", r.Dir, strings.Join(notes(more), "; "))}
	}
	if r.Decision == nil {
		r.readDecision() // one that is damaged, or another posterior's, is replaced as a whole
	}
	if d.Foreign == nil && r.Decision != nil { // the validation examples that taught it are not there any more
		d.Foreign = r.Decision.Foreign
	}
	if err := r.tell(ctx, d, p, o); err != nil {
		return nil, nil, err
	}
	kept := slices.DeleteFunc(slices.Clone(r.Findings), Finding.OfDecision) // the others are about the decision that is replaced
	found = slices.DeleteFunc(found, func(f Finding) bool { return slices.ContainsFunc(kept, f.Equal) })
	for _, f := range found {
		if f.OfDecision() {
			kept = append(kept, f)
		}
	}
	told, err := json.Marshal(kept)
	if err != nil {
		return nil, nil, err
	}
	file := runs.File{Name: decisionFile, Write: func(w io.Writer) error { return jsontext.Write(w, d) }}
	if err := r.record.Replace(file, func(m *Manifest) { m.Findings, m.Notes = told, notes(kept) }); err != nil {
		return nil, nil, damage(err)
	}
	r.Decision, r.Manifest, r.Findings = d, r.record.Manifest, kept
	return d, found, nil
}

// tell sends the scores of a decision on the examples that taught it.
func (r *Run) tell(ctx context.Context, d *eval.Decision, p *data.Problem, o Options) error {
	if o.Progress == nil {
		return nil
	}
	on, part := p.Calibrate, "calibration"
	if on == nil {
		on, part = p.Validate, "validation"
	}
	e := r.Ensembles
	e.Decision, e.Chains = d, nil
	a, err := r.Spec.Evaluate(ctx, &e, &data.Problem{Name: p.Name, Schema: r.Schema, Test: on}, pool.New(o.Threads))
	if err == nil {
		o.Progress(&Calibrated{part, on.Len(), a.Metrics})
	}
	return err
}

// toCalibrate loads what a decision is learnt from: the run's own data, with the examples to calibrate in their place. If the run's own data
// cannot be read any more, and nothing needs them, that is a finding.
func (r *Run) toCalibrate(c *Calibration, by *decide.Settings, dir string) (*data.Problem, []Finding, error) {
	name := c.Data
	if name == r.Spec.Data.Set {
		name = ""
	}
	p, err := r.own(dir)
	if err != nil {
		if why := r.needsOwn(name, by); why != "" {
			return nil, nil, fmt.Errorf("%s: %w", why, err)
		}
		p = &data.Problem{Name: name, Schema: r.Schema}
	}
	if err := p.ReadCalibration(name, c.Labels, dir, c.OOD...); err != nil {
		return nil, nil, err
	}
	if p.Calibrate == nil && (by.Sets != nil || by.Abstain != nil) {
		return nil, nil, wrongUse("the run in %s has no calibration examples of its own: name labelled examples that it has not seen, by --data FILE", r.Dir)
	}
	if err != nil {
		return p, append(p.Noted, finding.Of(finding.CalibrationUnknown{Why: err.Error()})), nil
	}
	return p, append(p.Noted, calibrated(p, !r.Spec.Method.Needs().Whole)...), nil
}

// needsOwn says why a calibration needs the run's own data; empty: it does not.
func (r *Run) needsOwn(name string, by *decide.Settings) string {
	_, validated := r.Manifest.Data["validate"]
	fitted := false
	if by.Abstain != nil {
		_, fitted = decide.Learns(by.Abstain.By)
	}
	switch {
	case name == "":
		return "the run's own data, from which it is calibrated without --data FILE, cannot be read"
	case by.Temperature && validated:
		return "the run's validation examples, which teach the temperature, cannot be read; put its data back, or leave the temperature out, by --set decide.temperature=false"
	case fitted:
		return "the run's training examples, from which a literal classifier learns, cannot be read; put its data back"
	}
	return ""
}

// learntNothing reports a decision of which every piece was refused.
func learntNothing(d *eval.Decision) bool {
	l := d.Learnt
	return l.Temperature == nil && l.Factor == nil && l.Sets == nil && l.Intervals == nil && l.Abstain == nil
}
