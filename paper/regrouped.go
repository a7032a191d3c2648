package paper

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/decide"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/uq"
)

// Regrouped are runs that compute nothing but scores, of a run that is there: its islands in disjoint groups, in their order, weighted and decided
// by as the config says. The first group is what a run of so many islands would be, bit for bit, since an island draws by its own number. The
// other groups have the same law, with other draws. A figure is the mean over the groups.
var Regrouped = &Kind{
	Parse: func(file string, text []byte, sets ...string) (Work, error) {
		r, _, err := config.Parse[regrouped](file, text, sets, regroupedParts()...)
		return r, err
	},
	Costs: Fits.Costs, Posteriors: true,
}

// part is a cell that regroups a run of another cell: by so many islands or chains, in the reduced protocol by fewer. More are further lines of its
// config.
func part(name, of string, islands, reduced int, more string) Cell {
	return Cell{
		Name: name, Kind: Regrouped, Needs: []Need{{Cell: of}}, Reduced: []string{fmt.Sprint("islands=", reduced)},
		Config: func(at Place) Config {
			return Config{fmt.Appendf(nil, "of: %q\nislands: %d\n%s", at.network(), islands, more), "regrouped from " + of}
		},
	}
}

// regroupedRuns is the kind of their folders.
var regroupedRuns = starling.Kind{Name: "regrouped", Files: []string{groupsFile}, Differ: config.Diff}

const groupsFile = "groups.json"

// regrouped is the Work of Regrouped.
type regrouped struct {
	Name    string           `yaml:"name"`
	Seed    uint64           `yaml:"seed,zero"`
	Of      string           `yaml:"of"`                // the folder of the run
	Islands int              `yaml:"islands,omitempty"` // of a group, or chains; 0: all
	Combine bnn.Combination  `yaml:"combine"`           // default equal
	Test    int              `yaml:"test,omitempty"`    // the first test examples alone are scored, so many; 0: all
	Half    bool             `yaml:"half,omitempty"`    // a half of the test examples and of each foreign group teaches, and the other half is scored (halve)
	Decide  *decide.Settings `yaml:"decide,omitempty"`  // what each group learns to decide by; nil: which inputs are foreign, as every run
}

func regroupedParts() []config.Family {
	return append([]config.Family{bnn.Combinations}, decide.Families()...)
}

// Defaults implements config.Defaulter.
func (r *regrouped) Defaults() { r.Combine = bnn.Equal{} }

// Check implements config.Checker.
func (r regrouped) Check(f *config.Faults) {
	f.If(r.Islands < 0, "islands", "want a number from 1, or 0 for all, have %d", r.Islands)
	f.If(r.Test < 0, "test", "want a number from 1, or 0 for all, have %d", r.Test)
	f.If(r.Half && r.Decide == nil, "half", "a half of the test examples teaches nothing without decide: add decide, or leave half out")
}

// YAML writes the config that Parse reads.
func (r regrouped) YAML() []byte { return config.Encode(r, regroupedParts()...) }

// Kind implements Work.
func (r regrouped) Kind() starling.Kind { return regroupedRuns }

// Whole implements Work: the run is in a folder here.
func (r regrouped) Whole(string) *starling.Whole { return nil }

// scoredGroups is the file of the scores. It has all that a reader needs, so that the run itself may be gone.
type scoredGroups struct {
	Run    string        `json:"config"` // of the run
	Cost   *eval.Cost    `json:"cost"`   // of one group, in the mean
	Groups []scoredGroup `json:"groups"`
}

// scoredGroup is one of the groups: its metrics, and what takes its predictions beside them.
type scoredGroup struct {
	eval.Metrics
	OfClass1 *uq.Number `json:"ece_class1,omitempty"`
	TwoLevel Values     `json:"two_level_by_threshold,omitempty"` // as twoLevel has it
}

// Run implements Work.
func (r regrouped) Run(ctx context.Context, o starling.Options) ([]string, error) {
	run, err := starling.OpenRun(r.Of)
	if err != nil {
		return nil, err
	}
	groups, err := r.groups(run)
	if err != nil {
		return nil, &starling.DataError{Err: err}
	}
	return nil, keepScores(o, r.YAML(), run.Manifest.Data, func(own *runs.Run, workers *pool.Pool) ([]runs.File, error) {
		s := scoredGroups{Run: string(run.Spec.YAML()), Cost: ofGroup(run, len(groups))}
		err := own.Aside(func() (err error) {
			s.Groups, err = r.score(ctx, run, groups, workers, o)
			return err
		})
		return []runs.File{{Name: groupsFile, Write: func(w io.Writer) error { return jsontext.Write(w, s) }}}, err
	})
}

// groups are the numbers of the islands of each group.
func (r regrouped) groups(run *starling.Run) (groups [][]int, err error) {
	n := len(run.Posterior.LogEvidence)
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	each := r.Islands
	if each == 0 {
		each = n
	}
	if n%each != 0 {
		return nil, fmt.Errorf("islands: %d do not divide the %d of the run in %s into groups: want a number that divides %[2]d", each, n, r.Of)
	}
	if r.Combine.NeedsEvidence() && !evidences(run) {
		return nil, fmt.Errorf("combine: the islands of the run in %s have no evidence that can be compared: want equal", r.Of)
	}
	return slices.Collect(slices.Chunk(all, each)), nil
}

