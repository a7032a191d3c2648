package data

import (
	"slices"

	"github.com/starling-smc/starling/internal/cells"
)

// What a reader asks of the schema of a run (ofRun), beside find, known and unknown.

// named reports whether the columns of the run's table have names.
func (s *Schema) named() bool { return s.Named }

// names reports whether a text names a column of the run's table. A number does not, since it could as well be a value.
func (s *Schema) names(text []byte) bool {
	if _, err := cells.Number(text); err == nil {
		return false
	}
	return s.Named && slices.Contains(s.Columns, string(text))
}

// uses reports whether a run looks at the cells of a column: it is neither left out, unless it was constant, nor unknown to it and, where
// inputs alone are read, not the target.
func (s *Schema) uses(column string, inputs bool) bool {
	if s.Columns == nil || !s.Named {
		return true
	}
	return column == s.Target && !inputs || slices.Contains(s.Columns, column) && s.input(column) || s.dropped(column)
}

// dropped reports whether a run left out a column because it had one value, with which a file's are compared.
func (s *Schema) dropped(column string) bool {
	_, ok := s.Constants[column]
	return ok && s.Named
}

// leave leaves out column j, which is that of a name in the run's table.
func (r *roles) leave(j int, name string, s *Schema) {
	r.left = append(r.left, j)
	if value, ok := s.Constants[name]; ok {
		if r.constants == nil {
			r.constants = map[int]*oneValue{}
		}
		r.constants[j] = newOneValue(value)
	}
}
