package data

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestReadCalibration: labelled examples and foreign inputs are read through the schema of the run, as other examples and groups are, and take
// the place of the run's own; what cannot be asked for is a *FieldError without a field. No other part changes.
func TestReadCalibration(t *testing.T) {
	dir := t.TempDir()
	run := loaded(t, Settings{CSV: &CSV{File: put(t, dir, "own.csv", "a,b,y\n"+strings.Repeat("50,0.1,yes\n51,0.2,no\n52,0.3,no\n", 20)), Target: "y"}}, Need{})
	file := put(t, dir, "new.csv", "y,b,a,day\nno,0.1,50,1\nyes,0,51,2\nno,0,90,3\n")
	far, away := put(t, dir, "far.csv", "a,b\n90,9\n"), put(t, dir, "away.csv", "a,b\n-90,9\n10,9\n")
	x, y := putNPY(t, dir, "x.npy", []int{3, 2}, []float64{50, 0.1, 51, 0, 90, 0}), putLabels(t, dir, "y.npy", []byte{0, 1, 0})
	want, err := run.Schema.Read(file, "", "")
	if err != nil {
		t.Fatal(err)
	}
	run.Groups = []Group{{"far", want.Test}}
	own := []Group{{"known", want.Test}}
	for name, c := range map[string]struct {
		data, labels string
		foreign      []string
		has          bool // the run has calibration examples of its own
		groups       string
		asked        bool // the error is a *FieldError
		want         string
	}{
		"table":            {file, "", nil, false, "", false, ""},
		"with groups":      {file, "", []string{far, away}, true, "far away", false, ""},
		"arrays":           {x, y, []string{far}, false, "far", false, ""},
		"own":              {"", "", []string{far}, true, "known far", false, ""},
		"labels alone":     {"", y, nil, true, "", true, "need a file of inputs"},
		"inputs alone":     {x, "", nil, true, "", true, "the file of their labels is needed"},
		"twice":            {file, "", []string{far, far}, false, "", true, "there is a group far already: " + far + " needs another name"},
		"as its own":       {"", "", []string{put(t, dir, "known.csv", "a,b\n1,2\n")}, true, "", true, "there is a group known already"},
		"other shape":      {file, "", []string{putNPY(t, dir, "four.npy", []int{1, 4}, []float64{1, 2, 3, 4})}, false, "", false, "four.npy: "},
		"other columns":    {file, "", []string{put(t, dir, "less.csv", "a\n1\n")}, false, "", false, `less.csv: lacks "b" of the run's columns`},
		"class":            {put(t, dir, "class.csv", "a,b,y\n1,2,maybe\n"), "", nil, false, "", false, `"maybe" is not a class of the run ("no", "yes")`},
		"label":            {x, putLabels(t, dir, "high.npy", []byte{0, 1, 2}), nil, false, "", false, `"calibrate": example 2 has label 2, want 0 to 1, the classes of the run: leave the examples of other classes out, or give their inputs alone as foreign ones, by --ood`},
		"few labels":       {x, putLabels(t, dir, "few.npy", []byte{0, 1}), nil, false, "", false, "few.npy"},
		"no target":        {far, "", nil, false, "", false, `lacks the target, column "y" of the run`},
		"no such":          {"mnist8", "", nil, false, "", true, `unknown data set "mnist8"`},
		"images by name":   {"mnist7", "", nil, false, "", false, "mnist7: examples of shape [1 28 28]"},
		"no file":          {filepath.Join(dir, "none.csv"), "", nil, false, "", true, "no file"},
		"no foreign file":  {file, "", []string{"none.npy"}, false, "", true, "no file none.npy"},
		"name of the part": {file, "", []string{put(t, dir, "test.csv", "a,b\n1,2\n")}, false, "", true, "name the file otherwise"},
	} {
		p := *run
		if c.has {
			p.Calibrate, p.Foreign = want.Test, own
		}
		err := p.ReadCalibration(c.data, c.labels, "", c.foreign...)
		if c.want != "" {
			var field *FieldError
			if is := errors.As(err, &field); err == nil || is != c.asked || is && field.Field != "" || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %T %v, want %q", name, err, err, c.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var groups []string
		for _, g := range p.Foreign {
			groups = append(groups, g.Name)
			if g.Name != "known" && g.Set.Labels != nil {
				t.Errorf("%s: group %s has labels", name, g.Name)
			}
		}
		if strings.Join(groups, " ") != c.groups || p.Calibrate.Checksum() != want.Test.Checksum() || c.data != "" && p.Calibrate.Name != "calibrate" {
			t.Errorf("%s: groups %q, examples %+v, want %+v", name, groups, p.Calibrate, want.Test)
		}
		if p.Train != run.Train || p.Validate != run.Validate || p.Test != run.Test || len(p.Groups) != 1 {
			t.Errorf("%s: another part has changed", name)
		}
		var noted []string
		for _, f := range p.Noted {
			noted = append(noted, f.Words())
		}
		if ignored := strings.Contains(strings.Join(noted, "\n"), `column "day" of `+file); ignored != (c.data == file) {
			t.Errorf("%s: noted %q", name, noted)
		}
		if outside := strings.Contains(strings.Join(noted, "\n"), "2 of 3 rows"); outside != (c.data != "") {
			t.Errorf("%s: noted %q", name, noted)
		}
	}
	if len(own) != 1 {
		t.Error("the run's own groups have changed")
	}
}

// TestReadCalibrationOfKnownSets: all rows of a table calibrate; of images their calibration part does, and never their test part.
func TestReadCalibrationOfKnownSets(t *testing.T) {
	table := loaded(t, Settings{Set: "yacht"}, Need{Regression: true})
	if err := table.ReadCalibration("yacht", "", ""); err != nil || table.Calibrate.Len() != 308 || slices.Equal(table.Calibrate.F32, table.Train.F32) {
		t.Errorf("a table: %v, %+v", err, table.Calibrate)
	}
	images := loaded(t, Settings{Set: "mnist7"}, Need{})
	own, test := images.Calibrate, images.Test
	err := images.ReadCalibration("mnist7", "", "")
	if own == nil && (err == nil || !strings.Contains(err.Error(), "mnist7 has no calibration examples")) {
		t.Errorf("images without a part to calibrate: %v", err)
	}
	if own != nil && (err != nil || images.Calibrate.Checksum() != own.Checksum() || images.Test != test) {
		t.Errorf("images: %v, %+v", err, images.Calibrate)
	}
}
