package starling

import (
	"errors"
	"flag"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/tools/txtar"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/mcmc"
)

var update = flag.Bool("update", false, "write golden files anew")

func TestPresetsRoundTrip(t *testing.T) {
	for _, name := range PresetsFor("fit") {
		spec, err := Preset(name)
		if err != nil {
			t.Fatal(err)
		}
		roundTrip(t, spec)
		if spec.Name != name {
			t.Errorf("preset %s is named %s", name, spec.Name)
		}
	}
	for _, name := range PresetsFor("filter") {
		spec, err := PresetFiltering(name)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseFiltering("again", spec.YAML())
		if err != nil {
			t.Fatalf("%v\n%s", err, spec.YAML())
		}
		if d := cmp.Diff(spec, again, cmp.Exporter(func(reflect.Type) bool { return true }), cmpopts.IgnoreFields(Filtering{}, "source")); d != "" {
			t.Errorf("%s reads back differently (-first +again):\n%s", name, d)
		}
		if spec.Name != name {
			t.Errorf("preset %s is named %s", name, spec.Name)
		}
	}
	if all, both := len(Presets()), len(PresetsFor("fit"))+len(PresetsFor("filter")); all != both {
		t.Errorf("%d presets, and %d are for fit or filter", all, both)
	}
}

// The verb of a config is told by its keys at the top.
func TestConfigVerb(t *testing.T) {
	for text, want := range map[string]string{
		"name: x\ndata: {set: mnist7}\n": "fit", "scans: {simulate: 2}\n": "filter", "name: x\n": "", "scans:\ndata:\n": "", "# data:\n  scans:\n": "",
	} {
		if got := ConfigVerb([]byte(text)); got != want {
			t.Errorf("%q is for %q, want %q", text, got, want)
		}
	}
}

// filteringRoundTrip: a resolved config of a filter reads back as the same.
func filteringRoundTrip(t *testing.T, s Filtering) {
	t.Helper()
	again := filteringOf(t, string(s.YAML()))
	all := cmp.Exporter(func(reflect.Type) bool { return true })
	if d := cmp.Diff(s, again, all, cmpopts.IgnoreFields(Filtering{}, "source")); d != "" {
		t.Errorf("a resolved config reads back differently (-first +again):\n%s\n%s", d, s.YAML())
	}
}

