package data

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/starling-smc/starling/internal/cells"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/spelling"
	"github.com/starling-smc/starling/internal/tables"
)

// loadTable reads the user's own table or a known one.
func (s Settings) loadTable(dir string, need Need) (*Problem, error) {
	columns := Columns{Classes: !need.Regression, Standardise: s.standard().targets, Log: s.Target == targetLog}
	if s.CSV != nil {
		columns.Missing, columns.Zeros, columns.Codes = s.CSV.Missing == tables.MissingIndicator, s.CSV.Other == tables.OtherZeros, s.CSV.Categories
	}
	if s.standard().inputs {
		columns.SD = 1
	}
	var t *Table
	var err error
	own := CSV{}
	if s.CSV == nil {
		t, columns.Target, err = LoadTable(s.Set, dir)
	} else {
		own, columns.Target = *s.CSV, s.CSV.Target
		t, err = load(&own)
	}
	if err != nil {
		return nil, err
	}
	p := &Problem{Name: t.Name, Schema: need.Schema, Whole: need.Whole}
	var classes strata // a known table keeps the division that its results were published with
	if s.CSV != nil {
		p.Name = own.File
		j, err := t.Column(columns.Target)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.Name, err)
		}
		if columns.Classes {
			classes = byClass(t, j)
		} else {
			p.Amounts = t.Profile().Columns[j].Amounts()
			p.Zeros = zeros(t, j)
		}
	}
	parts := []struct {
		name, file string
		into       **Set
	}{{"test", own.Test, &p.Test}, {"validate", own.Validate, &p.Validate}, {calibratePart, own.Calibrate, &p.Calibrate}}
	d := draw(classes)
	var groups *groups
	if own.Group != "" {
		groups = groupsOf(t, classes)
		d = groups
	}
	kept, held, err := s.Split.assign(t.Rows(), need.Seed, d, !p.Whole && own.Test == "", !p.Whole && own.Validate == "", own.Calibrate == "")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	if p.Schema == nil {
		if s.CSV != nil {
			t.LeaveOutCounters(own.Target, own.Keep)
		}
		if p.Schema, err = columns.Schema(t, kept); err != nil {
			return nil, s.withMend(t, err)
		}
		if s.CSV != nil {
			p.Schema.Delimiter, p.Schema.Header, p.Schema.MissingTarget = own.Delimiter, own.Header, skipping(own)
			if names := t.Numbered(own.Target, own.Keep); names != nil {
				p.Noted = append(p.Noted, finding.Of(finding.RowNumbers{
					Columns: finding.List(p.Schema.titles(names)), Drop: p.Schema.dropping(names), Keep: scalars(slices.Concat(own.Keep, names)),
				}))
			}
		}
	}
	if groups != nil && len(held) > 0 && need.Schema == nil {
		n := finding.GroupsTogether{
			Column: p.Schema.titles([]string{own.Group})[0], Train: groups.in(kept), Validate: groups.in(held["validate"]), Test: groups.in(held["test"]),
			Calibrate: groups.in(held[calibratePart]),
		}
		p.Noted = append(p.Noted, finding.Of(n))
		if names := alike(groups.names); names != nil {
			p.Noted = append(p.Noted, finding.Of(finding.AlikeGroups{Column: n.Column, Groups: finding.FirstOf(names)}))
		}
	}
	if t.Skipped > 0 && need.Schema == nil {
		p.Noted = append(p.Noted, finding.Of(finding.RowsWithoutTarget{Rows: t.Skipped, File: p.Name}))
	}
	p.own = p.Schema.Classes
	others := make([]*Table, len(parts))
	for k, part := range parts {
		if part.file == "" {
			continue
		}
		if others[k], err = p.readPart(part.file, own.Group); err == nil && need.Schema == nil {
			err = p.admit(others[k])
		}
		if err != nil {
			return nil, s.withMend(cmp.Or(others[k], t), err)
		}
		if groups != nil && need.Schema == nil {
			p.shareGroups(groups, kept, part.name, others[k])
		}
		if columns.Missing && need.Schema == nil {
			p.Schema.admitMissing(others[k], t.ProfileOf(kept))
		}
	}
	if p.Train, err = p.Schema.Set("train", t, kept, true); err != nil {
		return nil, err
	}
	p.keepLines(append(others, t)...)
	for k, part := range parts {
		if others[k] != nil {
			*part.into, err = p.Schema.Set(part.name, others[k], nil, true)
		} else if rows, is := held[part.name]; is {
			*part.into, err = p.Schema.Set(part.name, t, rows, true)
		}
		if err != nil {
			return nil, s.withMend(cmp.Or(others[k], t), err)
		}
	}
	return p, nil
}

