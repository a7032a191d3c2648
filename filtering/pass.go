// Package filtering takes the scans of a source through a filter, scan by scan: it makes the line of each scan, keeps the run
// resumable, and scores it at the end. It moves no files: internal/runs keeps the state, and the caller writes the lines.
package filtering

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/starling-smc/starling/filter"
	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/scans"
	"github.com/starling-smc/starling/ssm"
)

// Pass is one pass of a filter over a source of scans. It is the one part of an open phase of internal/runs: a step is a scan.
type Pass struct {
	Model    ssm.Model
	Method   filter.Method
	Against  filter.Method // another method that filters the same scans, to compare; nil: none
	Job      filter.Job
	Open     func(origin string) (scans.Source, error) // opens the source; origin is the date that is 0 seconds, empty: the first scan's
	Replayed bool                                      // the source begins wherever its sender replays, and not at the first scan
	Skip     bool                                      // leave out scans that cannot be used, and count them
	Hold     float64                                   // share of each scan's measurements that the filter does not see
	Keep     bool                                      // keep the particles of every scan
	Now      func() time.Time                          // for the lag; nil: no lag
	Emit     func(l *Line) error                       // called with each line as it is ready; nil: nobody
	Fold     func(s *Step)                             // called with what each scan leaves in the trace; nil: nobody
	Notice   func(text string)                         // called with messages for the user; nil: nobody
	Group    *Group                                    // the processes that have the nodes of Method, a filter.EP; nil: all are in this one

	state, other filter.State
	source       *reading
	running      [sha256.Size]byte // of all scans that could be read so far
	alone        [sha256.Size]byte // of the last scan that was read
	parted       bool              // it was said what becomes of measurements that lack some of their numbers
	filter       filter.Filter
	rival        filter.Filter
	seen         filter.Job // of the measurements that the filter sees
	saved
}

// saved is what a pass saves beside the states.
type saved struct {
	leftOut int               // scans that were left out before the last one filtered, or before the end
	last    string            // time of the last scan filtered, as the source writes it
	sum     [sha256.Size]byte // of all scans that could be read, up to the last one filtered
	lastSum [sha256.Size]byte // of the last scan filtered alone
	origin  string
	done    bool
	all     running   // of the measurements so far
	cells   []int     // counts of returns in the cells of the model's region
	kept    []float64 // particles of every scan
	weight  []float64 // and their log-weights, where they differ
}

// Begin makes the filters and the states before the first scan. It is called before the pass is given to a run.
func (p *Pass) Begin(ctx context.Context) (err error) {
	job := p.Job
	if m, ok := p.Model.(ssm.Poisson); ok && p.Hold > 0 { // the filter sees a share of the measurements
		job.Model = m.Thinned(1 - p.Hold)
	}
	p.seen = job
	alone := job
	if p.Group != nil {
		job.Hosted = p.Group.hosted()
	}
	if p.filter, err = p.Method.On(job); err != nil {
		return err
	}
	if job = alone; p.Group != nil {
		p.filter = &leader{Filter: p.filter, group: p.Group}
	}
	st, err := p.filter.Init(ctx)
	if err != nil {
		return err
	}
	p.state = *st
	if p.Against != nil {
		job.Node += p.Method.Numbers() // with draws of its own
		if p.rival, err = p.Against.On(job); err != nil {
			return err
		}
		if st, err = p.rival.Init(ctx); err != nil {
			return err
		}
		p.other = *st
	}
	return nil
}

// State is the filter's state after the last scan.
func (p *Pass) State() *filter.State { return &p.state }

// LeftOut is the number of scans that were left out.
func (p *Pass) LeftOut() int { return p.leftOut }

// K implements runs.Part.
func (p *Pass) K() int { return p.state.K }

// Done implements runs.Part.
func (p *Pass) Done() bool { return p.done }

// Step implements runs.Part: it filters the next scan. io.EOF says that there is none.
func (p *Pass) Step(ctx context.Context) (runs.Line, error) {
	if p.source == nil {
		if err := p.open(ctx); err != nil {
			return runs.Line{}, err
		}
	}
	for leftOut := p.leftOut; ; leftOut++ {
		rec, err := p.next(ctx)
		if err == io.EOF {
			p.done, p.leftOut = true, leftOut
			return runs.Line{}, io.EOF
		}
		if err == nil {
			var line runs.Line
			line, err = p.take(ctx, rec)
			if err == nil {
				p.leftOut = leftOut
				return line, nil
			}
		}
		if !p.Skip || !scanFault(err) {
			return runs.Line{}, err
		}
		p.notice("a scan is left out: " + err.Error())
	}
}

func (p *Pass) notice(text string) {
	if p.Notice != nil {
		p.Notice(text)
	}
}

