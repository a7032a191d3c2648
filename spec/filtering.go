package spec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/starling-smc/starling/filter"
	"github.com/starling-smc/starling/filtering"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/scans"
	"github.com/starling-smc/starling/smc"
	"github.com/starling-smc/starling/ssm"
)

// Filtering is everything that a run of a filter depends on, except the scans themselves. Like Spec, it is a config with the same
// names and nesting.
type Filtering struct {
	Name   string         `yaml:"name"`            // of the run; default: filter
	Seed   uint64         `yaml:"seed,zero"`       // of all randomness; default 0
	Model  ssm.Model      `yaml:"model"`           // how the state moves, and what it shows
	Scans  scans.Settings `yaml:"scans,omitempty"` // where the measurements come from
	Method filter.Method  `yaml:"method"`          // the filter
	// Against is a method that filters the same scans, to compare. Without it (nil), none does.
	Against filter.Method `yaml:"against,omitempty"`

	Keep Keep `yaml:"keep,omitempty"` // what is kept of every scan beside its line; empty: nothing

	// Last keeps only the lines of the last scans, so that an endless stream does not fill the disk: a time before the last scan (90s, 15m,
	// 1h, 7d) or a size (500MB, 2GB). Scores and page are of these scans. Without it the lines of all scans are kept.
	Last filtering.Last `yaml:"last,omitempty"`

	source *config.Source
}

// Keep says what a run keeps of every scan.
type Keep string

// Samples keeps the particles of every scan.
const Samples Keep = "samples"

// Check implements config.Checker.
func (k Keep) Check(f *config.Faults) {
	if k != "" {
		f.OneOf("", string(k), string(Samples))
	}
}

// FilterFamilies lists the tables of all parts that a Filtering may name.
var FilterFamilies = append([]config.Family{ssm.Models, smc.Schemes, smc.Occasions}, filter.Families...)

// ParseFiltering reads a config of a filter, as Parse reads one of a network.
func ParseFiltering(file string, text []byte, sets ...string) (Filtering, error) {
	s, source, err := config.Parse[Filtering](file, text, sets, FilterFamilies...)
	s.source = source
	return s, err
}

// FilterKeys lists the dotted keys of a config of a filter, as --set takes them.
func FilterKeys() []string { return config.Keys[Filtering](FilterFamilies...) }

// FilterPlaces lists the families of parts that a config of a filter can name, by their keys.
func FilterPlaces() []config.Place { return config.Places[Filtering](FilterFamilies...) }

// IsFiltering reports whether a text is a config of a filter, by the name of its model.
func IsFiltering(text []byte) bool {
	return slices.ContainsFunc(config.Under(text, "model"), func(name string) bool { return slices.Contains(ssm.Models.Names(), name) })
}

// IsSpec reports whether a text is a config of a network, by the keys of its model.
func IsSpec(text []byte) bool {
	return slices.ContainsFunc(config.Under(text, "model"), func(name string) bool {
		at := "model." + name
		return slices.ContainsFunc(Keys(), func(key string) bool { return key == at || strings.HasPrefix(key, at+".") })
	})
}

// YAML writes a config that ParseFiltering reads back to the same Filtering.
func (s Filtering) YAML() []byte { return config.Encode(s, FilterFamilies...) }

// Defaults implements config.Defaulter.
func (s *Filtering) Defaults() {
	if s.Name == "" {
		s.Name = "filter"
	}
	if s.Method == nil {
		s.Method = filter.SMCMC{}
	}
	if s.Model == nil {
		return
	}
	model := s.Model
	config.Complete(&model, FilterFamilies...)
	for _, m := range []*filter.Method{&s.Method, &s.Against} {
		if settling, ok := (*m).(filter.Settling); ok {
			*m = settling.SettleFor(model)
		}
	}
}

// Check implements config.Checker.
func (s Filtering) Check(f *config.Faults) {
	checkName(f, s.Name)
	f.If(s.Model == nil, "model", "want one of %s", strings.Join(ssm.Models.Names(), ", "))
	for _, m := range []struct {
		at     string
		method filter.Method
	}{{"method", s.Method}, {"against", s.Against}} {
		if s.Model == nil || m.method == nil {
			continue
		}
		if err := m.method.Suits(s.Model); err != nil {
			f.Conflict([]string{m.at, "model"}, "%v", err)
		}
	}
	f.If(s.Scans.Hold > 0 && s.Method != nil && !s.Method.Samples(), "scans.hold", "measurements are predicted by samples, and the method has none: "+
		"take smcmc, bootstrap or auxiliary, or leave hold out")
	if s.Keep != "" && s.Last != "" {
		f.Conflict([]string{"last", "keep"}, "keeps the lines of the last scans alone, and keep: %s the particles of all scans, in memory: leave one of the two out", s.Keep)
	}
	if s.Keep == Samples && s.Method != nil && !s.Method.Samples() {
		f.Conflict([]string{"keep", "method"}, "%s has no samples to keep", s.Method.Title())
	}
}

// Fault returns a *config.Error of one fault, of one field.
func (s *Filtering) Fault(path, format string, args ...any) error {
	return s.source.Error(config.Fault{Path: path, Message: fmt.Sprintf(format, args...)})
}

// Nodes is the number of nodes of the filter, which several processes can have. A filter without nodes is an error.
func (s *Filtering) Nodes() (int, error) {
	if !s.Method.Sampler().Nodes {
		return 0, s.Fault("method", "workers take nodes of a filter, and this method has none: want ep with nodes: 2 or more, or filter without workers")
	}
	return s.Method.Filters(), nil
}

// Complete fills in the defaults of a Filtering that a Go program built.
func (s *Filtering) Complete() { config.Complete(s, FilterFamilies...) }

// Verify checks a Filtering as ParseFiltering does.
func (s Filtering) Verify() error { return config.Check(s, FilterFamilies...) }
