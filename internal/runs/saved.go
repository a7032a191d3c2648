package runs

import (
	"fmt"
	"path/filepath"

	"github.com/starling-smc/starling/internal/regular"
)

// savedState reads a checkpoint of a run's folder, and finds the beginning of the trace's file that it was written after.
func savedState(dir, name string) (c *checkpoint, trace *beginning, err error) {
	b, err := regular.Read(filepath.Join(dir, name), limit(name))
	if err != nil {
		return nil, nil, err
	}
	if c, err = readCheckpoint(b); err != nil {
		return nil, nil, err
	}
	trace, err = c.upTo(filepath.Join(dir, traceFile))
	return c, trace, err
}

// resumable says how a run whose manifest or result is damaged can be had again; empty if it has no good checkpoint.
func resumable(dir string) string {
	for _, name := range []string{checkpointFile, previousFile} {
		if c, _, err := savedState(dir, name); err == nil {
			return fmt.Sprintf("move %s away and resume the run with starling %s: it goes on from its checkpoint, to the same result",
				filepath.Join(dir, manifestFile), versionText(c.release, c.revision))
		}
	}
	return ""
}