// take filters a scan.
func (p *Pass) take(ctx context.Context, rec *scans.Record) (runs.Line, error) {
	began := p.now()
	if err := p.checkTruth(rec); err != nil {
		return runs.Line{}, err
	}
	if p.Hold > 0 {
		rec.Hold(p.Hold, p.Job.Seed, p.state.K)
	}
	next, was := p.state, p.other
	info, err := p.filter.Step(ctx, &next, &rec.Scan)
	if err != nil {
		return runs.Line{}, p.byColumns(placed(rec, err))
	}
	s := Step{Line: newLine(p.Model, &next, rec, info, p.Method.Evidence()), Seconds: Number(rec.Time)}
	if exact := info.Surprise; exact != nil {
		s.Surprise = known(*exact)
	} else {
		s.Surprise = known(filter.Surprise(p.seen, &p.state, &rec.Scan))
	}
	if p.rival != nil {
		info, err := p.rival.Step(ctx, &was, &rec.Scan)
		if err != nil {
			return runs.Line{}, placed(rec, fmt.Errorf("against: %w", err))
		}
		s.Against = compare(&next, &was, info)
	}
	if p.Hold > 0 {
		if s.Held, err = p.score(&next, rec); err != nil {
			return runs.Line{}, placed(rec, err)
		}
	}
	for _, t := range rec.Truth {
		if s.Truth == nil {
			s.Truth = map[string][]Number{}
		}
		s.Truth[t.ID] = numbers(t.State)
	}
	if rec.Width == 1 && rec.Len() > 0 {
		s.Quantiles = quantiles(rec.Values)
	}
	s.Lag = Number(p.now().Sub(began).Seconds())
	if p.Emit != nil {
		if err := p.Emit(&s.Line); err != nil {
			return runs.Line{}, err
		}
	}
	p.all.add(rec)
	p.count(rec)
	p.sum, p.lastSum, p.last = p.running, p.alone, rec.Text
	p.state, p.other = next, was
	if p.Keep {
		p.kept = append(p.kept, next.X...)
		p.weight = append(p.weight, next.LogW...)
	}
	if p.Fold != nil {
		p.Fold(&s)
	}
	return runs.Line{Fields: s}, nil
}

// checkTruth wants true states that can be compared with the model's: of all coordinates, or of the positions of a target.
func (p *Pass) checkTruth(rec *scans.Record) error {
	j := newJudge(p.Model)
	for _, t := range rec.Truth {
		if n := len(t.State); n != j.dim && n != j.positions {
			want := fmt.Sprint(j.dim)
			if j.positions != j.dim {
				want = fmt.Sprint(j.positions, " or ", j.dim)
			}
			return &scans.BadError{Line: rec.Line, Err: fmt.Errorf("the true state of %q has the length %d, want %s", t.ID, n, want)}
		}
	}
	return nil
}

// placed adds to an error where the scan is.
func placed(rec *scans.Record, err error) error {
	if rec.Line > 0 {
		return fmt.Errorf("line %d, the scan at %s: %w", rec.Line, rec.Text, err)
	}
	return fmt.Errorf("the scan at %s: %w", rec.Text, err)
}

// byColumns adds to an error about a measurement of the first scan which columns a measurement is: they may not be those that were meant.
func (p *Pass) byColumns(err error) error {
	r, ok := p.source.source.(*scans.Reader)
	if !ok || p.state.K > 0 || !errors.As(err, new(*ssm.MeasurementError)) || len(r.Measurement()) == 0 {
		return err
	}
	names := r.Measurement()
	shown := strings.Join(names[:min(len(names), 10)], ", ")
	if len(names) > 10 {
		shown += ", …"
	}
	return fmt.Errorf("%w; a measurement is read from the columns %s: choose others with scans.columns, as in [x, y]", err, shown)
}

func (p *Pass) now() time.Time {
	if p.Now == nil {
		return time.Time{}
	}
	return p.Now()
}

// open opens the source, and passes over the scans that were filtered before the pass was stopped.
func (p *Pass) open(ctx context.Context) (err error) {
	origin := p.origin
	if p.state.K > 0 && origin == "" { // seconds, counted from 0 whatever their size
		origin = "0"
	}
	source, err := p.Open(origin)
	if err != nil {
		return err
	}
	p.source = ahead(ctx, source)
	if p.state.K == 0 {
		return nil
	}
	skipped := 0
	for {
		rec, err := p.next(ctx)
		switch {
		case errors.As(err, new(*scans.BadError)) && p.Skip: // it was counted before
			continue
		case err == io.EOF:
			return resumption("the scans end before %s, the time of the last scan that was filtered: give the run the same scans again", p.last)
		case err != nil:
			return err
		case rec.Time > p.state.Time && p.Replayed:
			return resumption("there is a gap: no scan before the one at %s has the time %s, that of the last scan that was filtered; "+
				"replay the scans from that time, or from any time before it", rec.Text, p.last)
		}
		skipped++
		if rec.Time >= p.state.Time {
			break
		}
	}
	if !p.Replayed && p.running != p.sum {
		return resumption("the scans up to %s, the time of the last scan that was filtered, are not those that the run has filtered: "+
			"give it the same scans, or begin anew in another folder", p.last)
	}
	if p.Replayed && p.alone != p.lastSum {
		return resumption("the scan at %s is not the one that the run has filtered: replay the same scans, or begin anew in another folder", p.last)
	}
	p.running = p.sum
	p.notice(numeral.Several(skipped, "scan") + " up to " + p.last + " passed over: the run has filtered them before")
	return nil
}

