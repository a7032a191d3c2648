package filtering

import (
	"context"
	"io"

	"github.com/starling-smc/starling/scans"
)

// reading reads a source beside the work: the next scan is read while one is filtered, and an interrupt does not wait for a
// sender that is silent.
type reading struct {
	source scans.Source
	out    chan read
}

type read struct {
	rec   *scans.Record
	err   error
	notes []string // how the source is read: those that are new
}

// noted is a source that says how it is read; more notes may come with each scan.
type noted interface{ Notes() []string }

// ahead reads one scan ahead, until ctx ends.
func ahead(ctx context.Context, source scans.Source) *reading {
	r := &reading{source, make(chan read)}
	go func() {
		defer close(r.out)
		told := 0
		for {
			rec, err := source.Next()
			got := read{rec: rec}
			if s, ok := source.(noted); ok {
				got.notes = s.Notes()[told:]
				told += len(got.notes)
			}
			if err != nil && err != io.EOF && !scanFault(err) {
				err = &SourceError{err}
			}
			got.err = err
			select {
			case r.out <- got:
			case <-ctx.Done():
				return
			}
			if err != nil && !scanFault(err) {
				return
			}
		}
	}()
	return r
}

// next returns the next scan, unless ctx ends first. tell is called with notes on how the source is read.
func (r *reading) next(ctx context.Context, tell func(note string)) (*scans.Record, error) {
	select {
	case got, more := <-r.out:
		if !more {
			return nil, context.Canceled // the first step's context has ended
		}
		for _, note := range got.notes {
			tell(note)
		}
		return got.rec, got.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
