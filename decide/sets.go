package decide

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/uq"
)

// Score says how strange a class would be as the truth of a row: low where the class is probable. The set of a row is all
// classes that are no stranger than most truths were.
type Score interface {
	// String is the score's title in sentences.
	String() string

	// Of sets s to the score of every class of a row of probabilities, which are no NaN. u is uniform in [0, 1), one number a row.
	Of(p []float64, u float64, s []float64)
}

// Scores lists the scores of sets by their names in a config.
var Scores = config.Table[Score]{
	{Name: "lac", Part: LAC{}},
	{Name: "aps", Part: APS{}},
	{Name: "raps", Part: RAPS{}},
}

// LAC is 1 − p_c: the smallest sets on average (Sadinle, Lei and Wasserman 2019).
type LAC struct{}

func (LAC) String() string { return "LAC" }

// Of implements Score.
func (LAC) Of(p []float64, _ float64, s []float64) {
	for c, v := range p {
		s[c] = 1 - v
	}
}

// APS is the probability of all classes that are more probable, and the share u of the class's own: larger sets where the row is harder
// (Romano, Sesia and Candès 2020). Of equally probable classes the lowest comes first.
type APS struct{}

func (APS) String() string { return "APS" }

// Of implements Score.
func (APS) Of(p []float64, u float64, s []float64) { RAPS{}.Of(p, u, s) }

// RAPS is APS with a penalty for every class after the first few, which keeps sets from growing a long tail (Angelopoulos et al. 2021,
// eq. (4)): Penalty·max(o − After, 0), where o is the class's place by probability, counted from 1.
type RAPS struct {
	Penalty float64 `yaml:"penalty,omitempty,nonzero"` // what each class after the first few adds to its score, above 0; default 0.1
	After   int     `yaml:"after,omitempty,zero"`      // number of classes without a penalty, from 0; default 2
}

func (RAPS) String() string { return "RAPS" }

// Defaults implements config.Defaulter.
func (r *RAPS) Defaults() {
	if r.Penalty == 0 {
		r.Penalty = 0.1
	}
	if r.After == 0 {
		r.After = 2
	}
}

// Check implements config.Checker.
func (r RAPS) Check(f *config.Faults) {
	f.If(!(r.Penalty > 0 && r.Penalty <= 1), "penalty", "want a number above 0, at most 1, have %.12g", r.Penalty)
	f.If(r.After < 0, "after", "want a whole number from 0, have %d", r.After)
}

// Of implements Score.
func (r RAPS) Of(p []float64, u float64, s []float64) {
	order := make([]int, len(p))
	for c := range order {
		order[c] = c
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case p[a] > p[b]:
			return -1
		case p[a] < p[b]:
			return 1
		}
		return 0
	})
	before := 0.0
	for o, c := range order {
		s[c] = before + float64(u*p[c]) + float64(r.Penalty*float64(max(o+1-r.After, 0)))
		before += p[c]
	}
}

// Sets are the settings of sets of classes and of intervals of numbers.
type Sets struct {
	Score   Score   `yaml:"score,omitempty"`    // how strange a class is (classes only): lac, the smallest sets; aps, larger sets for harder rows; raps, aps with a penalty for long sets; default lac
	Rate    float64 `yaml:"rate"`               // promised share of sets that hold the truth, above 0 and below 1; default 0.95
	ByClass bool    `yaml:"by_class,omitempty"` // keep the promise for the examples of each class alone, not only for all together (classes only)
	Empty   bool    `yaml:"empty,omitempty"`    // let a set be empty (classes only): by default the most probable class is always in it
}

// Defaults implements config.Defaulter.
func (s *Sets) Defaults() {
	if s.Score == nil {
		s.Score = LAC{}
	}
	if s.Rate == 0 {
		s.Rate = 0.95
	}
}

// Check implements config.Checker.
func (s Sets) Check(f *config.Faults) {
	f.If(!(s.Rate > 0 && s.Rate < 1), "rate", "want a number above 0, below 1, have %.12g", s.Rate)
}

// Conformal is a rule that makes sets of classes.
type Conformal struct {
	Sets
	Thresholds []float64 // a class is in the set where its score is at most this: one for all classes, or one a class
	Examples   int       // that it was learnt from
}

// Conformal learns sets from rows of probabilities [n, classes], labels [n] and Uniform numbers [n]: a set of a new row that is like these
// holds the row's label with a chance of at least Rate (split-conformal prediction: Vovk et al. 2005). With ByClass that is
// true of the rows of each class (Mondrian). Rows that are NaN do not count: they always get all classes. Errors: a *NeedError where
// ⌈(n+1)·Rate⌉ > n, labels that are no classes.
func (s Sets) Conformal(probs []float64, classes int, labels []int32, u []float64) (*Conformal, error) {
	if err := checkRate(s.Rate); err != nil {
		return nil, err
	}
	if err := checkLabels(probs, classes, labels); err != nil {
		return nil, err
	}
	if s.Score == nil {
		return nil, errors.New("sets need a score: want " + Scores.Forms())
	}
	if len(u) != len(labels) {
		return nil, fmt.Errorf("%d uniform numbers for %d rows", len(u), len(labels))
	}
	groups := make([][]float64, 1)
	if s.ByClass {
		groups = make([][]float64, classes)
	}
	c := &Conformal{Sets: s}
	row := make([]float64, classes)
	for i, y := range labels {
		p := probs[i*classes : (i+1)*classes]
		if unknown(p) {
			continue
		}
		s.Score.Of(p, u[i], row)
		g := int(y) % len(groups)
		groups[g] = append(groups[g], row[y])
		c.Examples++
	}
	for g, scores := range groups {
		what := fmt.Sprintf("a rate of %v", s.Rate)
		if s.ByClass {
			what = fmt.Sprintf("a rate of %v for class %d (counted from 0) alone", s.Rate, g)
		}
		q, err := quantile(scores, s.Rate, what)
		if err != nil {
			return nil, err
		}
		c.Thresholds = append(c.Thresholds, q)
	}
	return c, nil
}

// Set lists the classes of a row's set, in their order: all classes where a probability is NaN. u is the row's Uniform.
func (c *Conformal) Set(p []float64, u float64) (classes []int) {
	top := uq.Argmax(p)
	scores := make([]float64, len(p))
	if top >= 0 {
		c.Score.Of(p, u, scores)
	}
	for k, s := range scores {
		if top < 0 || s <= c.Thresholds[k%len(c.Thresholds)] || k == top && !c.Empty {
			classes = append(classes, k)
		}
	}
	return classes
}

// Coverage is the share of rows whose set holds the label, and the mean number of classes of the sets; NaN without rows.
func (c *Conformal) Coverage(probs []float64, classes int, labels []int32, u []float64) (covered, size float64) {
	for i, y := range labels {
		set := c.Set(probs[i*classes:(i+1)*classes], u[i])
		if slices.Contains(set, int(y)) {
			covered++
		}
		size += float64(len(set))
	}
	n := float64(len(labels))
	return covered / n, size / n
}

// Join writes a set by the names of its classes, with | between them. Errors: a name that has a |.
func Join(set []int, name func(class int) string) (string, error) {
	var words []string
	for _, c := range set {
		w := name(c)
		if strings.Contains(w, "|") {
			return "", fmt.Errorf("class %d is named %q: a name of a set has no |, since that stands between names", c, w)
		}
		words = append(words, w)
	}
	return strings.Join(words, "|"), nil
}