// next is the source's next scan, unless the context ends first.
func (p *Pass) next(ctx context.Context) (*scans.Record, error) {
	rec, err := p.source.next(ctx, p.notice)
	if err != nil {
		return nil, err
	}
	p.part(rec)
	p.alone = rec.Sum([sha256.Size]byte{})
	p.running = sha256.Sum256(slices.Concat(p.running[:], p.alone[:]))
	if r, ok := p.source.source.(*scans.Reader); ok {
		p.origin = r.Origin()
	}
	return rec, nil
}

// part says, once, what becomes of measurements that lack some of their numbers: a linear model takes what is there, others take whole
// measurements alone.
func (p *Pass) part(rec *scans.Record) {
	if rec.Partial() == 0 {
		return
	}
	_, linear := p.Model.(ssm.Linear)
	if !linear {
		rec.LeaveOutParts()
	}
	switch {
	case p.parted:
	case linear:
		p.notice("the scan at " + rec.Text + " has measurements that lack some of their numbers: the model takes the numbers that are there")
	default:
		p.notice("the scan at " + rec.Text + " has measurements that lack some of their numbers: they are left out and counted, since this model takes whole ones alone")
	}
	p.parted = true
}

// TruthElsewhere is a finding if there is a file of true states of which none belongs to a scan. It is known at the end of the source.
func (p *Pass) TruthElsewhere() []finding.Finding {
	if p.source == nil || p.state.K == 0 {
		return nil
	}
	if r, ok := p.source.source.(*scans.Reader); ok {
		if first, elsewhere := r.TruthElsewhere(); elsewhere {
			return []finding.Finding{finding.Of(finding.TruthElsewhere{First: first, Scan: p.last})}
		}
	}
	return nil
}

const passKind = "filtering.Pass/1"

// WriteTo implements runs.Part.
func (p *Pass) WriteTo(w io.Writer) (int64, error) {
	e := ckpt.NewEncoder(passKind)
	done := 0
	if p.done {
		done = 1
	}
	e.Ints("counts", p.leftOut, done, p.all.n)
	e.Bytes("last", []byte(p.last))
	e.Bytes("sum", p.sum[:])
	e.Bytes("last sum", p.lastSum[:])
	e.Bytes("origin", []byte(p.origin))
	e.Float64s("mean", p.all.mean)
	e.Float64s("m2", p.all.m2)
	cells := make([]int32, len(p.cells))
	for i, n := range p.cells {
		cells[i] = int32(n)
	}
	e.Int32s("cells", cells)
	e.Float64s("kept", p.kept)
	e.Float64s("weights", p.weight)
	var st, other bytes.Buffer
	if _, err := p.state.WriteTo(&st); err != nil {
		return 0, err
	}
	if p.Against != nil {
		if _, err := p.other.WriteTo(&other); err != nil {
			return 0, err
		}
	}
	e.Bytes("state", st.Bytes())
	e.Bytes("against", other.Bytes())
	return e.WriteTo(w)
}

// UnmarshalBinary implements runs.Part.
func (p *Pass) UnmarshalBinary(b []byte) error {
	d, err := ckpt.NewDecoder(b, passKind)
	if err != nil {
		return err
	}
	var s saved
	var done int
	d.Ints("counts", &s.leftOut, &done, &s.all.n)
	s.done, s.last = done != 0, string(d.Bytes("last"))
	for name, to := range map[string]*[sha256.Size]byte{"sum": &s.sum, "last sum": &s.lastSum} {
		if sum := d.Bytes(name); len(sum) == len(to) {
			copy(to[:], sum)
		} else {
			d.Fail("a checksum of %d bytes", len(sum))
		}
	}
	s.origin = string(d.Bytes("origin"))
	s.all.mean, s.all.m2 = d.Float64s("mean"), d.Float64s("m2")
	for _, n := range d.Int32s("cells") {
		s.cells = append(s.cells, int(n))
	}
	s.kept, s.weight = d.Float64s("kept"), d.Float64s("weights")
	st, other := d.Bytes("state"), d.Bytes("against")
	if err := d.Err(); err != nil {
		return err
	}
	var a, o filter.State
	if err := a.UnmarshalBinary(st); err != nil {
		return err
	}
	if p.Against != nil {
		if err := o.UnmarshalBinary(other); err != nil {
			return fmt.Errorf("against: %w", err)
		}
	}
	if a.Dim != p.Model.Dim() || p.Against != nil && o.Dim != a.Dim {
		return fmt.Errorf("states of %d and %d numbers, the model has %d", a.Dim, o.Dim, p.Model.Dim())
	}
	p.state, p.other, p.saved = a, o, s
	return nil
}
