package scans

import (
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/rng"
)

// Settings say where the scans of a run come from: Simulate, File or Set, or none of them where the caller brings a source of its
// own.
type Settings struct {
	Simulate int      `yaml:"simulate,omitempty"`  // number of scans that the model draws
	File     string   `yaml:"file,omitempty"`      // JSON lines or CSV
	Set      string   `yaml:"set,omitempty"`       // name of a built-in set, as starling data list shows it
	Time     string   `yaml:"time,omitempty"`      // the column of CSV that is the time; default: time, timestamp, t, date, ts or epoch, in any case, or else the first column, which is said
	TimeUnit Unit     `yaml:"time_unit,omitempty"` // of times that are numbers: s, ms, us or ns; default: as the name of their column says, or else by their size: seconds since 1970 are told from milli-, micro- and nanoseconds
	Columns  *Columns `yaml:"columns,omitempty"`   // of CSV: the columns of a measurement, or a block
	Truth    string   `yaml:"truth,omitempty"`     // a CSV file of true states: time, id, then the state
	Bad      Bad      `yaml:"bad,omitempty"`       // what to do with a scan that cannot be used: stop, the default, ends the run there; skip leaves it out and counts it
	Hold     float64  `yaml:"hold,omitempty"`      // share of each scan's measurements that the filter does not see, but predicts
}

// Bad says what happens to a scan that cannot be used.
type Bad string

const (
	Stop Bad = "stop" // the run stops there
	Skip Bad = "skip" // the scan is left out and counted
)

// Check implements config.Checker.
func (b Bad) Check(f *config.Faults) {
	if b != "" {
		f.OneOf("", string(b), string(Stop), string(Skip))
	}
}

// Check wants one source of scans at most, and settings that fit it.
func (s Settings) Check(f *config.Faults) {
	f.Within("simulate", s.Simulate, 0, rng.MaxIterations)
	if s.Set != "" {
		f.OneOf("set", s.Set, setNames()...)
	}
	type field struct {
		name  string
		given bool
	}
	ofFiles := []field{{"file", s.File != ""}, {"time", s.Time != ""}, {"time_unit", s.TimeUnit != ""}, {"columns", s.Columns != nil}, {"truth", s.Truth != ""}}
	conflict := func(a field, others []field, why string) {
		for _, b := range others {
			if a.given && b.given {
				f.Conflict([]string{a.name, b.name}, "%s and %s: %s, so want one of the two", a.name, b.name, why)
			}
		}
	}
	simulate, set := field{"simulate", s.Simulate > 0}, field{"set", s.Set != ""}
	conflict(simulate, append(ofFiles, set), "simulated scans are not read from a file")
	conflict(set, ofFiles, "the scans of a built-in set are not read from a file of yours")
	if c := s.Columns; c != nil && c.Time != "" && s.Time != "" && c.Time != s.Time {
		f.Conflict([]string{"time", "columns.time"}, "time is %q and columns.time is %q: want one of them", s.Time, c.Time)
	}
	if s.Hold != 0 {
		f.Share("hold", s.Hold)
	}
}
