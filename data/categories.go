package data

import "github.com/starling-smc/starling/internal/cells"

// unlike lists the columns of words, of which nearly all are different: the categories are more than half as many as the rows that train.
// They are hardly ever seen twice, and say little of other rows. Columns of numbers with a unit are not among them.
func (s *Schema) unlike(rows int) (columns []string) {
	for i := range s.Expand {
		if e := &s.Expand[i]; 2*len(e.Categories) > rows && len(e.Categories) > 2 && !e.units() {
			columns = append(columns, e.Column)
		}
	}
	return columns
}

// withUnits lists the columns of words that are numbers with a sign or a unit, such as $123, 12 kg or 1.2%, and not declared to be categories.
func (s *Schema) withUnits() (columns []string) {
	for i := range s.Expand {
		if !s.Expand[i].Codes && s.Expand[i].units() {
			columns = append(columns, s.Expand[i].Column)
		}
	}
	return columns
}

// units reports whether most categories, and at least three, are numbers with the same texts before and after them.
func (e *Expansion) units() bool {
	of, most := map[[2]string]int{}, 0
	for _, c := range e.Categories {
		if before, after, ok := cells.Around([]byte(c)); ok {
			of[[2]string{before, after}]++
			most = max(most, of[[2]string{before, after}])
		}
	}
	return most >= 3 && 2*most > len(e.Categories)
}
