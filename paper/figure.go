package paper

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/uq"
)

// Values are what a measure says of one run: a number, or a number for each scan of a filter; nil: the run has none.
type Values []uq.Number

// MarshalJSON writes a single number as a number.
func (v Values) MarshalJSON() ([]byte, error) {
	if len(v) == 1 {
		return v[0].MarshalJSON()
	}
	return json.Marshal(append([]uq.Number{}, v...))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (v *Values) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '[' {
		return json.Unmarshal(text, (*[]uq.Number)(v))
	}
	*v = make(Values, 1)
	return json.Unmarshal(text, &(*v)[0])
}

// Figure is what stands in a table: a figure that a paper published, or that of several of our runs.
type Figure interface {
	// text writes the figure with so many decimals.
	text(digits int) string
	// printed writes a published figure, with more decimals where the paper printed more.
	printed(digits int) string
	// centre is the number by which figures are compared.
	centre() float64
}

// Figures are the published figures of a cell, by the names of measures.
type Figures map[string]Figure

// Mean is a mean and a standard deviation, NaN if none was published.
type Mean struct {
	Mean float64   `json:"mean"`
	SD   uq.Number `json:"sd"`
}

func (m Mean) centre() float64 { return m.Mean }

func (m Mean) text(digits int) string { return meanAndSD(m.Mean, float64(m.SD), digits) }

func (m Mean) printed(digits int) string {
	if mean := shortest(m.Mean); decimals(mean) > digits && m.SD == m.SD {
		return fmt.Sprintf("%s ± %.*f", mean, digits, m.SD)
	}
	return m.text(digits)
}

// meanAndSD writes a mean, and its standard deviation if there is one.
func meanAndSD(mean, sd float64, digits int) string {
	if math.IsNaN(sd) {
		return fmt.Sprintf("%.*f", digits, mean)
	}
	return fmt.Sprintf("%.*f ± %.*f", digits, mean, digits, sd)
}

func shortest(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// decimals counts the digits behind the point.
func decimals(number string) int {
	_, after, _ := strings.Cut(number, ".")
	return len(after)
}

// Spread describes numbers of several scans, each of which is the mean over runs.
type Spread struct {
	Min    float64 `json:"min"`
	Median float64 `json:"median"`
	Mean   float64 `json:"mean"`
	Max    float64 `json:"max"`
}

func (s Spread) centre() float64 { return s.Mean }

func (s Spread) text(digits int) string {
	return s.by(func(v float64) string { return strconv.FormatFloat(v, 'f', digits, 64) })
}

func (s Spread) printed(digits int) string {
	return s.by(func(v float64) string {
		return strconv.FormatFloat(v, 'f', max(digits, decimals(shortest(v))), 64)
	})
}

func (s Spread) by(write func(float64) string) string {
	return strings.Join([]string{write(s.Min), write(s.Median), write(s.Mean), write(s.Max)}, " ")
}

// overScans joins runs that have a number for each scan: the mean over the runs, scan by scan, and then its spread over the scans.
func overScans(runs []Values) Figure { return spreadOf(scanMeans(runs)) }

// rootsOverScans is overScans of root mean squares, whose squares have a mean.
func rootsOverScans(runs []Values) Figure { return spreadOf(scanRoots(runs)) }

func spreadOf(scans []float64) Figure {
	if len(scans) == 0 {
		return nil
	}
	return Spread{numeral.Quantile(scans, 0), numeral.Median(scans), uq.Mean(scans), numeral.Quantile(scans, 1)}
}

// scanMeans are the means over the runs of each scan, over those that have it.
func scanMeans(runs []Values) (means []float64) {
	most := 0
	for _, v := range runs {
		most = max(most, len(v))
	}
	for k := range most {
		sum, n := 0.0, 0
		for _, v := range runs {
			if k < len(v) {
				sum, n = sum+float64(v[k]), n+1
			}
		}
		means = append(means, sum/float64(n))
	}
	return means
}

// scanRoots are the root mean squares over the runs of each scan.
func scanRoots(runs []Values) []float64 {
	squares := make([]Values, len(runs))
	for i, run := range runs {
		for _, v := range run {
			squares[i] = append(squares[i], v*v)
		}
	}
	roots := scanMeans(squares)
	for k, v := range roots {
		roots[k] = math.Sqrt(v)
	}
	return roots
}

// millions writes a mean in millions with at least three digits: 361 M, 40.2 M, 4.00 M.
func millions(f Figure) string {
	switch m := f.centre() / 1e6; {
	case m >= 99.95:
		return fmt.Sprintf("%.0f M", m)
	case m >= 9.995:
		return fmt.Sprintf("%.1f M", m)
	default:
		return fmt.Sprintf("%.2f M", m)
	}
}
