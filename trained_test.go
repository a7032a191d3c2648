package starling

import (
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/method"
)

// TestTestTrains: test examples that train are counted where they come from a file, or a slice, of their own; not where chance makes rows
// equal, where the set has test examples of its own, or where nothing is learnt.
func TestTestTrains(t *testing.T) {
	set := func(rows int, value func(i int) float32) *data.Set {
		s := &data.Set{Shape: []int{1}, Classes: 2}
		for i := range rows {
			s.F32, s.Labels = append(s.F32, value(i)), append(s.Labels, int32(i%2))
		}
		return s
	}
	// Of 60 test examples a number equal training examples, none of which are repeated, or of which some are.
	part := func(n int) *data.Set {
		return set(60, func(i int) float32 {
			if i < n {
				return float32(i)
			}
			return float32(1000 + i)
		})
	}
	train := set(100, func(i int) float32 { return float32(i) })
	few := set(100, func(i int) float32 { return float32(i % 3) })
	fifth := set(100, func(i int) float32 { return float32(i - i%10/9*2) }) // a fifth of them equals another one
	csv := data.Settings{CSV: &data.CSV{File: "a.csv", Test: "b.csv"}}
	for name, c := range map[string]struct {
		data        data.Settings
		test, train *data.Set
		want        int
	}{
		"all":                {csv, part(60), train, 60},
		"a part":             {csv, part(20), train, 20},
		"none":               {csv, part(0), train, 0},
		"one":                {csv, part(1), train, 0}, // 1 of 60 may be chance where 0 of 100 are repeated
		"few values":         {csv, set(60, func(i int) float32 { return float32(i % 3) }), few, 0},
		"as many as chance":  {csv, part(20), fifth, 0},
		"more than chance":   {csv, part(60), fifth, 54},
		"arrays":             {data.Settings{Train: &data.Arrays{}, Test: &data.Arrays{}}, part(60), train, 60},
		"memory":             {data.Settings{Memory: &data.Memory{Test: &data.Slices{}}}, part(60), train, 60},
		"divided off":        {data.Settings{CSV: &data.CSV{File: "a.csv"}}, part(60), train, 0},
		"memory, divided":    {data.Settings{Memory: &data.Memory{}}, part(60), train, 0},
		"a set with its own": {data.Settings{Set: "mnist"}, part(60), train, 0},
		"no test examples":   {csv, nil, train, 0},
	} {
		spec := Spec{Method: method.MAP{}, Data: c.data}
		if got := testTrains(spec, &data.Problem{Train: c.train, Test: c.test}); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	if got := testTrains(Spec{Method: method.AsIs{}, Data: csv}, &data.Problem{Train: train, Test: part(60)}); got != 0 {
		t.Errorf("a network as it is: %d", got)
	}
}
