package data

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/starling-smc/starling/internal/cells"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/packed"
	"github.com/starling-smc/starling/internal/regular"
)

// Parts say how the training examples of the data are divided, by shares of them or by a list of rows. Which examples a part
// gets is drawn by the run's seed.
//
// A missing share of Validate or Test is the data's own part or, without one, a tenth. A missing share of Train is the rest. If
// all shares add up to less than 1, the examples that are left are not used. Without a share of Calibrate no examples are drawn for it.
type Parts struct {
	Train    float64 `yaml:"train,omitempty,nonzero"`    // share of the examples to train on; default: the rest
	Validate float64 `yaml:"validate,omitempty,nonzero"` // share of the validation examples; default: the data's own, or a tenth
	Test     float64 `yaml:"test,omitempty,nonzero"`     // share of the test examples; default: the data's own, or a tenth

	// Calibrate is the share of the examples for decisions about predictions: of all examples, and drawn from those that would train. So
	// the other parts are the same with and without it. Default: the data's own, or none.
	Calibrate float64 `yaml:"calibrate,omitempty,nonzero"`

	// TestRows is a text file with the number of a row in each line, counted from 0: these examples are for the test. A tenth of
	// the others validate unless the data have validation examples of their own, and the rest train.
	TestRows string `yaml:"test_rows,omitempty"`

	// Folds divides the examples that are not for the test into so many folds of the same size, at least 2, without a row in common. One of
	// them validates, and the others train. starling sweep --folds sets both keys.
	Folds int `yaml:"folds,omitempty,nonzero"`
	Fold  int `yaml:"fold,omitempty,nonzero"` // the fold that validates, from 1
}

const (
	tenth = 0.1
	// roundings is the sum by which shares such as 0.6, 0.3 and 0.1 may miss 1.
	roundings = 1e-9
)

const ownPart = "the data have a %s part of their own: leave this out"

// share is a part's name in a config and its share.
type share struct {
	name  string
	value float64
}

func (p *Parts) shares() []share {
	return []share{{"train", p.Train}, {"validate", p.Validate}, {"test", p.Test}, {calibratePart, p.Calibrate}}
}

// Check implements config.Checker.
func (p Parts) Check(f *config.Faults) {
	given := 0
	for _, s := range p.shares() {
		f.If(s.value != 0 && !(s.value > 0 && s.value <= 1), s.name, "want a share of the examples above 0 and at most 1, have %v", s.value)
		if s.value != 0 {
			given++
			f.If(p.TestRows != "" && s.name != calibratePart, s.name, "the rows of test_rows divide the examples: leave this share out")
		}
	}
	if p.Folds != 0 || p.Fold != 0 {
		f.If(p.Folds < 2, "folds", "want at least 2 folds, have %d", p.Folds)
		f.If(p.Folds >= 2 && (p.Fold < 1 || p.Fold > p.Folds), "fold", "want the fold that validates, from 1 to %d, have %d", p.Folds, p.Fold)
		f.If(p.Train != 0, "train", "all folds but one train: leave this share out")
		f.If(p.Validate != 0, "validate", "one of the folds validates: leave this share out")
		return
	}
	f.If(given == 0 && p.TestRows == "", "", "want shares, as in {train: 0.6, validate: 0.3, test: 0.1}, or test_rows, a file")
}

// assign chooses among n training examples those that train, and those of the parts that the data lack, by the names of the parts. The
// calibration part, if p has a share of it, is drawn from the examples that would train without it. All lists are in ascending order.
func (p *Parts) assign(n int, seed uint64, d draw, lackTest, lackValidate, lackCalibrate bool) (kept []int32, held map[string][]int32, err error) {
	kept, parts, err := p.divide(n, seed, d, lackTest, lackValidate)
	if err != nil {
		return nil, nil, err
	}
	held = map[string][]int32{}
	for _, part := range []struct {
		name  string
		lacks bool
	}{{"test", lackTest}, {"validate", lackValidate}} {
		if part.lacks {
			held[part.name], parts = parts[0], parts[1:]
		}
	}
	switch {
	case p == nil || p.Calibrate == 0:
		return kept, held, nil
	case !lackCalibrate:
		return nil, nil, fieldError("split.calibrate", ownPart, "calibration")
	}
	size, err := share{calibratePart, p.Calibrate}.of(n)
	if err != nil {
		return nil, nil, err
	}
	if size >= len(kept) {
		return nil, nil, fieldError("split.calibrate", "leaves none of %d examples to train", n)
	}
	if d, err = d.among(kept); err != nil {
		return nil, nil, err
	}
	parts, rest, err := d.parts(len(kept), calibrateKey(seed), []int{size})
	if err != nil {
		return nil, nil, fmt.Errorf("to calibrate, beside the other parts: %w", err)
	}
	slices.Sort(rest)
	held[calibratePart] = gather(kept, parts[0], 1)
	return gather(kept, rest, 1), held, nil
}

