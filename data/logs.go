package data

import (
	"fmt"
	"slices"

	"github.com/starling-smc/starling/internal/rng"
)

// targetLog is the setting by which a network learns the logarithms of targets.
const targetLog = "log"

// checkPositive refuses a target that has no logarithm. where says where it stands.
func checkPositive(where string, v float64) error {
	if v > 0 {
		return nil
	}
	also := ""
	if v == 0 {
		also = ". Where zeros are real, two configs can learn whether it is 0, as a class, and the rows above 0"
	}
	return fmt.Errorf("%s: %v has no logarithm, and data.target: log takes that of every target: correct the value, remove the row, or leave data.target out%s",
		where, v, also)
}

// positive refuses rows of a table whose target has no logarithm.
func positive(t *Table, rows []int32, target int) error {
	for _, i := range rows {
		if err := checkPositive(fmt.Sprintf("%s: line %d, %s", t.Name, t.Line(int(i)), t.Title(target)), t.Values[int(i)*t.Cols+target]); err != nil {
			return err
		}
	}
	return nil
}

// positiveArray refuses an array of k targets of an example where one of them has no logarithm.
func positiveArray(a *Array, k int) error {
	y := make([]float64, k)
	for i := range a.Shape[0] {
		a.Row(i, y)
		for j, v := range y {
			if err := checkPositive(fmt.Sprintf("%s: example %d, target %d", a.Name, a.First+i, j), v); err != nil {
				return err
			}
		}
	}
	return nil
}

// takeLogs says that logarithms of targets are learnt as they are.
func (s *Schema) takeLogs() {
	s.Targets = &Standard{Mean: make([]float64, s.Outputs), SD: slices.Repeat([]float64{1}, s.Outputs), To: 1, Log: true}
}

// logsOf replaces the numbers of rows by their logarithms.
func logsOf(row func(i int, dst []float64)) func(i int, dst []float64) {
	return func(i int, dst []float64) {
		row(i, dst)
		for k, v := range dst {
			dst[k] = rng.Log(v)
		}
	}
}
