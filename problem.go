package starling

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/starling-smc/starling/data"
)

// problem brings what a run is judged on into memory, as its network sees it.
func (r *Run) problem(on On, o Options) (*data.Problem, error) {
	p, err := r.judgedOn(on, o.DataDir)
	if err != nil {
		return nil, err
	}
	for _, name := range on.OOD {
		g, err := r.group(name, o.DataDir)
		if err != nil {
			return nil, faultOfData(err)
		}
		if slices.Contains(notGroups, g.Name) {
			return nil, wrong("%s: %s is the name of a part of the data or of the scores: name the file otherwise", name, g.Name)
		}
		if slices.ContainsFunc(p.Groups, func(other data.Group) bool { return other.Name == g.Name }) {
			return nil, wrong("there is a group %s already: %s needs another name", g.Name, name)
		}
		p.Groups = append(p.Groups, g)
	}
	return p, nil
}

// wrong is a *ConfigError of what was asked for beside any config.
func wrong(format string, args ...any) error {
	return configError("", []fault{{message: fmt.Sprintf(format, args...)}})
}

func (r *Run) judgedOn(on On, dir string) (*data.Problem, error) {
	own := on.Data == "" || on.Data == r.Spec.Data.Set
	if own && on.Labels != "" {
		return nil, wrong("the labels %s need a file of inputs to go with", on.Labels)
	}
	if !own {
		p, err := r.other(on, dir)
		if err != nil {
			return nil, faultOfData(err)
		}
		return p, nil
	}
	p, err := r.Spec.load(dir, r.Schema)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &DataError{fmt.Errorf("%w: the run's own data, in the place that its config names, seen from here", err)}
	}
	if err != nil {
		return nil, err
	}
	for part, sum := range checksums(p) {
		if was := r.Manifest.Data[part]; was != sum {
			return nil, &DataError{fmt.Errorf("the %s examples of %s are not those of the run: checksum %s, was %s", part, p.Name, sum, was)}
		}
	}
	return p, nil
}

// other reads examples that are not the run's own.
func (r *Run) other(on On, dir string) (*data.Problem, error) {
	p := &data.Problem{Name: on.Data, Schema: r.Schema}
	if on.Labels != "" {
		inputs, targets, err := (&Arrays{on.Data, on.Labels}).read()
		if err == nil {
			p.Test, err = r.Schema.Labelled("test", inputs, targets, nil)
		}
		return p, err
	}
	known := known(on.Data)
	_, err := os.Stat(on.Data)
	switch {
	case known && data.Tabular(on.Data) && r.Schema.Columns != nil:
		var t *data.Table
		if t, _, err = data.LoadTable(on.Data, dir); err == nil {
			p.Test, err = r.Schema.Set("test", t, nil, true)
		}
		return p, err
	case known:
		if p, err = data.Load(on.Data, dir); err != nil {
			return nil, err
		}
		for _, part := range []*data.Set{p.Train, p.Test} {
			if err := r.shaped(on.Data, part); err != nil {
				return nil, err
			}
		}
		p.Schema = r.Schema
		return p, standardise(p, r.Schema)
	case errors.Is(err, fs.ErrNotExist):
		_, err = data.Load(on.Data, dir) // says which are known
		return nil, wrong("%v, and no file %s", err, on.Data)
	}
	array, err := data.IsArray(on.Data)
	if err != nil {
		return nil, err
	}
	if array {
		return nil, wrong("%s holds inputs: the file of their labels is needed, too", on.Data)
	}
	t, err := data.ReadCSV(on.Data, r.Schema.CSV()) // that the target is missing is better said by the schema
	if err == nil {
		p.Test, err = r.Schema.Set("test", t, nil, true)
	}
	return p, err
}

func known(name string) bool {
	return slices.ContainsFunc(data.List(""), func(k data.Known) bool { return k.Name == name })
}

// shaped says that examples are not of the shape that the run was trained on.
func (r *Run) shaped(name string, set *data.Set) error {
	if set == nil || fits(r.Schema.Shape, set.Shape) {
		return nil
	}
	return fmt.Errorf("%s: examples of shape %v, the run was trained on examples of shape %v", name, set.Shape, r.Schema.Shape)
}

// group is a group of foreign inputs: the test examples of a known set, or a file.
func (r *Run) group(name, dir string) (data.Group, error) {
	if !known(name) {
		if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
			_, err = data.Load(name, dir)
			return data.Group{}, wrong("%v, and no file %s", err, name)
		}
		base, _, _ := strings.Cut(filepath.Base(name), ".")
		set, err := readInputs(base, name, r.Schema)
		return data.Group{Name: base, Set: set}, err
	}
	g := data.Group{Name: name}
	if data.Tabular(name) && r.Schema.Columns != nil {
		t, _, err := data.LoadTable(name, dir)
		if err == nil {
			g.Set, err = r.Schema.Set(name, t, nil, false)
		}
		return g, err
	}
	p, err := data.Load(name, dir)
	if err != nil {
		return g, err
	}
	set := p.Test
	if set == nil {
		set = p.Train
	}
	if err := r.shaped(name, set); err != nil {
		return g, err
	}
	g.Set, err = r.Schema.Standardise(&data.Set{Name: name, Shape: set.Shape, U8: set.U8, F32: set.F32})
	return g, err
}

// readInputs reads a file of inputs without targets, NPY, IDX or CSV, as the network sees them.
func readInputs(name, file string, schema *data.Schema) (*data.Set, error) {
	array, err := data.IsArray(file)
	if err != nil {
		return nil, err
	}
	if array {
		a, err := data.ReadArray(file)
		if err != nil {
			return nil, err
		}
		return schema.Examples(name, a)
	}
	t, err := data.ReadCSV(file, schema.CSV())
	if err != nil {
		return nil, err
	}
	return schema.Set(name, t, nil, false)
}
