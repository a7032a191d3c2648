package data

import (
	"strconv"
	"strings"

	"github.com/starling-smc/starling/internal/cells"
)

// named reports whether the first record of a table names its columns.
func (o CSV) named(first []cells.Cell) bool {
	if o.Header != nil {
		return *o.Header
	}
	return looksLikeHeader(first)
}

func looksLikeHeader(rec []cells.Cell) bool {
	words := false
	for _, c := range rec {
		if len(c.Text) == 0 {
			continue
		}
		if _, err := cells.Number(c.Text); err == nil {
			return false
		}
		words = true
	}
	return words
}

// quoteSome lists the first few names.
func quoteSome(names []string) string {
	const few = 20
	q := make([]string, min(len(names), few))
	for i := range q {
		q[i] = strconv.Quote(cells.Clip(names[i]))
	}
	if len(names) > few {
		q = append(q, "…")
	}
	return strings.Join(q, ", ")
}