// divide chooses among n training examples those that train or calibrate, and those of the parts that the data lack: first to test, then to
// validate. All lists are in ascending order. Without settings each part is a tenth (Split). The draw d chooses the rows of a part. With
// strata parts have their share of every class, which does not change their sizes.
func (p *Parts) divide(n int, seed uint64, d draw, lackTest, lackValidate bool) (kept []int32, held [][]int32, err error) {
	var lacking []share
	given := Parts{}
	if p != nil {
		given = *p
	}
	if lackTest {
		lacking = append(lacking, share{"test", given.Test})
	}
	if lackValidate && given.Folds == 0 {
		lacking = append(lacking, share{"validate", given.Validate})
	}
	switch {
	case p == nil:
		return splitBy(d, n, seed, len(lacking))
	case p.TestRows != "" && !lackTest:
		return nil, nil, fieldError("split.test_rows", ownPart, "test")
	case p.Folds != 0 && !lackValidate:
		return nil, nil, fieldError("split.folds", ownPart, "validation")
	case p.TestRows != "":
		return p.byRows(n, seed, d, lackValidate)
	}
	var sizes []int
	left, sum := n, p.Train+p.Calibrate
	for _, part := range lacking {
		size := max(n/10, 1)
		if part.value == 0 {
			part.value = tenth
		} else if size, err = part.of(n); err != nil {
			return nil, nil, err
		}
		sum += part.value
		size = min(size, left)
		sizes, left = append(sizes, size), left-size
	}
	if p.Folds != 0 {
		return p.byFolds(n, seed, d, sizes)
	}
	if p.Train != 0 && sum < 1-roundings {
		size, err := share{"train", p.Train}.of(n)
		if err != nil {
			return nil, nil, err
		}
		if p.Calibrate != 0 {
			more, err := share{calibratePart, p.Calibrate}.of(n)
			if err != nil {
				return nil, nil, err
			}
			size += more
		}
		left = min(size, left)
	}
	if left == 0 {
		return nil, nil, fieldError("split", "leaves none of %d examples to train", n)
	}
	parts, _, err := d.parts(n, splitKey(seed), append(sizes, left))
	if err != nil {
		return nil, nil, err
	}
	train := len(sizes)
	return parts[train], parts[:train:train], nil
}

// byFolds draws parts of some sizes from n examples and divides the others into folds, of which one is the last part and the others are kept.
func (p *Parts) byFolds(n int, seed uint64, d draw, sizes []int) (kept []int32, held [][]int32, err error) {
	before, left := len(sizes), n
	for _, size := range sizes {
		left -= size
	}
	if left < p.Folds {
		return nil, nil, fieldError("split.folds", "%d examples cannot be divided into %d folds", left, p.Folds)
	}
	for k := range p.Folds {
		sizes = append(sizes, (k+1)*left/p.Folds-k*left/p.Folds)
	}
	parts, _, err := d.parts(n, splitKey(seed), sizes)
	if err != nil {
		return nil, nil, err
	}
	for k, fold := range parts[before:] {
		if k != p.Fold-1 {
			kept = append(kept, fold...)
		}
	}
	slices.Sort(kept)
	return kept, append(parts[:before:before], parts[before+p.Fold-1]), nil
}

