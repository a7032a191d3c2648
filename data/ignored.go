package data

import (
	"fmt"
	"strconv"

	"github.com/starling-smc/starling/internal/numeral"
)

// Ignored are columns of a file that the run's table had not.
type Ignored struct {
	File    string
	Columns []string
}

// String says that they are ignored.
func (i Ignored) String() string {
	const few = 10
	quoted := make([]string, 0, few+1)
	for _, name := range i.Columns[:min(few, len(i.Columns))] {
		quoted = append(quoted, strconv.Quote(name))
	}
	if more := len(i.Columns) - few; more > 0 {
		quoted = append(quoted, fmt.Sprintf("%d more", more))
	}
	what := "column"
	if len(i.Columns) > 1 {
		what = "columns"
	}
	return fmt.Sprintf("%s: the run's table had no %s %s: ignored", i.File, what, numeral.List(quoted))
}
