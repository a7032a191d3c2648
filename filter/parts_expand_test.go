package filter

import (
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/ssm"
)

// TestPartsHaveASeries: the series of whole measurements and parts together is that of the model with all of them: its gradient and Hessian are
// finite differences of the log-likelihood, which the residuals make up, in any order of rows, and the bound holds for both.
func TestPartsHaveASeries(t *testing.T) {
	scan := &ssm.Scan{Time: 1, Width: 3, Values: []float64{1, 0.2, -0.7, 2.2, 1.5, 0.3},
		Parts: []ssm.Part{{Columns: []int{1}, Values: []float64{0.4, -2, 3}}, {Columns: []int{0, 2}, Values: []float64{1, 1, 0.5, -1}}}}
	like, err := bind(three(), scan, nil)
	if err != nil {
		t.Fatal(err)
	}
	series, ok := seriesOf(like, 2)
	if !ok {
		t.Fatal("no series")
	}
	if n := series.(ssm.Informed).Informed(); !slices.Equal(n, []int{0, 1}) {
		t.Errorf("depends on %v", n)
	}
	at := []float64{0.4, -0.3}
	e, ok := series.Expand(at, 2)
	if !ok || !golden.Near(e.Value, like.LogLik(at, nil), 1e-12, 1e-12) || e.Bounded != 7 || series.Len() != 7 {
		t.Errorf("ok %v, value %v, %d of %d rows with a bound", ok, e.Value, e.Bounded, series.Len())
	}
	const h = 1e-3
	for i := range 2 {
		up, down := slices.Clone(at), slices.Clone(at)
		up[i], down[i] = at[i]+h, at[i]-h
		u, _ := series.Expand(up, 1)
		d, _ := series.Expand(down, 1)
		rows := []int32{0, 1, 2, 3, 4, 5, 6}
		if slope := (like.LogLik(up, rows) - like.LogLik(down, rows)) / (2 * h); !golden.Near(e.Gradient[i], slope, 1e-6, 1e-6) {
			t.Errorf("gradient %d is %v, want %v", i, e.Gradient[i], slope)
		}
		for j := range 2 {
			if bend := (u.Gradient[j] - d.Gradient[j]) / (2 * h); !golden.Near(e.Hessian[2*i+j], bend, 1e-6, 1e-6) {
				t.Errorf("second derivative %d, %d is %v, want %v", i, j, e.Hessian[2*i+j], bend)
			}
		}
	}
	e, _ = series.Expand(at, 1)
	x := []float64{1.1, 0.5}
	rows, left := []int32{6, 0, 3, 1, 5, 2, 4}, make([]float64, 7)
	series.Residuals(at, x, rows, left)
	r2 := (x[0]-at[0])*(x[0]-at[0]) + (x[1]-at[1])*(x[1]-at[1])
	one := make([]float64, 1)
	for j, row := range rows {
		if series.Residuals(at, x, []int32{row}, one); one[0] != left[j] {
			t.Errorf("row %d: %v alone and %v among others", row, one[0], left[j])
		}
		step := like.LogLik(x, []int32{row}) - like.LogLik(at, []int32{row})
		for i := range 2 {
			up, down := slices.Clone(at), slices.Clone(at)
			up[i], down[i] = at[i]+h, at[i]-h
			step -= (like.LogLik(up, []int32{row}) - like.LogLik(down, []int32{row})) / (2 * h) * (x[i] - at[i])
		}
		if !golden.Near(left[j], step, 1e-6, 1e-6) {
			t.Errorf("row %d leaves %v, want %v", row, left[j], step)
		}
		if most := series.Curvature(1, math.Sqrt(r2)) * r2 / 2; !(math.Abs(left[j]) <= most) {
			t.Errorf("row %d leaves %v, bound %v", row, left[j], most)
		}
	}
	for _, other := range []struct {
		like ssm.Likelihood
		want bool
	}{{&whole{Likelihood: noSeries{}}, false}, {&together{noSeries{}, like.(*whole).Likelihood.(*together).parts}, false}} {
		if _, ok := seriesOf(other.like, 2); ok != other.want {
			t.Errorf("%T: a series: %v", other.like, ok)
		}
	}
}

// noSeries is a likelihood without one.
type noSeries struct{}

func (noSeries) Len() int                              { return 0 }
func (noSeries) LogLik(_ []float64, _ []int32) float64 { return 0 }
