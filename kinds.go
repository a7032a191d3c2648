package starling

import "github.com/starling-smc/starling/internal/runs"

// kinds are the kinds of folders that this package makes. A folder that names none of them is read as the first.
var kinds = []Kind{FitRuns, FilterRuns, SBCRuns}

// IsRunFile reports whether path is a file in a run's folder. Other output should not be written there.
func IsRunFile(path string) bool { return runs.IsRunFile(path, kinds...) }

// VerifyRun compares every file of a run's folder with its checksum. Of a run that is not done, it checks what the run would
// go on from. Errors are those of OpenRun, but no file's fault is an error.
func VerifyRun(dir string) (*Verification, error) {
	kind := kinds[0]
	if m, err := runs.ReadManifest(dir); err == nil {
		for _, other := range kinds {
			if m.Kind == other.Name {
				kind = other
			}
		}
	}
	return runs.Verify(dir, kind)
}

// IsFilterRun reports whether a folder holds a run of a filter, as its manifest says.
func IsFilterRun(dir string) bool {
	m, err := runs.ReadManifest(dir)
	return err == nil && m.Kind == FilterRuns.Name
}
