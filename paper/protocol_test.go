package paper

import (
	"bytes"
	"encoding/json"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// standIns is a table with a cell of each protocol: the paper's own, two of a substitute, and one that is not run.
var standIns = Table{
	Name: "stand-ins", Reduced: "half of it", Kind: &Kind{},
	Figures: []Measure{{Name: "accuracy", Title: "accuracy", Unit: "%", Digits: 1, Most: 100, Compared: true}},
	Cells: []Cell{
		{Name: "own", Config: preset("mnist7-map"), Published: Figures{"accuracy": Mean{91.3, .25}}},
		{Name: "other", Config: preset("mnist7-map"), Published: Figures{"accuracy": Mean{82.7, .75}}, Substitute: "a small set"},
		{Name: "another", Config: preset("mnist7-map"), Substitute: "a small set"},
		{Name: "never", NotRun: "weights are missing", Published: Figures{"accuracy": Mean{73.9, .5}}},
	},
}

func standIn(cell string, seed uint64, protocol string) Run {
	return Run{Cell: cell, Seed: seed, Protocol: protocol, Figures: map[string]Values{"accuracy": {60}}}
}

const aSubstitute = "substitute: a small set"

// A protocol says what stands for the paper's, and how runs were shortened.
func TestProtocols(t *testing.T) {
	for i, want := range [][2]string{
		{"same", "reduced: half of it"}, {aSubstitute, aSubstitute + "; reduced: half of it"}, {aSubstitute, aSubstitute + "; reduced: half of it"},
	} {
		for k, reduced := range []bool{false, true} {
			got := standIns.Protocol(standIns.Cells[i], reduced)
			if got != want[k] || isReduced(got) != reduced {
				t.Errorf("cell %s, reduced %v: protocol %q, want %q", standIns.Cells[i].Name, reduced, got, want[k])
			}
		}
	}
	for protocol, want := range map[string]string{"same": "same", "reduced: a": "reduced", aSubstitute: "substitute", aSubstitute + "; reduced: x: y": "substitute, reduced", "": ""} {
		if got := inBrief(protocol); got != want {
			t.Errorf("%q in brief is %q, want %q", protocol, got, want)
		}
	}
	all := standIns.Protocols()
	if len(all) != 4 || all["own"] != "same" || all["other"] != aSubstitute || all["never"] != "not run: weights are missing" {
		t.Errorf("protocols by cell: %v", all)
	}
}

// Runs of a substitute count for its cell alone under their own protocol: neither a record nor a table takes them for the paper's.
func TestSubstitutesInRecords(t *testing.T) {
	for _, good := range []Run{
		standIn("own", 1, "same"), standIn("own", 1, "reduced: otherwise"), standIn("other", 1, aSubstitute), standIn("other", 1, aSubstitute+"; reduced: otherwise"),
	} {
		text, err := json.Marshal(standIns.Record([]Run{good}))
		if err != nil {
			t.Fatal(err)
		}
		back, err := standIns.decode(text)
		if err != nil || len(back) != 1 || back[0].Protocol != good.Protocol {
			t.Errorf("%s reads as %+v, %v", text, back, err)
		}
	}
	for _, bad := range []struct {
		run  Run
		want string
	}{
		{standIn("other", 1, "same"), `want protocol "substitute: a small set" or "substitute: a small set; reduced: …"`},
		{standIn("other", 1, "reduced: half of it"), `want protocol "substitute: a small set"`},
		{standIn("other", 1, aSubstitute+"; reduced: "), "want protocol"},
		{standIn("own", 1, aSubstitute), `want protocol "same" or "reduced: …"`},
		{standIn("never", 1, "same"), "the cell has no runs: it is not run: weights are missing"},
	} {
		text, err := json.Marshal(standIns.Record([]Run{bad.run}))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := standIns.decode(text); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%s: %v, want %q", text, err, bad.want)
		}
	}
}

// What stands for what is shown wherever the figures are: in a terminal above the cells, in Markdown in each line.
func TestSubstitutesAreShown(t *testing.T) {
	runs := []Run{standIn("own", 1, "same"), standIn("other", 1, aSubstitute), standIn("other", 2, aSubstitute+"; reduced: half of it")}
	show := func(write func(io.Writer, []Run) error, runs []Run) string {
		t.Helper()
		var b bytes.Buffer
		if err := write(&b, runs); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	text, markdown := show(standIns.WriteText, runs), show(standIns.WriteMarkdown, runs)
	var order []string
	for _, line := range strings.Split(text, "\n") {
		if fields := strings.Fields(line); len(fields) > 0 {
			order = append(order, fields[0])
		}
	}
	if got := strings.Join(order, " "); !strings.HasPrefix(got, "cell own ours substitute: other ours another not never ours: ‡:") {
		t.Errorf("lines begin with %s:\n%s", got, text)
	}
	for _, want := range []string{"\n" + aSubstitute + "\n", "\nnot run: weights are missing\n", "82.7 ± 0.8‡", "1 substitute  1\n", "1 same        1\n", "‡: no target"} {
		if !strings.Contains(text, want) {
			t.Errorf("the terminal lacks %q:\n%s", want, text)
		}
	}
	for _, want := range []string{
		"\n| own | 91.3 ± 0.2 | 60.0 | 0.66 | 1 | same |", "\n| other | 82.7 ± 0.8‡ | 60.0 | – | 1 | substitute: a small set |",
		"\n| another | – | – | – | 0 | not run; substitute: a small set |", "\n| never | 73.9 ± 0.5 | – | – | 0 | not run: weights are missing |", "\n- ‡: no target",
	} {
		if !strings.Contains(markdown, want) {
			t.Errorf("Markdown lacks %q:\n%s", want, markdown)
		}
	}
	reduced := runs[2:]
	if text := show(standIns.WriteText, reduced); !strings.Contains(text, "1 substitute, reduced  1\n") || !strings.Contains(text, "\n"+runs[2].Protocol+"\n") {
		t.Errorf("reduced runs of a substitute:\n%s", text)
	}
	if plain := show(DataAnnealing.WriteText, nil); strings.Contains(plain, "‡") || strings.Contains(plain, "\nsame\n") {
		t.Errorf("a table without substitutes has their marks:\n%s", plain)
	}
}

// A cell takes networks from runs of other cells, of the same seed or a later one and of the same protocol, in the folders beside its own.
func TestCellsBeginAtOthers(t *testing.T) {
	var from []string
	cell := Cell{Name: "update", Needs: []Need{{Cell: "network"}, {Cell: "network", Later: 2}}, Config: func(at Place) Config {
		from = append(from, at.Needs...)
		return preset("mnist7-map")(at)
	}}
	for _, reduced := range []bool{false, true} {
		if _, err := DataAnnealing.Work(cell, 7, reduced, filepath.Join("out", "table", Folder("update", 7, reduced)), ""); err != nil {
			t.Fatal(err)
		}
	}
	var want []string
	for _, name := range []string{"network-7", "network-9", "network-7-reduced", "network-9-reduced"} {
		want = append(want, filepath.Join("out", "table", name))
	}
	if !slices.Equal(from, want) {
		t.Errorf("networks of %q, want %q", from, want)
	}
}
