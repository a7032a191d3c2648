package ssm

import (
	"math"
	"strings"

	"github.com/starling-smc/starling/internal/config"
)

// Initial is the law of the state one interval before the first scan: independent normal coordinates.
type Initial struct {
	Mean []float64 `yaml:"mean,required"` // a number for each coordinate
	SD   []float64 `yaml:"sd,required"`   // standard deviations, at least 0
}

// check notes faults of the start of a model with these coordinates.
func (n Initial) check(f *config.Faults, coordinates ...string) {
	checkVector(f, "mean", n.Mean, coordinates)
	checkVector(f, "sd", n.SD, coordinates)
	for i, v := range n.SD {
		f.If(v < 0, "sd", "number %d: want at least 0, have %.12g", i+1, v)
	}
}

// draw sets x to a draw.
func (n Initial) draw(stream *Stream, x []float64) {
	for i := range x {
		x[i] = n.Mean[i] + float64(n.SD[i]*stream.Normal())
	}
}

// moments are the mean and the covariance.
func (n Initial) moments() (mean, cov []float64) {
	d := len(n.Mean)
	cov = make([]float64, d*d)
	for i, sd := range n.SD {
		cov[i*d+i] = float64(sd * sd)
	}
	return append([]float64(nil), n.Mean...), cov
}

// checkVector wants a finite number for each of the names.
func checkVector(f *config.Faults, field string, v []float64, names []string) {
	f.If(len(v) != len(names), field, "length: want %d, for %s, have %d", len(names), strings.Join(names, ", "), len(v))
	for i, x := range v {
		f.If(!isFinite(x), field, "number %d: want a finite number, have %v", i+1, x)
	}
}

// checkMatrix wants a matrix of finite numbers of this size. It reports whether m is one.
func checkMatrix(f *config.Faults, field string, m [][]float64, rows, cols int) bool {
	if len(m) == 0 || len(m[0]) == 0 {
		f.Add(field, "want a list of rows, as in [[0.9]]")
		return false
	}
	ok := true
	add := func(bad bool, format string, args ...any) {
		f.If(bad, field, format, args...)
		ok = ok && !bad
	}
	add(len(m) != rows, "number of rows: want %d, have %d", rows, len(m))
	for i, row := range m {
		add(len(row) != cols, "row %d, number of columns: want %d, have %d", i+1, cols, len(row))
		for j, v := range row {
			add(!isFinite(v), "row %d, column %d: want a finite number, have %v", i+1, j+1, v)
		}
	}
	return ok
}

// checkSymmetric wants a symmetric d×d matrix of finite numbers. It reports whether m is one.
func checkSymmetric(f *config.Faults, field string, m [][]float64, d int) bool {
	if !checkMatrix(f, field, m, d, d) {
		return false
	}
	for i := range d {
		for j := range i {
			if math.Abs(m[i][j]-m[j][i]) > 1e-12*max(math.Abs(m[i][j]), math.Abs(m[j][i])) {
				f.Add(field, "want a symmetric matrix, have %.12g in row %d, column %d, but %.12g in row %d, column %d",
					m[j][i], j+1, i+1, m[i][j], i+1, j+1)
				return false
			}
		}
	}
	return true
}

func checkInterval(f *config.Faults, interval float64) {
	f.If(!(interval >= 0) || !isFinite(interval), "interval", "want a number of seconds above 0, have %.12g", interval)
}

func checkReturns(f *config.Faults, returns int) {
	f.If(returns < 0, "returns", "want at least 1, have %d", returns)
}
