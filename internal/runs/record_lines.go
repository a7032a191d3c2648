package runs

import (
	"fmt"
	"io"
)

// Lines reads the trace of a run that Streams. That it is as the run wrote it is known when the last line was read: then the error is a
// *DamagedError, as of File.
func (r *Record) Lines() Lines {
	return func(yield func(TraceLine, error) bool) {
		ended := false
		err := r.Open([]string{traceFile}, func(files []*Large) error {
			for l, err := range linesOf(io.NewSectionReader(files[0], 0, files[0].Size())) {
				if err != nil {
					return r.damaged(fmt.Errorf("%s: %w", r.path(traceFile), err))
				}
				if ended = !yield(l, nil); ended {
					return nil
				}
			}
			return nil
		})
		if err != nil && !ended {
			yield(TraceLine{}, err)
		}
	}
}
