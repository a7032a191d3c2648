package starling

import (
	"os"
	"path/filepath"
)

// whence is the way from a run's folder to the folder in which this process works: the names of files in the run's config are relative to
// that. It stays right where both are moved together. It is empty where there is none, as between two drives.
func whence(dir string) string {
	from, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	here, err := os.Getwd()
	if err != nil {
		return ""
	}
	way, err := filepath.Rel(from, here)
	if err != nil {
		return ""
	}
	return filepath.ToSlash(way)
}
