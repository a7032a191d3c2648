package paper

import (
	"context"
	"math"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/filtering"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/ssm"
	"github.com/starling-smc/starling/uq"
)

// Filters are runs of starling filter.
var Filters = &Kind{
	Parse: func(file string, text []byte, sets ...string) (Work, error) {
		s, err := starling.ParseFiltering(file, text, sets...)
		return filtered{s}, err
	},
	Costs: []Measure{
		{Name: "ess", Title: "ESS", Legend: "of the coordinate that has least, median over the scans", Most: math.Inf(1), Aside: true,
			Of: spread(func(m *filtering.Metrics) *filtering.Spread { return m.ESS })},
		{Name: "ancestors", Title: "ancestors", Legend: "distinct states of the scan before, median over the scans", Most: math.Inf(1), Aside: true,
			Of: spread(func(m *filtering.Metrics) *filtering.Spread { return m.Ancestors })},
		{Name: "critical_terms", Title: "critical path", Legend: "terms of the node that has most, pass by pass: those that one has to wait for", Most: math.Inf(1), Form: millions, Aside: true,
			Of: one(func(d *filterDone) (float64, error) {
				if n := d.Metrics.Nodes; n != nil {
					return float64(n.Critical), nil
				}
				return float64(d.Metrics.Evaluated), nil
			})},
		{Name: "terms", Title: "terms", Legend: "of the likelihood that were evaluated", Most: math.Inf(1), Form: millions,
			Of: one(func(d *filterDone) (float64, error) { return float64(d.Metrics.Evaluated), nil })},
		{Name: "skipped", Title: "skipped", Most: math.Inf(1), Beside: true, Of: one(func(d *filterDone) (float64, error) { return float64(d.Metrics.Skipped), nil })},
		aside(sampled(1, "of the run, with simulating its scans and with the filter beside")),
	},
}

// filtered is the Work of Filters.
type filtered struct{ starling.Filtering }

// Kind implements Work.
func (f filtered) Kind() starling.Kind { return starling.FilterRuns }

// Whole implements Work.
func (f filtered) Whole(dir string) *starling.Whole {
	return &starling.Whole{Dir: dir, Filter: &f.Filtering}
}

// Run implements Work.
func (f filtered) Run(ctx context.Context, o starling.Options) ([]string, error) {
	result, err := starling.Filter(ctx, f.Filtering, starling.FilterOptions{Options: o})
	if err != nil {
		return nil, err
	}
	return result.Notes(), nil
}

// Open implements Work.
func (f filtered) Open(_ context.Context, dir string, _ starling.Options) (Done, error) {
	r, err := starling.OpenFilterRun(dir)
	if err != nil {
		return nil, err
	}
	if err := r.Differs(f.Filtering); err != nil {
		return nil, &DifferentError{err}
	}
	d := &filterDone{FilterRun: r}
	if d.x, _, err = r.Particles(); err != nil {
		return nil, err
	}
	for s, err := range r.Steps() {
		if err != nil {
			return nil, err
		}
		d.steps = append(d.steps, s)
	}
	return d, nil
}

// filterDone is the Done of Filters.
type filterDone struct {
	*starling.FilterRun
	steps []*filtering.Step
	x     []float64 // the particles of all scans; nil: they were not kept
}

func (d *filterDone) manifest() *starling.Manifest { return &d.FilterRun.Manifest }

// particles implements Done: those of a scan, if they were kept.
func (d *filterDone) particles() int {
	if len(d.steps) == 0 {
		return 0
	}
	return len(d.x) / len(d.steps) / d.Spec.Model.Dim()
}

// spread is a measure of the median over the scans; runs without such a number have none.
func spread(of func(*filtering.Metrics) *filtering.Spread) func(Done) (Values, error) {
	return several(func(d *filterDone) ([]float64, error) {
		if s := of(d.Metrics); s != nil {
			return []float64{float64(s.Median)}, nil
		}
		return nil, nil
	})
}

// decision is a kind of decision of a chain, by its name in records and in tables.
type decision struct {
	name, title string
	of          func(*filtering.Accept) *filtering.Number
}

var (
	joint    = decision{"joint", "joint", func(a *filtering.Accept) *filtering.Number { return a.Joint }}
	previous = decision{"index", "previous state", func(a *filtering.Accept) *filtering.Number { return a.Index }}
	current  = decision{"refine", "current state", func(a *filtering.Accept) *filtering.Number { return a.Refine }}
)

// share is a share of something among the decisions of a kind, in percent, scan by scan. Runs without such decisions have none.
type share struct {
	name, title string // behind those of the decision
	of          func(*filtering.Step) *filtering.Accept
}

var (
	accepted      = share{of: func(s *filtering.Step) *filtering.Accept { return s.Accept }}
	acceptedFirst = share{"_first_pass", ", pass 1", func(s *filtering.Step) *filtering.Accept {
		if s.Nodes == nil {
			return nil
		}
		return &s.Nodes.Accept[0]
	}}
	seen = share{"_seen", ", S/M", func(s *filtering.Step) *filtering.Accept { return s.Seen }}
)

// measure is the measure of the share among the decisions of a kind.
func (s share) measure(d decision) Measure {
	return Measure{Name: d.name + s.name, Title: d.title + s.title, Unit: "%", Digits: 2, Most: 100, Join: overScans, Of: several(func(done *filterDone) (all []float64, err error) {
		for _, step := range done.steps {
			if a := s.of(step); a != nil && d.of(a) != nil {
				all = append(all, 100*float64(*d.of(a)))
			}
		}
		return all, nil
	})}
}

// rootErrors is the root mean square error of the positions of the targets, scan by scan; a model that is no tracker has none.
func rootErrors(d *filterDone) (all []float64, err error) {
	if _, ok := d.Spec.Model.(ssm.Tracker); !ok {
		return nil, nil
	}
	matcher := filtering.NewMatcher(d.Spec.Model)
	for _, s := range d.steps {
		squares, n := 0.0, 0
		for r, truth := range matcher.Next(s) {
			for c := range min(matcher.Positions(), len(truth)) {
				e := float64(s.Tracks[r].Mean[c]) - truth[c]
				squares, n = squares+float64(e*e), n+1
			}
		}
		if n > 0 {
			all = append(all, math.Sqrt(squares/float64(n)))
		}
	}
	return all, nil
}

// distance measures how far the particles are from the normal law of the filter beside, by the statistic of Kolmogorov and Smirnov: the
// mean over the scans, of the first coordinate. of chooses from the two-sided and the one-sided statistic. Runs that have not kept their
// particles have none.
func distance(of func(two, one float64) float64) func(Done) (Values, error) {
	return several(func(d *filterDone) ([]float64, error) {
		if d.x == nil || d.Spec.Against == nil {
			return nil, nil
		}
		dim, each, sum := d.Spec.Model.Dim(), len(d.x)/len(d.steps), 0.0
		for k, s := range d.steps {
			var first []float64
			for i := k * each; i < (k+1)*each; i += dim {
				first = append(first, d.x[i])
			}
			mean, sd := float64(s.Against.Mean[0]), float64(s.Against.SD[0])
			sum += of(uq.KS(first, func(v float64) float64 { return .5 * rng.Erfc((mean-v)/(sd*math.Sqrt2)) }))
		}
		return []float64{sum / float64(len(d.steps))}, nil
	})
}
