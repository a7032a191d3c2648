package paper

import (
	"context"
	"errors"
	"math"
	"strconv"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/uq"
)

// Kind is a kind of run that the cells of a table make: Fits or Filters.
type Kind struct {
	// Parse reads the config of a cell; each of sets changes a value. The error is a *starling.ConfigError.
	Parse func(file string, text []byte, sets ...string) (Work, error)
	// Costs measure what such a run takes, and how well its sampler did. They stand behind the figures of every table of the kind.
	Costs []Measure
	// Posteriors says that such runs take the posteriors of the runs that their cell needs, and not the networks that those found first.
	Posteriors bool
}

// Work is what a cell runs: the config of a run of some kind.
type Work interface {
	// Kind is the kind of the run's folder.
	Kind() starling.Kind
	// Run makes the run in o.Folder, or continues it. It returns what a reader must know of the result, in plain words.
	Run(ctx context.Context, o starling.Options) (notes []string, err error)
	// Whole is the run as workers elsewhere make it, with its folder here; nil: it is made here alone.
	Whole(dir string) *starling.Whole
	// Open reads the run back from its folder. The error is a *DifferentError if the folder holds a run of another config, else one of
	// those of starling.OpenRun, such as a *starling.NotDoneError.
	Open(ctx context.Context, dir string, o starling.Options) (Done, error)
}

// Done is a run that is done, as measures see it. A measure reads what runs of its kind offer.
type Done interface {
	manifest() *starling.Manifest
	particles() int // J or N; 0: the method has none
}

// DifferentError lists the values in which the config of a run differs from that of a cell.
type DifferentError struct{ Err error }

func (e *DifferentError) Error() string { return e.Err.Error() }
func (e *DifferentError) Unwrap() error { return e.Err }

// Measure is one of the figures by which a table scores a run.
type Measure struct {
	Name        string // in records
	Title, Unit string // of its column
	Short       string // of its column in a terminal; empty: Title
	Legend      string // explains the column; empty: nothing to explain
	Digits      int
	Least, Most float64 // what its values can be; NaN can be as well
	Aside       bool    // for Markdown alone: a terminal is too narrow
	Compared    bool    // with the published figure, as a ratio
	Beside      bool    // in records alone: Table.More or Table.Pictures show it. It may be NaN for a way of training that has none
	Slow        bool    // to compute: it is kept beside the run's folder

	// Of measures a run. nil: the run has no such figure; errLacks: then it is not the run of a cell.
	Of func(Done) (Values, error)
	// Join joins the values of several runs, of which one at least has some. nil: their mean ± standard deviation.
	Join func(runs []Values) Figure
	// Form writes a figure, ours or a published one. nil: with Digits decimals, and as it was printed.
	Form func(Figure) string
}

// head is the heading of the measure's column.
func (m *Measure) head() string { return m.titled(m.Title) }

func (m *Measure) titled(title string) string {
	if m.Unit == "" {
		return title
	}
	return title + ", " + m.Unit
}

// write writes a figure of ours; nil: there is none.
func (m *Measure) write(f Figure) string {
	switch {
	case f == nil:
		return none
	case m.Form != nil:
		return m.Form(f)
	}
	return f.text(m.Digits)
}

// grouped is a Done that has groups, of each of which a measure is taken.
type grouped interface{ groups() []Done }

// of is what the measure says of a run: of one in groups the mean over them.
func (m *Measure) of(d Done) (mean Values, err error) {
	several, ok := d.(grouped)
	if !ok {
		return m.Of(d)
	}
	groups := several.groups()
	for _, g := range groups {
		values, err := m.Of(g)
		if err != nil || len(values) == 0 {
			return nil, err
		}
		if mean == nil {
			mean = make(Values, len(values))
		}
		for k := range mean {
			mean[k] += values[k] / uq.Number(len(groups))
		}
	}
	return mean, nil
}

// none stands where there is no figure.
const none = "–"

// errLacks is the error of a measure without which a run is not the run of a cell.
var errLacks = errors.New("the run has no such figure")

// one is a measure that is one number, of the kind of run D.
func one[D Done](f func(D) (float64, error)) func(Done) (Values, error) {
	return func(d Done) (Values, error) {
		own, ok := d.(D)
		if !ok {
			return nil, errLacks
		}
		v, err := f(own)
		return Values{uq.Number(v)}, err
	}
}

// several is a measure that is a number for each scan, or none at all. Records hold many of them, with five digits.
func several[D Done](f func(D) ([]float64, error)) func(Done) (Values, error) {
	return func(d Done) (values Values, err error) {
		own, ok := d.(D)
		if !ok {
			return nil, errLacks
		}
		all, err := f(own)
		for _, v := range all {
			if v, err = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 5, 64), 64); err != nil {
				return nil, err
			}
			values = append(values, uq.Number(v))
		}
		return values, err
	}
}

// seconds is the name of what sampled measures.
const seconds = "sampling_seconds"

// sampled measures the time that the sampling of a run took, and writes it with so many decimals.
func sampled(digits int, legend string) Measure {
	return Measure{
		Name: seconds, Title: "seconds", Legend: legend, Most: math.Inf(1), Form: func(f Figure) string { return f.text(digits) },
		Of: one(func(d Done) (float64, error) { return d.manifest().WorkSeconds, nil }),
	}
}

// aside is a measure for which a terminal has no room.
func aside(m Measure) Measure {
	m.Aside = true
	return m
}

// explained is a measure with a legend.
func explained(m Measure, legend string) Measure {
	m.Legend = legend
	return m
}
