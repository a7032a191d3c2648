package paper

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/uq"
)

// smallRun are the changes that make a run of MNIST7 small.
var smallRun = []string{
	"model.layers.0={conv: {filters: 1, kernel: 5, stride: 4}}", "map={restarts: 2, epochs: 1, batch: 64}", "prior.anchor.s=0.1",
}

// grouping is a table of a run of four islands, two of four chains, runs of one and of two, and what is regrouped from the first two.
func grouping() *Table {
	small := func(name, method string) Cell {
		return Cell{Name: name, Config: preset("mnist7-smc"), Changes: append(smallRun[:len(smallRun):len(smallRun)], method)}
	}
	smc := func(islands int) string {
		return fmt.Sprintf("method={smc: {islands: %d, particles: 4, path: {tempering: {ess: 0.5}}, move: {hmc: {steps: 1, mutations: 1}}, resample: {scheme: multinomial, when: always}}}", islands)
	}
	hmc := func(chains, together int) string {
		return fmt.Sprintf("method={mcmc: {chains: %d, together: %d, start: prior, epochs: 20, keep: last, move: {hmc: {steps: 1}}}}", chains, together)
	}
	of := func(name, run, config string) Cell {
		return Cell{Name: name, Kind: Regrouped, Needs: []Need{{Cell: run}}, Config: func(at Place) Config {
			return Config{Text: fmt.Appendf(nil, "of: %q\n%s", at.network(), config)}
		}}
	}
	return &Table{Name: "grouping", Kind: Fits, Figures: SBMC.Figures, Cells: []Cell{
		small("smc-4", smc(4)), small("smc-1", smc(1)), small("smc-2", smc(2)), small("hmc-4", hmc(4, 1)), small("hmc-2", hmc(2, 1)),
		small("together-4", hmc(4, 2)), small("together-2", hmc(2, 2)), of("pair-together", "together-4", "islands: 1"),
		of("ones", "smc-4", "islands: 1"), of("pairs", "smc-4", "islands: 2"), of("chains", "hmc-4", "islands: 2"),
		of("by-evidence", "smc-4", "combine: evidence"),
		of("decided", "smc-4", "test: 500\ndecide: {abstain: {by: entropy, at: f1}}"),
		of("classified", "smc-4", "islands: 2\ntest: 500\ndecide: {abstain: {by: classifier, at: 0.55}}"),
		of("three", "smc-4", "islands: 3"), of("no-evidence", "hmc-4", "combine: evidence"), of("too-many", "smc-4", "test: 8000"),
	}}
}

// ran makes a run of a cell in a folder, and reads it.
func (t *Table) ran(tt *testing.T, out, name string) (Done, *Run, error) {
	tt.Helper()
	c, dir := t.cell(tt, name), filepath.Join(out, Folder(name, 1, false))
	if err := c.Ready(tt.Context(), 1, false, dir, starling.Options{}); err != nil {
		return nil, nil, err
	}
	work, err := t.Work(c, 1, false, dir, "")
	if err != nil {
		tt.Fatal(err)
	}
	folder, err := starling.TakeFolder(dir, work.Kind())
	if err != nil {
		tt.Fatal(err)
	}
	if _, err := work.Run(tt.Context(), starling.Options{Folder: folder}); err != nil {
		folder.Close()
		return nil, nil, err
	}
	if err := folder.Close(); err != nil {
		tt.Fatal(err)
	}
	done, err := work.Open(tt.Context(), dir, starling.Options{})
	if err != nil {
		tt.Fatal(err)
	}
	run, err := t.Read(tt.Context(), dir, c, 1, false, starling.Options{})
	if err != nil {
		tt.Fatal(err)
	}
	return done, run, nil
}

