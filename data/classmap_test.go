package data

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestParseClassMap: a map is read as it stands, and a class that is no number, or stands twice, is named.
func TestParseClassMap(t *testing.T) {
	m, err := ParseClassMap("0=0, 1=2,2=1,7=none,8=none")
	if err != nil || len(m) != 5 || m[0] != 0 || m[1] != 2 || m[2] != 1 || m[7] != NoClass || m[8] != NoClass {
		t.Errorf("%v, %v", m, err)
	}
	for text, want := range map[string]string{
		"":            `"": want a class of the data = a class`,
		"0=0,1":       `"1": want`,
		"0=0,-1=1":    `"-1=1": want`,
		"0=0,1=-1":    `"1=-1": want`,
		"0=cat":       `"0=cat": want`,
		"0=0,3=1,3=2": "class 3 of the data stands twice",
		"0=4,3=4":     "class 4 of the network stands for two classes of the data, 0 and 3",
		"5000000000=": `"5000000000=": want`,
	} {
		var field *FieldError
		if _, err := ParseClassMap(text); !errors.As(err, &field) || field.Field != "" || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestReadClasses: labels become the network's, examples of other classes are set apart, and a map that does not fit is refused with the
// class's name.
func TestReadClasses(t *testing.T) {
	dir := t.TempDir()
	run := loaded(t, Settings{Train: &Arrays{trainImages, trainLabels}, Test: &Arrays{testImages, testLabels}, Standardise: "inputs"}, Need{})
	classes := run.Schema.Classes
	own := run.Test.Labels
	n := len(own)
	text := func(labels []int32) string {
		b := []byte{0, 0, 8, 1, 0, 0, byte(n >> 8), byte(n)}
		for _, y := range labels {
			b = append(b, byte(y))
		}
		return string(b)
	}
	labels := put(t, dir, "labels.idx", text(own))
	if classes < 4 {
		t.Fatalf("%d classes", classes)
	}
	// Class 0 is the network's 1, class 1 its 0, class 2 none of its own, and the others are as they are.
	m := ClassMap{0: 1, 1: 0, 2: NoClass}
	for c := 3; c < classes; c++ {
		m[int32(c)] = int32(c)
	}
	p, err := run.Schema.ReadClasses(testImages, labels, "", m)
	if err != nil {
		t.Fatal(err)
	}
	var shared, others []int32
	for i, y := range own {
		if y == 2 {
			others = append(others, int32(i))
		} else {
			shared = append(shared, int32(i))
		}
	}
	if len(others) == 0 || len(shared) == 0 {
		t.Fatal("the examples say nothing")
	}
	if want := run.Test.Select("", shared); !slices.Equal(p.Test.F32, want.F32) || p.Test.Classes != classes || p.Test.Check() != nil {
		t.Errorf("%d shared examples, want %d: %v", p.Test.Len(), len(shared), p.Test.Check())
	}
	for k, i := range shared {
		if p.Test.Labels[k] != m[own[i]] {
			t.Fatalf("example %d of class %d has label %d", i, own[i], p.Test.Labels[k])
		}
	}
	if u := p.Unshared; u == nil || !slices.Equal(u.Set.F32, run.Test.Select("", others).F32) || u.Set.Labels != nil || u.Class != 2 {
		t.Errorf("others: %+v", p.Unshared)
	}

	with := func(from, to int32) ClassMap {
		other := ClassMap{}
		for k, v := range m {
			other[k] = v
		}
		other[from] = to
		return other
	}
	without := with(1, 0)
	delete(without, 1)
	none := ClassMap{}
	for c := range m {
		none[c] = NoClass
	}
	for name, c := range map[string]struct {
		data, labels string
		m            ClassMap
		want         string
	}{
		"out of range": {testImages, labels, with(2, int32(classes)), "of the network, for class 2 of the data: it has"},
		"missing":      {testImages, labels, without, "class 1 of the data is missing: say which class of the network it is, or 1=none"},
		"all none":     {testImages, labels, none, "has no example of a class that the network has"},
		"table":        {put(t, dir, "t.csv", "a,y\n1,2\n"), "", m, "t.csv: classes are numbered anew for an .npy or IDX"},
	} {
		var field *FieldError
		if _, err := run.Schema.ReadClasses(c.data, c.labels, "", c.m); !errors.As(err, &field) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	// A set by name says how many classes it has: each must be in the map, and no other.
	digits := loaded(t, Settings{Set: "mnist7"}, Need{})
	full := ClassMap{}
	for c := range digits.Test.Classes {
		full[int32(c)] = int32(c)
	}
	if p, err := digits.Schema.ReadClasses("mnist7", "", "", full); err != nil || p.Unshared != nil || !slices.Equal(p.Test.Labels, digits.Test.Labels) || len(p.Groups) != len(digits.Groups) {
		t.Errorf("the same classes: %v", err)
	}
	full[int32(digits.Test.Classes)] = NoClass
	if _, err := digits.Schema.ReadClasses("mnist7", "", "", full); err == nil || !strings.Contains(err.Error(), "of the data: it has") {
		t.Errorf("a class beyond those of the set: %v", err)
	}
	delete(full, int32(digits.Test.Classes))
	delete(full, 0)
	if _, err := digits.Schema.ReadClasses("mnist7", "", "", full); err == nil || !strings.Contains(err.Error(), "class 0 of the data is missing") {
		t.Errorf("a class of the set that is missing: %v", err)
	}
	// Without a map, a label that no class of the network has is an error; so are images of another size, with both sizes.
	beyond := slices.Clone(own)
	beyond[3] = int32(classes)
	if _, err := run.Schema.Read(testImages, put(t, dir, "beyond.idx", text(beyond)), ""); err == nil || !strings.Contains(err.Error(), "example 3 has label") {
		t.Errorf("a label beyond: %v", err)
	}
	small := &Array{Name: "small", Shape: []int{1, 4, 4}, Values: make([]uint8, 16)}
	if _, err := digits.Schema.Examples("small", small); err == nil || err.Error() != "small: examples of shape [1 4 4], the run was trained on examples of shape [1 28 28]: "+
		"starling data pad small --size 28x28 --out FILE makes them fit" {
		t.Errorf("images of another size: %v", err)
	}
	numbers := loaded(t, Settings{Set: "yacht"}, Need{Regression: true})
	if _, err := numbers.Schema.ReadClasses(testImages, labels, "", m); err == nil || !strings.Contains(err.Error(), "predicts numbers") {
		t.Errorf("for a regression: %v", err)
	}
}

// Examples of other classes are standardised as those of the network's are.
func TestOtherClassesKeepChannels(t *testing.T) {
	run := loaded(t, Settings{Train: &Arrays{trainImages, trainLabels}, Test: &Arrays{testImages, testLabels}, Standardise: "channels"}, Need{})
	m := ClassMap{2: NoClass}
	for c := range int32(run.Schema.Classes) {
		if c != 2 {
			m[c] = c
		}
	}
	p, err := run.Schema.ReadClasses(testImages, testLabels, "", m)
	if err != nil {
		t.Fatal(err)
	}
	if own := p.Test.Channels; own == nil || p.Unshared.Set.Channels != own || p.Unshared.Set.Labels != nil || p.Unshared.Set.Len() == 0 {
		t.Errorf("standardised by %+v, the others by %+v", own, p.Unshared.Set.Channels)
	}
}