// of is the number of examples in a share of n. It is rounded down, but not below a whole number that the product of two
// floating-point numbers misses: 0.29 of 100 are 29.
func (s share) of(n int) (int, error) {
	size := int(math.Floor(float64(s.value*float64(n)) + 1e-6))
	if size < 1 {
		return 0, fieldError("split."+s.name, "%v of %d examples is less than one", s.value, n)
	}
	return size, nil
}

// byRows divides n training examples by the file of test rows: those rows are for the test, and of the others a tenth, of every class where
// there are strata, or a fold is held out to validate, if the data lack that part.
func (p *Parts) byRows(n int, seed uint64, d draw, validate bool) (kept []int32, held [][]int32, err error) {
	test, err := readRows(p.TestRows, n)
	if err != nil {
		return nil, nil, err
	}
	var others []int32
	for i, next := int32(0), 0; int(i) < n; i++ {
		if next < len(test) && test[next] == i {
			next++
			continue
		}
		others = append(others, i)
	}
	if d, err = d.among(others); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", p.TestRows, err)
	}
	var places []int32
	var more [][]int32
	switch {
	case p.Folds != 0:
		places, more, err = p.byFolds(len(others), seed, d, nil)
	case validate:
		places, more, err = splitBy(d, len(others), seed, 1)
	default:
		places, more, err = splitBy(d, len(others), seed, 0)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: beside these rows: %w", p.TestRows, err)
	}
	held = [][]int32{test}
	for _, part := range more {
		held = append(held, gather(others, part, 1))
	}
	return gather(others, places, 1), held, nil
}

// readRows reads a file of row numbers below n, one a line, and returns them in ascending order. Empty lines are passed over.
func readRows(path string, n int) ([]int32, error) {
	return packed.Reading(path, regular.Open, func(file *regular.File) ([]int32, error) {
		var rows []int32
		first := map[int32]int{} // the line of each row
		lines := bufio.NewScanner(file)
		for number := 1; lines.Scan(); number++ {
			text := strings.TrimSpace(lines.Text())
			if text == "" {
				continue
			}
			row, err := strconv.ParseUint(text, 10, 64)
			switch {
			case errors.Is(err, strconv.ErrRange) || err == nil && row >= uint64(n):
				return nil, fmt.Errorf("%s: line %d: row %s: the data have the rows 0 to %d", path, number, cells.Clip(text), n-1)
			case err != nil:
				return nil, fmt.Errorf("%s: line %d: %s is not a row: want one row number a line, counted from 0", path, number, cells.Quote([]byte(text)))
			case first[int32(row)] > 0:
				return nil, fmt.Errorf("%s: line %d: row %d is on line %d, too: want each row once", path, number, row, first[int32(row)])
			}
			first[int32(row)] = number
			rows = append(rows, int32(row))
		}
		switch err := lines.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			return nil, fmt.Errorf("%s: a line of more than %d bytes: want one row number a line, counted from 0", path, bufio.MaxScanTokenSize)
		case err != nil:
			return nil, err
		case len(rows) == 0:
			return nil, fmt.Errorf("%s: names no rows: want one row number a line, counted from 0", path)
		case len(rows) == n:
			return nil, fmt.Errorf("%s: names all %d rows: none is left to train", path, n)
		}
		slices.Sort(rows)
		return rows, nil
	})
}

// Split makes the parts that the problem lacks: a missing Test or Validate becomes a random tenth of Train, which keeps the
// rest. A Whole problem is not split. The split depends on the seed and on the number of training examples
// alone.
func (p *Problem) Split(seed uint64) error { return p.split(nil, seed) }

// split is Split by settings.
func (p *Problem) split(by *Parts, seed uint64) error {
	if p.Whole {
		return nil
	}
	if p.Test != nil && p.Validate != nil && by == nil {
		return nil
	}
	kept, held, err := by.assign(p.Train.Len(), seed, anyRows, p.Test == nil, p.Validate == nil, p.Calibrate == nil)
	if err != nil {
		return fmt.Errorf("data set %q: %w", p.Name, err)
	}
	for _, k := range p.labelled() {
		if rows, is := held[k.name]; is {
			*k.set = p.Train.Select(k.name, rows)
		}
	}
	p.Train = p.Train.Select(p.Train.Name, kept)
	return nil
}
