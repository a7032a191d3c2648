package starling

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/uq"
)

// Axis is a setting that a sweep varies.
type Axis struct {
	Key    string   // the setting's path, as ParseSpec's sets have it
	Values []string // in YAML
}

// ParseAxis reads "prior.normal.variance=0.1,1,10": a key and its values.
func ParseAxis(text string) (Axis, error) {
	key, values, ok := strings.Cut(text, "=")
	if !ok || key == "" {
		return Axis{}, wrongUse("%q: want a key and its values, as in prior.normal.variance=0.1,1,10", text)
	}
	all, err := config.Values(values)
	if err != nil {
		return Axis{}, wrongUse("%s: %q are no YAML values with commas between them: %v", key, values, err)
	}
	for i, v := range all {
		if slices.Contains(all[:i], v) {
			return Axis{}, wrongUse("%s has the value %s twice", key, v)
		}
	}
	return Axis{key, all}, nil
}

// Point is a run of a sweep: one value for each axis.
type Point struct {
	Name   string   // of the values, as a folder can be called
	Values []string // of the axes
	Sets   []string // that change the config
	Spec   Spec
}

// MostPoints is the largest number of runs of a sweep.
const MostPoints = 1000

// Grid makes a config for each combination of the values of axes, the last axis fastest. sets change every config before. The error, a
// *ConfigError, names the combination whose config is wrong, and the place in it.
func Grid(file string, text []byte, sets []string, axes ...Axis) ([]Point, error) {
	all := []Point{{}}
	for i, a := range axes {
		if slices.ContainsFunc(axes[:i], func(b Axis) bool { return b.Key == a.Key }) {
			return nil, wrongUse("the setting %s is varied twice: give its values together", a.Key)
		}
		if a.Key == "name" {
			return nil, wrongUse("a run's name changes no result: vary another setting")
		}
		var next []Point
		for _, p := range all {
			for _, v := range a.Values {
				next = append(next, Point{Values: append(slices.Clip(p.Values), v), Sets: append(slices.Clip(p.Sets), a.Key+"="+v)})
			}
		}
		if all = next; len(all) > MostPoints {
			return nil, wrongUse("a sweep of more than %d runs: take fewer values", MostPoints)
		}
	}
	named := map[string]bool{}
	for i := range all {
		p := &all[i]
		p.Name = pointName(axes, p.Values)
		for n := 2; named[p.Name]; n++ {
			p.Name = fmt.Sprintf("%s-%d", pointName(axes, p.Values), n)
		}
		named[p.Name] = true
		var err error
		if p.Spec, err = ParseSpec(file, text, append(slices.Clip(sets), p.Sets...)...); err != nil {
			return nil, fmt.Errorf("run %s of the sweep, whose values count as --set:\n%w", p.Name, err)
		}
	}
	return all, nil
}

// pointName names values: "variance=1,epochs=400". A key is called by its last word, if no other key ends with it; the number of an item
// of a list stands behind the list's name, "layers.0".
func pointName(axes []Axis, values []string) string {
	last := func(key string) string {
		words := strings.Split(key, ".")
		n := 1
		if _, err := strconv.Atoi(words[len(words)-1]); err == nil {
			n = min(2, len(words))
		}
		return strings.Join(words[len(words)-n:], ".")
	}
	var words []string
	for i, a := range axes {
		key := last(a.Key)
		if slices.ContainsFunc(axes, func(b Axis) bool { return b.Key != a.Key && last(b.Key) == key }) {
			key = a.Key
		}
		words = append(words, plain(key)+"="+plain(values[i]))
	}
	name := strings.Join(words, ",")
	return name[:min(len(name), config.LongestName)]
}

// plain makes text part of a folder's name, which needs no quotes in a shell: other characters than letters, digits, dots, signs and
// hyphens become underscores.
func plain(text string) string {
	fields := strings.FieldsFunc(text, func(r rune) bool {
		return r > unicode.MaxASCII || !(unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(".+-_", r))
	})
	return cmp.Or(strings.Trim(strings.Join(fields, "_"), "."), "_")
}

// Criterion is a figure by which the runs of a sweep are compared. None depends on test examples: the scores of the chosen run on them
// would be too good.
type Criterion struct {
	Name  string // in the command
	Title string // in words
	Least bool   // the least value is the best; if not, the largest
	Folds bool   // runs on the folds of the examples can be judged together (Pool)

	check func(s *Spec) error
	judge func(ctx context.Context, r *Result, o Options) (*Judgement, error)
}

// Criteria lists the criteria of sweeps.
var Criteria = []Criterion{
	{"validation.nll", "validation NLL", true, true, checkValidates, judgeByValidation},
	{"log_evidence", "log evidence", false, false, checkEvidence, judgeByEvidence},
}

