package tables

import (
	"slices"
	"strings"
	"testing"
)

// A column that is left out takes its values along.
func TestWithout(t *testing.T) {
	table, err := decode("t.csv", []byte("a,b,c\n1,2,3\n4,5,6\n"), CSV{})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]float64{"a": {2, 3, 5, 6}, "b": {1, 3, 4, 6}, "c": {1, 2, 4, 5}} {
		less, err := table.Without([]string{name})
		if err != nil || less.Cols != 2 || slices.Contains(less.Header, name) || !slices.Equal(less.Values, want) {
			t.Errorf("without %s: %+v, %v", name, less, err)
		}
	}
	if _, err := table.Without([]string{"d"}); err == nil || !strings.Contains(err.Error(), "t.csv") {
		t.Error(err)
	}
}