// admitMissing lets columns lack values where another table of the run's own does, as they may where a row of the run's table does that
// does not train: the value is then the mean of that column over the training rows, which are seen.
func (s *Schema) admitMissing(t *Table, seen *tables.Profile) {
	r, err := s.find(t)
	if err != nil {
		return // reading it gave the error
	}
	var expand []Expansion
	for k, name := range s.Features() {
		e := s.expansion(name)
		switch lacks := t.Profile().Columns[r.Features[k]].Lacks(); {
		case e != nil:
			e.Missing = e.Missing || lacks
		case lacks:
			e = &Expansion{Column: name, Missing: true, Mean: seen.Columns[slices.Index(s.Columns, name)].Mean()}
		default:
			continue
		}
		expand = append(expand, *e)
	}
	s.Expand = expand
}

// admit adds the classes of another table of the run's own: a class may have no training examples.
func (p *Problem) admit(t *Table) error {
	had := numbered(p.Schema.Names, p.Schema.Classes)
	if err := p.Schema.admit(t); err != nil {
		return err
	}
	now := numbered(p.Schema.Names, p.Schema.Classes)
	added := slices.DeleteFunc(now, func(name string) bool { return slices.Contains(had, name) })
	if len(added) > 0 {
		p.admitted += fmt.Sprintf(", and %s has %s, which %s has not", t.Name, cells.QuoteSome(added), p.Name)
	}
	return nil
}

// admit adds the classes of a table to those of the schema.
func (s *Schema) admit(t *Table) error {
	if s.Classes == 0 {
		return nil
	}
	r, err := s.find(t)
	if err != nil || r.Target < 0 {
		return nil // the sets that are made of it have the error
	}
	if err := t.Finite([]int{r.Target}, func(int) bool { return false }); err != nil {
		return err
	}
	if err := t.CompleteTarget(r.Target, true, s.Names); err != nil {
		return err
	}
	names, n, err := t.Classes(r.Target)
	if err != nil {
		return err
	}
	if names == nil && s.Names == nil {
		s.Classes = max(s.Classes, n)
		return nil
	}
	all := append(numbered(names, n), numbered(s.Names, s.Classes)...)
	values, numbers := map[string]float64{}, true
	for _, name := range all {
		v, err := cells.Number([]byte(name))
		values[name], numbers = v, numbers && err == nil
	}
	if numbers {
		slices.SortFunc(all, func(a, b string) int { return cmp.Compare(values[a], values[b]) })
	} else {
		slices.Sort(all)
	}
	s.Names = slices.Compact(all)
	if s.Classes = len(s.Names); slices.Equal(s.Names, numbered(nil, s.Classes)) {
		s.Names = nil
	}
	return nil
}

// numbered returns the names of classes, which are their numbers if they have none.
func numbered(names []string, n int) []string {
	if names != nil {
		return slices.Clone(names)
	}
	for c := range n {
		names = append(names, strconv.Itoa(c))
	}
	return names
}

