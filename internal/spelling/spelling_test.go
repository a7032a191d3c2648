package spelling

import (
	"strings"
	"testing"
)

func TestEdits(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"kitten", "sitting", 3}, {"particels", "particles", 1}, {"abc", "abc", 0},
		{"ca", "abc", 3}, // two with edits inside a swap, which the restricted distance does not have
	} {
		if got, back := Edits(c.a, c.b), Edits(c.b, c.a); got != c.want || back != c.want {
			t.Errorf("%q and %q: %d, %d back, want %d", c.a, c.b, got, back, c.want)
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"epochs", "steps", "seed"}
	for name, want := range map[string]string{"epohcs": "epochs", "step": "steps", "sed": "seed", "eeed": "seed", "zz": "", "sceed": "seed", "SEED": "seed", "learning_rate": "", "e": ""} {
		if got := Nearest(name, known); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if got := Nearest("ax", []string{"bx", "cx"}); got != "bx" {
		t.Errorf("of equals %s, want the first", got)
	}
	if got := Nearest("a", []string{"b"}); got != "" {
		t.Errorf("of a name with nothing in common %q", got)
	}
	if got := Nearest("standardize_all_inputs", []string{"standardise_every_input"}); got == "" {
		t.Error("a long name may have more slips")
	}
	if got := Suggest("sead", known) + Suggest("zz", known); got != `: did you mean "seed"?` {
		t.Errorf("suggests %s", got)
	}
	if long := strings.Repeat("file", 1<<18); Nearest(long, []string{"file", long + "s"}) != "" || Nearest("file", []string{long}) != "" {
		t.Error("the neighbours of a name of a million bytes are looked for")
	}
	if got := Nearest("a", nil); got != "" {
		t.Errorf("of none %q", got)
	}
}
