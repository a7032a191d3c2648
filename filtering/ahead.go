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
	rec *scans.Record
	err error
}

// ahead reads one scan ahead, until ctx ends.
func ahead(ctx context.Context, source scans.Source) *reading {
	r := &reading{source, make(chan read)}
	go func() {
		defer close(r.out)
		for {
			rec, err := source.Next()
			if err != nil && err != io.EOF && !scanFault(err) {
				err = &SourceError{err}
			}
			select {
			case r.out <- read{rec, err}:
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

// next returns the next scan, unless ctx ends first.
func (r *reading) next(ctx context.Context) (*scans.Record, error) {
	select {
	case got, more := <-r.out:
		if !more {
			return nil, context.Canceled // the first step's context has ended
		}
		return got.rec, got.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
