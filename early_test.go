package starling

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-smc/starling/data"
)

// TestEarlyNotices: what the data say that a user may want to mend is told before the work begins, once, and stays with the run's
// findings; the config that starling new writes has the same as comments.
func TestEarlyNotices(t *testing.T) {
	dir := t.TempDir()
	table := func(name, header string, row func(i int) string) string {
		text := header + "\n"
		for i := range 60 {
			text += row(i) + "\n"
		}
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return file
	}
	for name, c := range map[string]struct {
		file             string
		notices, comment []string
	}{
		"amounts": {table("a.csv", "x,price,y", func(i int) string {
			return fmt.Sprintf("%d,%d %s,%d", i*i%37, i*i%29, []string{"$", "$", "$", "€"}[i%4], i%4+1)
		}),
			[]string{"the words of column price are numbers with a sign or a unit. ", "y takes 4 whole numbers, which are predicted as amounts. If they are classes, set model.likelihood=categorical and model.layers.2.dense=4"},
			[]string{"# drop: [price] ", "# a number. If it is a class: "}},
		"words": {table("w.csv", "x,who,y", func(i int) string { return fmt.Sprintf("%d,n%d,%s", i*i%37, i*9/10, string(rune('a'+i%20))) }),
			[]string{"the words of column who are nearly all different (", "have fewer than 5 training examples"},
			[]string{"# drop: [who] ", "each with fewer than five rows on average"}},
	} {
		text, err := NewConfig(data.CSV{File: c.file, Target: "y"})
		if err != nil {
			t.Fatal(err)
		}
		for _, comment := range c.comment {
			if !strings.Contains(string(text), comment) {
				t.Errorf("%s: no %q in\n%s", name, comment, text)
			}
		}
		sets := []string{"method=map", "map.epochs=1", "map.patience=1"}
		spec, err := ParseSpec("new", text, sets...)
		if err != nil {
			t.Fatal(err)
		}
		var notices []string
		began := false
		result := fitted(t, spec, Options{Progress: func(e Event) {
			switch e := e.(type) {
			case *Progress:
				began = true
			case *Notice:
				if notices = append(notices, e.Text); began {
					t.Errorf("%s: after the work began: %s", name, e.Text)
				}
			}
		}})
		all, kept := strings.Join(notices, "\n"), strings.Join(result.Notes(), "\n")
		for _, want := range c.notices {
			if strings.Count(all, want) != 1 || strings.Count(kept, want) != 1 || len(notices) != len(c.notices) {
				t.Errorf("%s: no %q in\n%s\nor in\n%s", name, want, all, kept)
			}
		}
		if name == "amounts" {
			spec, err = ParseSpec("new", text, append(sets, "model.likelihood=categorical", "model.layers.2.dense=4")...)
			if err != nil {
				t.Fatal(err)
			}
			if classes := fitted(t, spec, Options{}); classes.Data.Train.Classes != 4 {
				t.Errorf("the note's own way out: %d classes", classes.Data.Train.Classes)
			}
		}
	}
}
