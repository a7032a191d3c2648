package data

import (
	"strconv"
	"strings"

	"github.com/starling-smc/starling/internal/cells"
)

// forMissing are texts that other programs write for a missing value, in lower case.
var forMissing = []string{"na", "n/a", "#n/a", "null", "none", "?", "-"}

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

// maxNames bounds the different names in a target column, each of which takes many times its size in the text.
const maxNames = 1 << 16
