package runs

import (
	"fmt"
	"math"
	"path/filepath"
)

// Files that every run has, whatever its kind.
const (
	configFile     = "config.yaml"
	manifestFile   = "manifest.json"
	traceFile      = "trace.jsonl"
	checkpointFile = "checkpoint"
	previousFile   = "checkpoint.previous"
	lockFile       = ".lock"
)

// readable returns an error for a file of a run that would be too large to be read again.
func readable(name string, bytes int64) error {
	if most := limit(name); bytes > most {
		return fmt.Errorf("%d bytes, of which at most %d would be read again", bytes, most)
	}
	return nil
}

// limit is the number of bytes above which a file in a run's folder is not read into memory, by the kind of the file. A run
// that has many particles and steps may have posterior, checkpoint and trace of any size.
func limit(name string) int64 {
	switch ext := filepath.Ext(name); {
	case name == manifestFile:
		return 4 << 20
	case ext == ".yaml":
		return 16 << 20
	case ext == ".json":
		return 64 << 20 // the schema has two numbers for each input
	}
	return math.MaxInt64
}
