package data

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestReadMeasuresAsTheRun: a set by name meets the standardisation of the run, not one of its own.
func TestReadMeasuresAsTheRun(t *testing.T) {
	own := loaded(t, Settings{Set: "mnist7", Standardise: "inputs"}, Need{})
	other, err := own.Schema.Read("mnist7", "", "")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(own.Test.F32, other.Test.F32) || other.Schema != own.Schema {
		t.Error("the same test examples differ")
	}
	for k, g := range own.Groups {
		if !slices.Equal(g.Set.F32, other.Groups[k].Set.F32) {
			t.Errorf("the group %s differs", g.Name)
		}
	}
}

// TestReadMoreClasses: a set by name with more classes than the run is refused by its own name, and the error says what to do. One with
// fewer is taken.
func TestReadMoreClasses(t *testing.T) {
	run := loaded(t, Settings{Set: "mnist7"}, Need{}).Schema
	for classes, want := range map[int]string{7: "mnist7 has 8 classes, the run 7: for data with other classes say which is which with --classes", 8: "", 9: ""} {
		run.Classes = classes
		if _, err := run.Read("mnist7", "", ""); (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("a run of %d classes: error %v, want %q", classes, err, want)
		}
	}
}

// TestRead: what a run's network can be evaluated on, and what not. What cannot be asked for is a *FieldError without a
// field.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	table := "a,same,b,y\n" + strings.Repeat("50,7,0.1,yes\n51,7,0.2,no\n52,7,0.3,no\n", 20)
	run := loaded(t, Settings{CSV: &CSV{File: put(t, dir, "own.csv", table), Target: "y"}}, Need{})
	again := put(t, dir, "again.csv", "y,b,a\nno,0.001,50\nyes,0,51\nno,0,49\n")
	other := put(t, dir, "other.csv", "a,same,b\n10,7,5\n90,7,5\n")
	empty := putNPY(t, dir, "empty.npy", []int{0, 2}, nil)
	taken := put(t, dir, "test.csv", "a,b\n1,2\n")
	for name, c := range map[string]struct {
		data, labels string // empty data: the run's own
		ood          []string
		n            int
		groups       string
		asked        bool // the error is a *FieldError
		want         string
	}{
		"table":          {again, "", nil, 3, "", false, ""},
		"with a group":   {again, "", []string{other}, 3, "other", false, ""},
		"own, groups":    {"", "", []string{other, again}, 6, "other again", false, ""},
		"twice":          {"", "", []string{other, other}, 0, "", true, "there is a group other already: " + other + " needs another name"},
		"taken":          {"", "", []string{taken}, 0, "", true, taken + ": test is the name of a part of the data or of the scores: name the file otherwise"},
		"no such":        {"mnist8", "", nil, 0, "", true, `unknown data set "mnist8"`},
		"no file":        {"", "", []string{"mnist8"}, 0, "", true, "and no file mnist8"},
		"set of another": {"mnist7", "", nil, 0, "", false, "mnist7: examples of shape [1 28 28], the run was trained on examples of shape [2]"},
		"set as a group": {"", "", []string{"mnist7"}, 0, "", false, "mnist7: examples of shape [1 28 28]"},
		"table by name":  {"yacht", "", nil, 0, "", false, `yacht: lacks "a", "b" of the run's columns`},
		"group by name":  {"", "", []string{"yacht"}, 0, "", false, `yacht: lacks "a", "b" of the run's columns`},
		"other class":    {put(t, dir, "class.csv", "a,b,y\n1,2,maybe\n"), "", nil, 0, "", false, `"maybe" is not a class of the run ("no", "yes")`},
		"no rows":        {put(t, dir, "none.csv", "a,b,y\n"), "", nil, 0, "", false, "none.csv: the table has no rows: add rows, or name another file"},
		"no strange":     {"", "", []string{put(t, dir, "strange.csv", "a,b\n")}, 0, "", false, "strange.csv: the table has no rows: "},
		"empty array":    {empty, testLabels, nil, 0, "", false, "empty.npy: the array has no rows: its shape is [0 2]: "},
		"empty group":    {"", "", []string{empty}, 0, "", false, "empty.npy: the array has no rows: "},
		"no target":      {other, "", nil, 0, "", false, `lacks the target, column "y" of the run`},
		"array alone":    {testImages, "", nil, 0, "", true, "the file of their labels is needed"},
		"array's shape":  {testImages, testLabels, nil, 0, "", false, "the run was trained on rows of 2 inputs"},
		"labels missing": {testImages, "none.npy", nil, 0, "", false, "none.npy"},
	} {
		own := *run
		p, err := &own, error(nil)
		if c.data != "" {
			p, err = run.Schema.Read(c.data, c.labels, "")
		}
		if err == nil {
			err = p.ReadGroups("", c.ood...)
		}
		if c.want != "" {
			var field *FieldError
			if is := errors.As(err, &field); err == nil || is != c.asked || is && (field.Field != "" || err.Error() != field.Message) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %T %v, want %q", name, err, err, c.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var groups []string
		for _, g := range p.Groups {
			groups = append(groups, g.Name)
			if g.Set.Labels != nil {
				t.Errorf("%s: group %s has labels", name, g.Name)
			}
		}
		if p.Test.Len() != c.n || strings.Join(groups, " ") != c.groups {
			t.Errorf("%s: %d examples, groups %q", name, p.Test.Len(), groups)
		}
		if c.data == again && !slices.Equal(p.Test.Labels, []int32{0, 1, 0}) {
			t.Errorf("%s: labels %v", name, p.Test.Labels)
		}
	}
}