// withMend adds to an error about a missing input which setting takes it.
func (s Settings) withMend(t *Table, err error) error {
	var missing *tables.MissingError
	if s.CSV != nil && s.CSV.Missing != tables.MissingIndicator && errors.As(err, &missing) && !missing.Infinite && t.ColumnName(missing.Column) != s.CSV.Target {
		err = fmt.Errorf("%w, or take data.csv.missing: indicator", err)
	}
	if s.CSV != nil && s.CSV.MissingTarget != tables.MissingSkip && errors.As(err, &missing) && !missing.Infinite && t.ColumnName(missing.Column) == s.CSV.Target {
		err = fmt.Errorf("%w, or take data.csv.missing_target: skip (--missing-target skip)", err)
	}
	return err
}

// load reads the table that the settings name. A column that it lacks is a fault of the settings.
func load(o *CSV) (*Table, error) {
	read := *o
	read.Words = true
	t, err := readExamples(o.File, read)
	var column *tables.ColumnError
	if errors.As(err, &column) {
		hint := spelling.Suggest(column.Name, column.Header)
		if column.Cols == 1 {
			hint = ": a single column; is the delimiter right?"
		}
		field := "csv.target"
		if k := slices.Index(o.Drop, column.Name); k >= 0 {
			field = fmt.Sprintf("csv.drop.%d", k)
		}
		if k := slices.Index(o.Keep, column.Name); k >= 0 {
			field = fmt.Sprintf("csv.keep.%d", k)
		}
		if column.Name == o.Group {
			field = "csv.group"
		}
		return nil, fieldError(field, "%v%s", err, hint)
	}
	var kind *tables.ColumnTypeError
	if errors.As(err, &kind) {
		return nil, &tables.ColumnFault{Before: err.Error() + " with ", Setting: "drop", Column: kind.Name}
	}
	var cell *tables.CellError
	if errors.As(err, &cell) {
		or := ": "
		switch {
		case cell.Missing:
			or = ": fill it, remove the row, or "
		case cell.Date:
			or = ", or "
		}
		return nil, &tables.ColumnFault{Before: err.Error() + or + tables.LeaveOut, Setting: "drop", Column: cell.Name}
	}
	if err != nil {
		return nil, tables.TooManyWords(err)
	}
	if o.MissingTarget == tables.MissingSkip {
		err = skipWithoutTarget(t, o.Target)
	}
	return t, err
}

// skipping is the setting as a schema keeps it.
func skipping(o CSV) string {
	if o.MissingTarget == tables.MissingSkip {
		return tables.MissingSkip
	}
	return ""
}

// skipWithoutTarget leaves out the rows of a table that have no target.
func skipWithoutTarget(t *Table, target string) error {
	j, err := t.Column(target)
	if err != nil {
		return err
	}
	if t.Skipped = t.SkipWithoutTarget(j, nil); t.Rows() == 0 {
		return fmt.Errorf("%s: no row has a target: %s", t.Name, t.Title(j))
	}
	return nil
}

// readPart reads the file of another part, with the texts of the column of groups, if there are groups and the file has it.
func (p *Problem) readPart(file, group string) (*Table, error) {
	if group != "" {
		t, err := p.readWithTargets(file, tables.ForRun(p.Schema.CSV(), ofRun{p.Schema, false}, group))
		var column *tables.ColumnError
		if !errors.As(err, &column) || column.Name != group {
			return t, err
		}
	}
	return p.readWithTargets(file, p.Schema.CSV())
}

// shareGroups notes that rows of the file of a part are of groups that train.
func (p *Problem) shareGroups(g *groups, kept []int32, part string, t *Table) {
	trains := map[string]bool{}
	for _, row := range kept {
		trains[g.names[g.of[row]]] = true
	}
	shared, rows := map[string]bool{}, 0
	for _, key := range t.Keys {
		if trains[key] {
			shared[key] = true
			rows++
		}
	}
	if rows > 0 {
		p.Noted = append(p.Noted, finding.Of(finding.GroupsShared{Column: g.title, File: t.Name, Groups: len(shared), Rows: rows, Calibrate: part == calibratePart}))
	}
}