func roundTrip(t *testing.T, spec Spec) {
	t.Helper()
	text := spec.YAML()
	again, err := ParseSpec("again", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	all := cmp.Exporter(func(reflect.Type) bool { return true })
	if d := cmp.Diff(spec, again, all, cmpopts.IgnoreFields(Spec{}, "source")); d != "" {
		t.Errorf("a resolved spec reads back differently (-first +again):\n%s\n%s", d, text)
	}
	if more := again.YAML(); string(more) != string(text) {
		t.Errorf("written twice:\n%s\n%s", text, more)
	}
}

// TestWholeSet: a set without validation examples of its own turns patience off, and so does data.whole. A set that has its
// own validation examples keeps patience.
func TestWholeSet(t *testing.T) {
	for _, c := range []struct {
		preset, set string
		patience    int
	}{
		{"pima", "map={restarts: 8}", 0},
		{"mnist7", "data={set: mnist7, whole: true}", 20},
		{"mnist7", "data={set: mnist}", 20},
		{"mnist7", "data={set: mnist, whole: true}", 0},
	} {
		spec, err := Preset(c.preset, c.set, "map={restarts: 8}")
		if err != nil {
			t.Fatal(err)
		}
		epochs := 300
		if c.patience == 0 {
			epochs = 5
		}
		if m := spec.MAP; m.Epochs != epochs || m.Patience != c.patience {
			t.Errorf("%s with %s: %d epochs, patience %d", c.preset, c.set, m.Epochs, m.Patience)
		}
	}
	_, err := Preset("pima", "map={restarts: 8, patience: 3}")
	if err == nil || !strings.Contains(err.Error(), "data.set holds none out") {
		t.Errorf("patience without validation examples: %v", err)
	}
}

// TestConfigs compares the configs of testdata/config/*.txtar with what they should give: NAME.want, after NAME.yaml, holds the resolved
// config, or the error. A first line "# --set a=b --set c=d" gives arguments. -update writes the archives anew. {move names} in an error
// stands for what the program says of the table of moves, so that a new move leaves the archives as they are (placeholders).
func TestConfigs(t *testing.T) {
	for file, archive := range testkit.Archives(t, "testdata/config") {
		for i := 0; i+1 < len(archive.Files); i += 2 {
			config, want := &archive.Files[i], &archive.Files[i+1]
			if name, _ := strings.CutSuffix(config.Name, ".yaml"); want.Name != name+".want" {
				t.Fatalf("%s: %s follows %s", file, want.Name, config.Name)
			}
			var sets []string
			first, _, _ := strings.Cut(string(config.Data), "\n")
			for _, arg := range strings.Split(first, "--set ")[1:] {
				sets = append(sets, strings.TrimSpace(arg))
			}
			spec, err := ParseSpec(config.Name, config.Data, sets...)
			got := ""
			if err != nil {
				var fault *ConfigError
				if !errors.As(err, &fault) {
					t.Errorf("%s: %T is no ConfigError", config.Name, err)
				}
				got = err.Error() + "\n"
			} else {
				got = string(spec.YAML())
				roundTrip(t, spec)
			}
			if *update {
				want.Data = []byte(withPlaceholders(got))
			}
			if d := cmp.Diff(withNames(string(want.Data)), got); d != "" {
				t.Errorf("%s (-want +got):\n%s", config.Name, d)
			}
		}
		if *update {
			if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// placeholder stands for words of a table's rows in files of tests.
type placeholder struct{ name, words, before, after string } // before and after stand around the words in messages

// placeholders are those of all tables.
func placeholders() (all []placeholder) {
	for family, table := range tables {
		names, sorted := table.Names(), slices.Sorted(slices.Values(table.Names()))
		all = append(all,
			placeholder{"{" + family + " names}", strings.Join(names, ", "), "(known: ", ")"},
			placeholder{"{" + family + " names}", strings.Join(names, ", "), "want one of ", ""},
			placeholder{"{" + family + " names, sorted}", strings.Join(sorted, ", "), "want one of ", ""},
			placeholder{"{" + family + " forms}", table.Forms(), "needs a " + family + ": ", ""},
			placeholder{"{" + family + " forms}", table.Forms(), "want ", ", have "})
	}
	return append(all, placeholder{"{moves without accept or reject}", strings.Join(mcmc.MovesWhere(false), " or "), "(", ")"})
}

// withNames fills in the placeholders of a text.
func withNames(text string) string {
	for _, p := range placeholders() {
		text = strings.ReplaceAll(text, p.name, p.words)
	}
	return text
}

// withPlaceholders puts placeholders into a text.
func withPlaceholders(text string) string {
	for _, p := range placeholders() {
		text = strings.ReplaceAll(text, p.before+p.words+p.after, p.before+p.name+p.after)
	}
	return text
}

// FuzzParseSpec: no text makes parsing panic or hang, every fault has a message, and what passes reads back.
func FuzzParseSpec(f *testing.F) {
	for _, archive := range testkit.Archives(f, "testdata/config") {
		for _, file := range archive.Files {
			f.Add(file.Data, "")
			f.Add(file.Data, "method.smc.islands=4")
		}
	}
	for _, name := range Presets() {
		text, err := PresetText(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, "model.layers.0={dense: 3}")
	}
	f.Fuzz(func(t *testing.T, text []byte, set string) {
		var sets []string
		if set != "" {
			sets = append(sets, set)
		}
		spec, err := ParseSpec("fuzz.yaml", text, sets...)
		if err != nil {
			if strings.TrimSpace(err.Error()) == "" {
				t.Error("an error without a message")
			}
			return
		}
		roundTrip(t, spec)
	})
}

// FuzzSpecNames: a Spec with any names of groups, columns and files is refused, or is written as a config that reads back to it.
func FuzzSpecNames(f *testing.F) {
	base, err := ParseSpec("trees.yaml", []byte("data: {csv: {file: trees.csv, target: kind}}\nmodel: {layers: [{dense: 3}], likelihood: categorical}\n"+
		"prior: {normal: {variance: 1}}\nmethod: {smc: {particles: 4}}"))
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range []string{"x<<", "<<", "null", "~", "? ", "- a", "a: b", "1", "yes", "#", "\u202e", "a b ", "é", "\x1b[2J", "\xff", strings.Repeat("x", 101)} {
		f.Add(name, "x.npy", "kind", "id")
		f.Add("noise", name, name, name)
	}
	f.Fuzz(func(t *testing.T, group, file, target, drop string) {
		spec, csv := base, *base.Data.CSV
		csv.File, csv.Target, csv.Drop = file, target, []string{drop, "other"}
		spec.Data.CSV, spec.Data.Groups = &csv, []data.GroupFile{{Name: group, File: file}, {Name: "other", File: drop}}
		switch err := spec.Verify(); {
		case err == nil:
			roundTrip(t, spec)
		case strings.Contains(err.Error(), "cannot be kept") || strings.Contains(err.Error(), "could not be read back"):
			if utf8.ValidString(group + "\n" + file + "\n" + target + "\n" + drop) {
				t.Errorf("%q %q %q %q: %v", group, file, target, drop, err)
			}
		}
	})
}

// TestLengthRefused: a length that is none is refused in the same words by both methods, whatever their defaults.
func TestLengthRefused(t *testing.T) {
	for preset, method := range map[string]string{"mnist7-chains": "mcmc", "mnist7-smc": "smc"} {
		for _, length := range []string{"0", "-1", "-2"} {
			path := "method." + method + ".move.hmc.length"
			_, err := Preset(preset, "method."+method+".move.hmc={length: "+length+"}")
			if want := path + ": want a number above 0 or auto, have " + length; err == nil || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		}
	}
}

// TestTraceEveryRefused: 0 would mean the default, and a config leaves that out.
func TestTraceEveryRefused(t *testing.T) {
	for every, want := range map[string]string{"0": "want a whole number above 0, have 0", "-1": "want at least 1, have -1"} {
		_, err := Preset("mnist7", "method.mcmc.trace.every="+every)
		if err == nil || !strings.HasSuffix(err.Error(), "method.mcmc.trace.every: "+want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