// scoresOf are the metrics of a group, or of a run, that do not count what else the run did.
func scoresOf(t *testing.T, m *eval.Metrics) string {
	t.Helper()
	s := *m
	s.Cost, s.Chains, s.Findings, s.Predicted = nil, nil, nil, nil
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A group of islands, or of chains, is bit for bit what a run of as few is; figures are the means over disjoint groups; weights by evidence are those
// that the run itself compares; and a group learns to decide from its own predictions.
func TestRegrouped(t *testing.T) {
	table, out := grouping(), t.TempDir()
	read := func(name string) (Done, *Run) {
		t.Helper()
		d, run, err := table.ran(t, out, name)
		if err != nil {
			t.Fatal(err)
		}
		return d, run
	}
	reread := func(name string, want error) *Run {
		t.Helper()
		run, err := table.Read(t.Context(), filepath.Join(out, Folder(name, 1, false)), table.cell(t, name), 1, false, starling.Options{})
		if (err == nil) != (want == nil) || want != nil && !strings.Contains(err.Error(), want.Error()) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
		return run
	}
	whole, wholeRun := read("smc-4")
	for _, c := range []struct {
		whole, few, groups string
		number             int
	}{{"", "smc-1", "ones", 4}, {"", "smc-2", "pairs", 2}, {"hmc-4", "hmc-2", "chains", 2}, {"together-4", "together-2", "pair-together", 2}} {
		if c.whole != "" {
			read(c.whole)
		}
		few, _ := read(c.few)
		done, run := read(c.groups)
		groups := done.(severalDone)
		if len(groups) != c.number {
			t.Fatalf("%s: %d groups, want %d", c.groups, len(groups), c.number)
		}
		if got, want := scoresOf(t, groups[0].Metrics), scoresOf(t, few.(*fitDone).Metrics); got != want {
			t.Errorf("%s: the first group has\n%s\nand %s\n%s", c.groups, got, c.few, want)
		}
		for name, of := range map[string]func(*eval.Metrics) uq.Number{
			"accuracy": func(m *eval.Metrics) uq.Number { return 100 * *m.Accuracy }, "nll": func(m *eval.Metrics) uq.Number { return m.NLL },
			"total_digit3": func(m *eval.Metrics) uq.Number { return m.GroupsByClass[3].Total },
		} {
			var mean uq.Number
			different := map[uq.Number]bool{}
			for _, g := range groups {
				mean += of(g.Metrics) / uq.Number(c.number)
				different[of(g.Metrics)] = true
			}
			if got := run.Figures[name]; len(got) != 1 || !(math.Abs(float64(got[0]-mean)) <= 1e-12) || len(different) != c.number {
				t.Errorf("%s: %s is %v, want %v, the mean of %v", c.groups, name, got, mean, different)
			}
		}
	}
	ones := reread("ones", nil)
	search := float64(whole.(*fitDone).Cost.Phases[0].Gradients)
	if got, want := figure("gradients")(*ones), search+math.Floor((figure("gradients")(*wholeRun)-search)/4); got != want || search == 0 {
		t.Errorf("a group took %v gradients, want %v", got, want)
	}
	evidence, _ := read("by-evidence")
	m := whole.(*fitDone).Metrics
	got, want := evidence.(severalDone)[0].Metrics, m.Combined.By("evidence")
	if *got.Accuracy != *want.Accuracy || got.NLL != want.NLL || got.NLL == m.NLL || *got.EffectiveIslands != *m.EffectiveIslands {
		t.Errorf("by evidence: accuracy %v, NLL %v; the run has %v, %v, and %v with equal weights", *got.Accuracy, got.NLL, *want.Accuracy, want.NLL, m.NLL)
	}
	decided, run := read("decided")
	a := decided.(severalDone)[0].Metrics.Abstention
	if a == nil || a.N != 500 || a.Foreign != 2000 || figure("f1")(*run) != float64(a.F1) || figure("auc")(*run) != float64(a.AUC) {
		t.Errorf("decided: %+v, figures %v", a, run.Figures)
	}
	if run.Figures["two_level_by_threshold"] != nil {
		t.Errorf("a rule by entropy has a curve over probabilities: %v", run.Figures["two_level_by_threshold"])
	}
	classified, run := read("classified")
	curve, at := run.Figures["two_level_by_threshold"], 0
	for i := range tauSteps + 1 {
		if tauAt(i) == .55 {
			at = i
		}
	}
	if len(curve) != tauSteps+1 || curve[at] != run.Figures["two_level"][0] || curve[0] == curve[at] || len(classified.(severalDone)) != 2 {
		t.Errorf("two-level accuracy %v at .55, by thresholds %v", run.Figures["two_level"], curve)
	}
	if wholeRun.Figures["f1"] != nil {
		t.Error("a run that decides nothing has an F1")
	}
	for name, want := range map[string]string{
		"three": "islands: 3 do not divide the 4 of the run in ", "no-evidence": "have no evidence that can be compared: want equal", "too-many": "test: 8000 of the test examples of the run in ",
	} {
		if _, _, err := table.ran(t, out, name); !errors.As(err, new(*starling.DataError)) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}

	// The scores stand alone: the run may be gone. Another posterior in its place is told of.
	pairs := filepath.Join(out, "pairs-1")
	other := filepath.Join(out, "smc-4-1")
	if err := os.Rename(other, other+"-away"); err != nil {
		t.Fatal(err)
	}
	reread("pairs", nil)
	c := table.cell(t, "pairs")
	var missing *MissingError
	if err := c.Ready(t.Context(), 1, false, filepath.Join(out, "pairs-new"), starling.Options{}); !errors.As(err, &missing) || missing.Cell != "smc-4" || missing.Seed != 1 {
		t.Errorf("without the run: %v", err)
	}
	text, err := os.ReadFile(neededFile(pairs))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(other+"-away", other); err != nil {
		t.Fatal(err)
	}
	if sum := whole.manifest().Files[posteriorFile]; !strings.Contains(string(text), sum) || whole.manifest().Files[networksFile] == "" {
		t.Errorf("%s does not keep the checksum of the posterior: %s", neededFile(pairs), text)
	}
	if err := os.WriteFile(neededFile(pairs), []byte(strings.Replace(string(text), whole.manifest().Files[posteriorFile], "another", 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	reread("pairs", errors.New("which has changed since"))
}

// Groups are disjoint, and have all islands.
func TestGroupsAreDisjoint(t *testing.T) {
	var all []int
	run := &starling.Run{}
	run.Posterior = &bnn.Ensemble{LogEvidence: make([]float64, 8)}
	groups, err := regrouped{Islands: 2, Combine: bnn.Equal{}}.groups(run)
	if err != nil || len(groups) != 4 {
		t.Fatalf("groups %v, %v", groups, err)
	}
	for _, g := range groups {
		all = append(all, g...)
	}
	if !slices.Equal(all, []int{0, 1, 2, 3, 4, 5, 6, 7}) {
		t.Errorf("groups %v", groups)
	}
	for text, want := range map[string]string{"islands: -1": "want a number from 1, or 0 for all, have -1", "test: -1": "have -1", "combine: best": "combine", "mood: good": "mood"} {
		if _, err := Regrouped.Parse("cell", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