// TestReadIgnores: columns that the run's table had not play no part, whatever they hold, and are named; a missing one is an error.
func TestReadIgnores(t *testing.T) {
	dir := t.TempDir()
	run := loaded(t, Settings{CSV: &CSV{File: put(t, dir, "own.csv", "a,b,y\n"+strings.Repeat("50,0.1,yes\n51,0.2,no\n52,0.3,no\n", 20)), Target: "y"}}, Need{})
	plain, err := run.Schema.Read(put(t, dir, "plain.csv", "a,b,y\n50,1,no\n52,2,yes\n"), "", "")
	if err != nil || plain.Noted != nil {
		t.Fatalf("%v, noted %v", err, plain.Noted)
	}
	file := put(t, dir, "more.csv", "day,b,a,note,y\n2024-01-05,1,50,\"x, y\",no\n,2,52,7,yes\n")
	more, err := run.Schema.Read(file, "", "")
	if err != nil || !slices.Equal(more.Test.F32, plain.Test.F32) || !slices.Equal(more.Test.Labels, plain.Test.Labels) {
		t.Fatalf("%v: %+v, want %+v", err, more, plain)
	}
	told := func(p *Problem, want ...string) {
		t.Helper()
		var got []string
		for _, found := range p.Noted {
			got = append(got, found.Words())
		}
		if !slices.Equal(got, want) {
			t.Errorf("ignored: %q, want %q", got, want)
		}
	}
	both := `columns "day" and "note" of ` + file + ` are ignored: the run's table had no such columns`
	told(more, both)
	strange := put(t, dir, "strange.csv", "b,a,hour,y\n1,50,7,lost\n")
	one := `column "hour" of ` + strange + ` is ignored: the run's table had no such column`
	if err := more.ReadGroups("", strange); err != nil || !slices.Equal(more.Groups[0].Set.F32, plain.Test.F32[:2]) {
		t.Fatalf("%v: %+v", err, more.Groups)
	}
	told(more, both, one)
	own := loaded(t, Settings{CSV: &CSV{File: run.Name, Target: "y", Test: file, Validate: file}, Groups: []GroupFile{{"strange", strange}}}, Need{})
	told(own, both, one) // once, although it is the file of two parts
	if _, err := run.Schema.Read(put(t, dir, "less.csv", "a,day,y\n50,1,no\n"), "", ""); err == nil || !strings.Contains(err.Error(), `less.csv: lacks "b" of the run's columns`) {
		t.Errorf("a column is missing: %v", err)
	}
}

// TestReadByFiles: a run's own test examples by the names of their files are the same examples.
func TestReadByFiles(t *testing.T) {
	run := loaded(t, Settings{Train: &Arrays{trainImages, trainLabels}, Test: &Arrays{testImages, testLabels}, Standardise: "inputs"}, Need{})
	other, err := run.Schema.Read(testImages, testLabels, "")
	if err != nil {
		t.Fatal(err)
	}
	if other.Checksums()["test"] != run.Checksums()["test"] || other.Train != nil {
		t.Error("the same files are other examples")
	}
	if err := other.ReadGroups("", testImages); err != nil || !slices.Equal(other.Groups[0].Set.F32, other.Test.F32) || other.Groups[0].Name != "images-test" {
		t.Errorf("a group is not seen as the test examples are: %v", err)
	}
}

// TestReadKnownTable: a run that learnt a known table reads it by name again, and the whole of it.
func TestReadKnownTable(t *testing.T) {
	run := loaded(t, Settings{Set: "yacht"}, Need{Regression: true})
	other, err := run.Schema.Read("yacht", "", "")
	if err != nil {
		t.Fatal(err)
	}
	if other.Test.Len() != 308 || other.Test.Outputs != 1 {
		t.Errorf("%d examples of %d outputs", other.Test.Len(), other.Test.Outputs)
	}
	if err := other.ReadGroups("", "yacht"); err != nil || !slices.Equal(other.Groups[0].Set.F32, other.Test.F32) || other.Groups[0].Set.Values != nil {
		t.Errorf("the table as a group: %v", err)
	}
}

func TestTakesShape(t *testing.T) {
	for _, c := range []struct {
		input, examples []int
		want            bool
	}{
		{[]int{784}, []int{1, 28, 28}, true}, {[]int{1, 28, 28}, []int{784}, true}, {[]int{1, 28, 28}, []int{1, 28, 28}, true},
		{[]int{1, 4, 2}, []int{1, 2, 4}, false}, {[]int{3}, []int{4}, false},
	} {
		if got := TakesShape(c.input, c.examples); got != c.want {
			t.Errorf("a network of %v takes %v: %v", c.input, c.examples, got)
		}
	}
}