// evidences reports whether the evidences of a run's islands estimate the model's.
func evidences(run *starling.Run) bool {
	s := run.Spec.Way().Sampling()
	return s != nil && s.Comparable
}

// ofGroup is the mean cost of a group. What comes before the islands each of them needs as a whole.
func ofGroup(run *starling.Run, groups int) *eval.Cost {
	if run.Cost == nil {
		return nil
	}
	c, s := new(eval.Cost), run.Spec.Way().Sampling()
	for _, p := range run.Cost.Phases {
		if s != nil && p.Name == s.Unit+"s" {
			p.Gradients, p.Values, p.Validation = p.Gradients/groups, p.Values/groups, p.Validation/groups
		}
		c.Add(p.Name, p.Work)
	}
	return c
}

// score evaluates the groups.
func (r regrouped) score(ctx context.Context, run *starling.Run, groups [][]int, workers *pool.Pool, o starling.Options) (all []scoredGroup, err error) {
	p, err := run.Spec.Load(o.DataDir, run.Schema)
	if err != nil {
		return nil, &starling.DataError{Err: err}
	}
	if r.Test > 0 {
		if n := p.Test.Len(); r.Test > n {
			return nil, &starling.DataError{Err: fmt.Errorf("test: %d of the test examples of the run in %s, which has %d", r.Test, r.Of, n)}
		}
		p.Test = p.Test.Slice(p.Test.Name, 0, r.Test)
	}
	if r.Half {
		halve(p, r.Seed)
	}
	for i, group := range groups {
		if o.Progress != nil {
			o.Progress(&starling.Progress{Status: method.Status{Phase: "evaluation", Share: float64(i) / float64(len(groups))}})
		}
		e, err := run.OfIslands(group, r.Combine)
		if err != nil {
			return nil, err
		}
		e.Cost = nil // it is that of all groups
		if e.Decision, _, err = eval.Decide(ctx, e, p.Lessons(), r.Decide, run.Schema, r.Seed, workers); err != nil {
			return nil, err
		}
		a, err := eval.Evaluate(ctx, e, p, r.Combine, evidences(run), workers)
		if err != nil {
			return nil, err
		}
		all = append(all, scoredGroup{*a.Metrics, ofClass1(a.Test, a.Set().Labels), twoLevel(a)})
	}
	return all, nil
}

// Open implements Work.
func (r regrouped) Open(ctx context.Context, dir string, o starling.Options) (Done, error) {
	record, err := readScores(dir, regroupedRuns, r.YAML())
	if err != nil {
		return nil, err
	}
	var s scoredGroups
	var spec starling.Spec
	text, err := record.File(groupsFile)
	if err == nil {
		err = jsontext.Read(text, &s)
	}
	if err == nil {
		spec, err = starling.ParseSpec(groupsFile, []byte(s.Run))
	}
	if err != nil {
		return nil, &starling.DataError{Err: fmt.Errorf("%s: %w", dir, err)}
	}
	var d severalDone
	for i := range s.Groups {
		g := &s.Groups[i]
		d = append(d, &fitDone{
			Run: &starling.Run{Dir: dir, Spec: spec, Manifest: record.Manifest}, ctx: ctx, options: o, Metrics: &g.Metrics, ofClass1: g.OfClass1, twoLevel: g.TwoLevel,
		})
		d[i].Cost = s.Cost
	}
	return d, nil
}

// halve divides the test examples and each group of foreign inputs at random into halves. The first teaches what a run decides by, in the place of
// calibration examples, and the second is scored. So decisions about a set without calibration examples are of rows that taught nothing.
func halve(p *data.Problem, seed uint64) {
	part := func(which int, s *data.Set) (teaches, scored *data.Set) {
		first, second := data.Halves(s.Len(), seed, which)
		return s.Select(s.Name, first), s.Select(s.Name, second)
	}
	p.Calibrate, p.Test = part(0, p.Test)
	groups := p.Groups
	p.Groups, p.Foreign = nil, nil
	for i, g := range groups {
		teaches, scored := part(1+i, g.Set)
		p.Foreign, p.Groups = append(p.Foreign, data.Group{Name: g.Name, Set: teaches}), append(p.Groups, data.Group{Name: g.Name, Set: scored})
	}
}

// severalDone is the Done of Regrouped: its groups.
type severalDone []*fitDone

func (d severalDone) groups() (all []Done) {
	for _, g := range d {
		all = append(all, g)
	}
	return all
}

func (d severalDone) manifest() *starling.Manifest { return d[0].manifest() }

func (d severalDone) particles() int {
	if s := d[0].Spec.Way().Sampling(); s != nil && s.Particles > 1 {
		return s.Particles
	}
	return 0
}