// Judgement is the value of a run by a criterion.
type Judgement struct {
	Value    float64
	SE       float64 // standard error of the log evidence (eval.Precision.Of); NaN: unknown
	Examples int     // on which the value was computed

	losses  []float64 // of the validation examples, in the targets' units; nil: none
	on      *data.Set // the examples
	targets []float64 // of a regression, on the scale on which the value is a density

	folds []*Judgement // of which it is made; nil: it is that of a run
}

// comparable reports whether two values are of the same examples, whatever inputs the runs have: of the same rows and targets.
func (j *Judgement) comparable(other *Judgement) bool {
	if j.folds != nil || other.folds != nil {
		return slices.EqualFunc(j.folds, other.folds, (*Judgement).comparable)
	}
	return j.on.Checksum() == other.on.Checksum() || j.on.SameRows(other.on) && data.SameTargets(j.targets, other.targets)
}

// Pool is the judgement of a setting by its runs on all folds, each of which validates on other examples: the mean over all of them.
func Pool(folds []*Judgement) *Judgement {
	all := &Judgement{SE: math.NaN(), folds: folds}
	for _, j := range folds {
		all.losses = append(all.losses, j.losses...)
	}
	all.Value, all.Examples = uq.Mean(all.losses), len(all.losses)
	return all
}

// Check refuses a config whose runs would have no value. The error is a *ConfigError.
func (c Criterion) Check(s *Spec) error { return c.check(s) }

// Judge returns the value of a run. The error says why it has none.
func (c Criterion) Judge(ctx context.Context, r *Result, o Options) (*Judgement, error) {
	for _, f := range r.Findings {
		if f.Failure() {
			return nil, errors.New(f.Words())
		}
	}
	j, err := c.judge(ctx, r, o)
	if err == nil && (math.IsNaN(j.Value) || math.IsInf(j.Value, 0)) {
		err = fmt.Errorf("its %s is %v", c.Title, j.Value)
	}
	return j, err
}

// Best returns the index of the best run, the first of equals; nil stands for a run without a value. It is −1 if there is none, or if the
// values are of different rows or targets, so that they cannot be compared: then comparable is false. The runs' inputs may differ.
func (c Criterion) Best(all []*Judgement) (best int, comparable bool) {
	best = -1
	for i, j := range all {
		switch {
		case j == nil:
		case best < 0:
			best = i
		case !j.comparable(all[best]):
			return -1, false
		case c.Least && j.Value < all[best].Value, !c.Least && j.Value > all[best].Value:
			best = i
		}
	}
	return best, true
}

// Behind returns how much worse j is than the best, and the standard error of that: of the paired differences over the validation
// examples, or of the log evidences. It is NaN where it is unknown.
func (c Criterion) Behind(j, best *Judgement) (by, se float64) {
	by, se = math.Abs(j.Value-best.Value), math.Hypot(j.SE, best.SE)
	if n := len(j.losses); n > 1 && n == len(best.losses) {
		_, se = eval.Paired(j.losses, best.losses)
	}
	return by, se
}

func checkValidates(s *Spec) error {
	if !s.Data.Validates() || s.Method.Needs().Whole {
		return s.Fault("data", "a choice by validation.nll needs validation examples, and none are held out: leave out data.whole, or choose by log_evidence")
	}
	return nil
}

func judgeByValidation(ctx context.Context, r *Result, o Options) (*Judgement, error) {
	if r.Data.Validate == nil {
		return nil, errors.New("there are no validation examples")
	}
	losses, _, err := eval.Losses(ctx, r.Posterior, r.Data.Validate, pool.New(o.Threads))
	if err != nil {
		return nil, err
	}
	j := &Judgement{Value: float64(eval.MeanNLL(losses, r.Data.Validate, r.Data)), SE: math.NaN(), Examples: len(losses), on: r.Data.Validate, targets: eval.Targets(r.Data.Validate, r.Data)}
	j.losses = eval.InUnits(losses, r.Data.Validate, r.Data)
	return j, nil
}

func checkEvidence(s *Spec) error {
	if sampling := s.Way().Sampling(); sampling == nil || !sampling.Comparable {
		return s.Fault(s.At(), "estimates no log evidence of the model: take path tempering of method smc, from draws of the prior, or choose by validation.nll")
	}
	return nil
}

func judgeByEvidence(_ context.Context, r *Result, _ Options) (*Judgement, error) {
	if r.Metrics.LogEvidence == nil {
		return nil, errors.New("it estimates no log evidence")
	}
	for _, f := range r.Findings {
		if finding.Is(f, finding.Optimiser{}, finding.IslandsStuck{}, finding.IslandsStill{}, finding.MovesStuck{}) {
			return nil, errors.New("its log evidence is " + finding.Beside([]Finding{f}))
		}
	}
	train := r.Data.Train
	j := &Judgement{Value: float64(*r.Metrics.LogEvidence), SE: math.NaN(), Examples: train.Len(), on: train}
	for _, y := range train.Values {
		j.targets = append(j.targets, float64(y))
	}
	if se := r.Metrics.LogEvidenceError; se != nil {
		j.SE = float64(*se)
	}
	return j, nil
}
