package paper

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/uq"
)

// The cells that were rows of a script have its settings: the same preset, seed and changes, so the same bytes. The script's rows stand here as it
// had them, with the name of the cell in front.
func TestSBMCHasTheScriptsSettings(t *testing.T) {
	for name, row := range map[string]struct {
		preset string
		sets   []string
	}{
		"map-one":          {"map", []string{"map.restarts=1"}},
		"map-one-chosen":   {"map", []string{"map.restarts=1", "map.rate=0.06", "map.batch=32"}},
		"map":              {"map", nil},
		"swa":              {"swa", []string{"map.restarts=1"}},
		"swa-chosen":       {"swa", []string{"map.restarts=1", "method.swa.rate=1.6e-2", "method.swa.snapshots=135"}},
		"swag":             {"swag", []string{"map.restarts=1", "method.swag.rate=5e-4"}},
		"swag-chosen":      {"swag", []string{"map.restarts=1", "method.swag.rate=1.6e-2"}},
		"multiswag":        {"swag", []string{"map.restarts=8", "method.swag.members=8", "method.swag.rate=5e-4"}},
		"multiswag-chosen": {"swag", []string{"map.restarts=8", "method.swag.members=8", "method.swag.rate=1.6e-2"}},
		"dropout":          {"dropout", []string{"map.restarts=1"}},
		"dropout-chosen":   {"dropout", []string{"map.restarts=1", "map.rate=0.08", "map.patience=50"}},
		"ensemble":         {"ensemble", nil},
		"ensemble-chosen":  {"ensemble", []string{"map.rate=0.06", "map.batch=32"}},
		"ensemble-80":      {"ensemble", []string{"method.ensemble.members=80"}},
		"sghmc":            {"sghmc", []string{"map=null", "method.mcmc={chains: 10, start: prior, epochs: 160, keep: last, move: {sghmc: {batch: 100, step: 1e-4, friction: 0.1}}}"}},
		"s10-sghmc-p1":     {"sghmc", []string{"prior.anchor.s=0.1", "method.mcmc={chains: 10, start: prior, epochs: 160, keep: last, move: {sghmc: {batch: 100, step: 1e-5, friction: 0.1}}}"}},
		"s10-sghmc-p8":     {"sghmc", []string{"prior.anchor.s=0.1", "method.mcmc={chains: 80, start: prior, epochs: 160, keep: last, move: {sghmc: {batch: 100, step: 1e-5, friction: 0.1}}}"}},
		"sghmc-restarts":   {"sghmc", nil},
		"s10-smc-p8":       {"smc", nil}, // docs/benchmarks.md, "Five seeds"
		"gold-2e5":         {"gold", nil},
		"gold-2e4":         {"gold", []string{"method.mcmc.epochs=20000"}},
		"gold-18e5":        {"gold", []string{"method.mcmc.epochs=1800000"}},
	} {
		sameRun(t, SBMC.cell(t, "mnist7-"+name), 3, row.preset, row.sets...)
	}
	// The script's grids, a trial for each pair, in its order.
	slow := []string{"0.0005", "0.001", "0.002", "0.004", "0.008", "0.016"}
	trials := 0
	for method, grid := range map[string][2][]string{
		"map":     {{"map.rate", "0.01", "0.02", "0.03", "0.06", "0.1", "0.2"}, {"map.batch", "16", "32", "64"}},
		"swa":     {append([]string{"method.swa.rate"}, slow...), {"method.swa.snapshots", "25", "75", "135"}},
		"swag":    {append([]string{"method.swag.rate"}, slow...), {"method.swag.snapshots", "25", "75", "135"}},
		"dropout": {{"map.rate", "0.02", "0.03", "0.04", "0.06", "0.08", "0.1"}, {"map.patience", "10", "20", "50"}},
	} {
		number := 0
		for _, a := range grid[0][1:] {
			for _, b := range grid[1][1:] {
				number, trials = number+1, trials+1
				sameRun(t, SBMCSearch.cell(t, fmt.Sprint(method, "-", number)), 0, method, "map.restarts=1", grid[0][0]+"="+a, grid[1][0]+"="+b)
			}
		}
	}
	if trials != len(SBMCSearch.Cells) || trials != 4*18 {
		t.Errorf("%d trials, %d cells of the search", trials, len(SBMCSearch.Cells))
	}
}

// sameRun asks whether a cell's run is that of a preset of MNIST7 with changes.
func sameRun(t *testing.T, c Cell, seed uint64, preset string, sets ...string) {
	t.Helper()
	want, err := starling.Preset("mnist7-"+preset, append([]string{fmt.Sprint("seed=", seed)}, sets...)...)
	if err != nil {
		t.Fatal(err)
	}
	got, err := specOf(c, seed, false, "", "")
	if err != nil {
		t.Fatalf("%s: %v", c.Name, err)
	}
	got.Name = want.Name
	if !bytes.Equal(got.YAML(), want.YAML()) {
		t.Errorf("%s has\n%s\nthe script\n%s", c.Name, got.YAML(), want.YAML())
	}
	if _, err := specOf(c, seed, true, "", ""); err != nil {
		t.Errorf("%s, reduced: %v", c.Name, err)
	}
}

// What SBMC calls chosen is the setting of least validation NLL of the recorded search, of eighteen.
func TestSBMCChosen(t *testing.T) {
	runs := map[string]Run{}
	for _, r := range SBMCSearch.Recorded() {
		runs[r.Cell] = r
	}
	for _, g := range sbmcGrids {
		best, least := "", math.Inf(1)
		for i := range 18 {
			r, ok := runs[fmt.Sprint(g.method, "-", i+1)]
			if !ok {
				t.Fatalf("%s-%d is not recorded", g.method, i+1)
			}
			if nll := figure("validation_nll")(r); nll < least {
				best, least = r.Cell, nll
			}
		}
		name := map[string]string{"map": "map-one-chosen", "swa": "swa-chosen", "swag": "swag-chosen", "dropout": "dropout-chosen"}[g.method]
		spec, err := specOf(SBMCSearch.cell(t, best), 1, false, "", "")
		if err != nil {
			t.Fatal(err)
		}
		chosen, err := specOf(SBMC.cell(t, "mnist7-"+name), 1, false, "", "")
		if err != nil {
			t.Fatal(err)
		}
		if chosen.Name = spec.Name; !bytes.Equal(chosen.YAML(), spec.YAML()) {
			t.Errorf("%s is not %s, which has the least validation NLL, %v", name, best, least)
		}
	}
}

// Anchored cells have the paper's prior, numbers of islands, chains and epochs. The moves of a temperature divide its epochs: the mean over five
// runs of as many whole stages (A5).
func TestSBMCCells(t *testing.T) {
	epochs := map[string]float64{"s1": 173, "s50": 161, "s25": 166.6, "s10": 170, "s01": 183.6}
	s := map[string]float64{"s1": 1, "s50": .5, "s25": .25, "s10": .1, "s01": .01}
	seen := map[string]int{}
	for _, c := range SBMC.Cells {
		parts := strings.Split(strings.TrimPrefix(c.Name, "mnist7-"), "-")
		if s[parts[0]] == 0 || c.Kind != nil || len(parts) != 3 || parts[1] == "gold" || parts[1] == "sghmc" {
			continue
		}
		seen[parts[1]]++
		spec, err := specOf(c, 1, false, "", "")
		if err != nil {
			t.Fatal(err)
		}
		if spec.Prior.Family.(bnn.NormalPrior).Variance != .1 {
			t.Errorf("%s: prior %+v", c.Name, spec.Prior)
		}
		if a := spec.Prior.Anchor; (a == nil) != (parts[0] == "s1") || a != nil && a.S != s[parts[0]] || (spec.MAP == nil) != (a == nil) {
			t.Errorf("%s: anchor %+v, search %+v", c.Name, a, spec.MAP)
		}
		p := int(parts[2][1] - '0')
		switch m := spec.Method.(type) {
		case method.SMC:
			moves := m.Move.(mcmc.HMC).Mutations.Count
			stages := epochs[parts[0]] * 5 / float64(moves)
			if parts[1] != "smc" || m.Islands != p || m.Particles != 10 || m.Move.(mcmc.HMC).Steps != 1 || math.Abs(stages-math.Round(stages)) > 1e-9 || stages < 5*5 || stages > 5*40 {
				t.Errorf("%s: %+v, %v stages in five runs", c.Name, m, stages)
			}
		case method.MCMC:
			if parts[1] != "hmc" || m.Chains != 10*p || m.Epochs != 160 || m.Move.(mcmc.HMC).Steps != 1 {
				t.Errorf("%s: %+v", c.Name, m)
			}
		default:
			t.Errorf("%s: %T", c.Name, m)
		}
	}
	if seen["smc"] != 5 || seen["hmc"] != 5 {
		t.Errorf("runs of S-SMC and S-HMC: %v, want one for each s", seen)
	}
}

// Every cell has a config that can be read under both protocols, a name of its own, and published figures that the table measures.
func TestSBMCConfigs(t *testing.T) {
	seen := map[string]bool{}
	measured := map[string]bool{}
	for _, m := range SBMC.Figures {
		measured[m.Name] = true
	}
	for _, c := range SBMC.Cells {
		if seen[c.Name] {
			t.Errorf("two cells are named %s", c.Name)
		}
		seen[c.Name] = true
		for name := range c.Published {
			if !measured[name] {
				t.Errorf("%s: nothing measures the published %s", c.Name, name)
			}
		}
		if c.NotRun != "" || c.From != nil {
			continue
		}
		for _, reduced := range []bool{false, true} {
			if _, err := SBMC.Work(c, 2, reduced, "out/sbmc/"+c.Name, ""); err != nil {
				t.Errorf("%s, reduced %v: %v", c.Name, reduced, err)
			}
		}
		for _, n := range c.Needs {
			of := SBMC.cell(t, n.Cell)
			if of.Config == nil || n.Later != 0 {
				t.Errorf("%s is regrouped from %s, %d seeds later", c.Name, n.Cell, n.Later)
			}
		}
	}
	for _, printed := range sbmcPrinted {
		for _, name := range printed.names() {
			if !seen[name] {
				t.Errorf("table %s: no cell %s", printed.tables, name)
			}
		}
	}
}

// The sums of the published figures are right. They were added up apart, from the paper's own tables.
func TestSBMCPublished(t *testing.T) {
	groups := slices.Concat([]string{right, wrong}, mnist7Groups)
	byDigit := append(digits(), allClasses)
	for _, c := range []struct {
		prefix string // of cells
		kind   string // prefix of figures
		names  []string
		want   float64
		errors float64 // sum of the standard errors; 0: not added up
	}{
		{onMNIST7, "", []string{"accuracy"}, 1814.68 + 928.23 + 456.5, 0}, // Tables 8, 15 and 16, and what Table 1 alone has
		{onMNIST7, "", []string{"nll"}, 7.0465 + 2.4506 + 2.255, .331},
		{onMNIST7, "", []string{"brier"}, 3.22135 + 1.1159, 0},
		{onMNIST7, epistemic, groups, 38.56279 + 22.90255 + 3.94, 0},
		{onMNIST7, total, groups, 114.3658 + 51.2179, 0},
		{onMNIST7, epistemic, []string{foreign}, 7.229, .419},
		{onMNIST7, total, byDigit, 12.0752, 0}, {onMNIST7, epistemic, byDigit, 2.474339, 0}, {onMNIST7, aleatoric, append(byDigit, mnist7Groups...), 17.08128, 0},
		{onAnswers, "", []string{"precision"}, 9.671, .109}, {onAnswers, "", []string{"recall"}, 7.301, .173},
		{onAnswers, "", []string{"f1"}, 7.543, .191}, {onAnswers, "", []string{"auc"}, 10.336, .084},
		{"cifar10-", "", []string{"precision"}, 8.349, 0}, {"cifar10-", "", []string{"recall"}, 10.706, 0}, {"cifar10-", "", []string{"f1"}, 9.199, 0},
		{"cifar10-", "", []string{"auc"}, 10.34, 0}, {"cifar10-", "", []string{"accuracy"}, 1083.37, 0}, {"cifar10-", "", []string{"nll"}, 3.6391, 0},
		{"cifar10-", "", []string{"ece"}, .203939, 0}, {"cifar10-", epistemic, groups, 3.6815, 0}, {"cifar10-", total, groups, 11.2476, 0},
	} {
		sum, errors := 0., 0.
		for cell, figures := range figuresOf(sbmcPrinted) {
			for _, name := range c.names {
				if m, ok := figures[c.kind+name].(Mean); ok && strings.HasPrefix(cell, c.prefix) {
					sum += m.Mean
					if m.SD == m.SD {
						errors += float64(m.SD)
					}
				}
			}
		}
		if !(math.Abs(sum-c.want) <= 1e-9*max(1, c.want)) || c.errors != 0 && !(math.Abs(errors-c.errors) <= 1e-9) {
			t.Errorf("%s…, %s%v add up to %v ± %v, want %v ± %v", c.prefix, c.kind, c.names, sum, errors, c.want, c.errors)
		}
	}
}

// The marks of misprints are explained, each is used, and stands behind the figure in the terminal and in Markdown.
func TestMisprints(t *testing.T) {
	for _, table := range []*Table{&SBMC, &SBMCHeads} {
		used := map[string]bool{}
		for _, c := range table.Cells {
			for measure, mark := range c.Misprints {
				used[mark] = true
				if !slices.ContainsFunc(table.Misprints, func(m Misprint) bool { return m.Mark == mark }) || c.Published[measure] == nil {
					t.Errorf("%s: mark %s of %s is not explained, or nothing is published", c.Name, mark, measure)
				}
				r := Row{Cell: c}
				if _, target := r.target(measure); target {
					t.Errorf("%s: %s is a target", c.Name, measure)
				}
			}
			if c.Published[eceClass1] != nil && c.Misprints[eceClass1] != "A6" {
				t.Errorf("%s: what IMDb's tables call ECE has mark %q, want A6", c.Name, c.Misprints[eceClass1])
			}
		}
		for _, m := range table.Misprints {
			if !used[m.Mark] {
				t.Errorf("%s: no figure has the mark %s", table.Name, m.Mark)
			}
		}
	}
	for name := range sbmcMisprints {
		SBMC.cell(t, name)
	}
	for _, name := range []string{"mnist7-gold-2e4", "mnist7-gold-2e5"} {
		if c := SBMC.cell(t, name); c.Misprints["epistemic_foreign"] != "A3" {
			t.Errorf("%s: the foreign entropy has mark %q, want A3", name, c.Misprints["epistemic_foreign"])
		}
	}
	var text, markdown bytes.Buffer
	if err := SBMC.WriteText(&text, nil); err != nil {
		t.Fatal(err)
	}
	if err := SBMC.WriteMarkdown(&markdown, nil); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"0.1942 ± 0.0040 [A3]", "92.87 ± 0.48 [A4]", "[A7]: the text gives this pair", "88.92 ± 0.01‡ [A7]"} {
		if !strings.Contains(text.String(), want) || !strings.Contains(markdown.String(), want) {
			t.Errorf("%q is missing in\n%s", want, text.String())
		}
	}
	if strings.Contains(text.String(), "0.1882 [") {
		t.Error("a figure without a misprint has a mark")
	}
}

// The standard error of the paper has a variance of 1/R: of 1, 2, 3, 4 it is √1.25/2. A single run has none.
func TestStandardErrors(t *testing.T) {
	var runs []Run
	for seed := range uint64(4) {
		runs = append(runs, Run{Cell: "own", Seed: seed, Protocol: "same", Figures: map[string]Values{"accuracy": {uq.Number(seed + 1)}}})
	}
	for errors, want := range map[Errors]float64{ofRuns: math.Sqrt(5. / 3), ofMeans: math.Sqrt(5. / 3 / 4), ofMeansByCount: math.Sqrt(1.25 / 4)} {
		table := standIns
		table.Errors = errors
		rows := table.Rows(runs)
		f := table.joined(&rows[0], &table.Figures[0]).(Mean)
		if f.Mean != 2.5 || !(math.Abs(float64(f.SD)-want) <= 1e-12) {
			t.Errorf("%v: %v ± %v, want 2.5 ± %v", errors, f.Mean, f.SD, want)
		}
		rows = table.Rows(runs[:1])
		if f := table.joined(&rows[0], &table.Figures[0]).(Mean); !math.IsNaN(float64(f.SD)) || f.text(1) != "1.0" {
			t.Errorf("%v: one run has %s", errors, f.text(1))
		}
		var b bytes.Buffer
		if err := table.WriteText(&b, runs); err != nil || !strings.Contains(b.String(), errors.String()) {
			t.Errorf("%v: the table does not say what ± is (%v)", errors, err)
		}
	}
}

// Rows of IMDb are the runs that SBMCHeads has recorded, and no record of SBMC has any.
func TestRowsOfAnotherTable(t *testing.T) {
	want := map[string]int{}
	for _, r := range SBMCHeads.Recorded() {
		want[r.Cell]++
	}
	n := 0
	for _, r := range SBMC.Rows(nil) {
		if r.From == nil {
			if r.Runs != nil {
				t.Errorf("%s has runs", r.Name)
			}
			continue
		}
		n++
		if len(r.Runs) != want[r.Name] || want[r.Name] != 5 || r.Protocol != SBMCHeads.Protocol(SBMCHeads.cell(t, r.Name), false) {
			t.Errorf("%s: %d runs with protocol %q, table sbmc-heads has %d", r.Name, len(r.Runs), r.Protocol, want[r.Name])
		}
	}
	if n != 3+44+12 {
		t.Errorf("%d rows of another table, want Laplace's 3, and IMDb's 44 and 12 that decide", n)
	}
	text := `[{"cell": "imdb-v1-map", "seed": 9, "protocol": "substitute: another encoder, 6,000 rows"}]`
	if _, err := SBMC.decode([]byte(text)); err == nil || !strings.Contains(err.Error(), "the cell has no runs of its own: they are those of table sbmc-heads") {
		t.Errorf("a record of them: %v", err)
	}
}

// The page shows what the recorded runs say beside the table.
func TestRecordedSBMCSheets(t *testing.T) {
	text, err := SBMC.More(&SBMC, "", SBMC.Recorded())
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../docs/results/sbmc.md")
	if err != nil {
		t.Fatal(err)
	}
	if text == "" || !strings.Contains(string(page), strings.TrimSpace(text)) {
		t.Error("docs/results/sbmc.md does not show the sheets that starling reproduce sbmc prints")
	}
}

// The foreign entropy is the mean of the four groups, that of all digits the mean over examples, and both by hand. Runs without them have none.
func TestDigitsAndForeign(t *testing.T) {
	m := &eval.Metrics{}
	for i, name := range mnist7Groups {
		m.Groups = append(m.Groups, uq.Group{Name: name, Epistemic: uq.Number(i + 1), Aleatoric: uq.Number(10 * i)})
	}
	for c := range 8 {
		m.GroupsByClass = append(m.GroupsByClass, uq.Group{Name: fmt.Sprint(c), N: 1 + c%2, Total: uq.Number(c), Epistemic: uq.Number(c * c), Aleatoric: .5})
	}
	m.GroupsByClass[0].N, m.GroupsByClass[0].Total = 0, uq.Number(math.NaN())
	of := func(name string, m *eval.Metrics) Values {
		t.Helper()
		i := slices.IndexFunc(SBMC.Figures, func(f Measure) bool { return f.Name == name })
		if i < 0 {
			t.Fatalf("nothing measures %s", name)
		}
		v, err := SBMC.Figures[i].Of(&fitDone{Metrics: m})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for name, want := range map[string]uq.Number{
		"epistemic_foreign": 2.5, "aleatoric_nine": 10, "total_digit5": 5, "aleatoric_all": .5,
		"total_all": uq.Number(2*(1+3+5+7)+2+4+6) / 11, "epistemic_all": uq.Number(2*(1+9+25+49)+4+16+36) / 11,
	} {
		if name == "epistemic_all" || name == "total_all" {
			if got := of(name, m); len(got) != 1 || !(math.Abs(float64(got[0]-want)) <= 1e-12) {
				t.Errorf("%s is %v, want %v", name, got, want)
			}
		} else if got := of(name, m); len(got) != 1 || got[0] != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
		if got := of(name, new(eval.Metrics)); got != nil {
			t.Errorf("a run without groups has %s %v", name, got)
		}
	}
}

// The pictures beside the page are those of the recorded runs. A table without runs has none.
func TestRecordedSBMCPictures(t *testing.T) {
	pictures, err := SBMC.Pictures(&SBMC, SBMC.Recorded())
	if err != nil || len(pictures) != 5 {
		t.Fatalf("%d pictures, %v", len(pictures), err)
	}
	page, err := os.ReadFile("../docs/results/sbmc.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pictures {
		name := "sbmc-" + p.Name + ".svg"
		if file, err := os.ReadFile("../docs/results/" + name); err != nil || !bytes.Equal(file, p.SVG) || !strings.Contains(string(page), "("+name+")") {
			t.Errorf("docs/results/%s is not drawn from the recorded runs, or the page does not show it: starling reproduce sbmc --pictures docs/results (%v)", name, err)
		}
	}
	if none, err := SBMC.Pictures(&SBMC, nil); none != nil || err != nil {
		t.Errorf("%d pictures of nothing, %v", len(none), err)
	}
}

// A point of a picture is the mean of its cell, and its bar the standard error with a variance of 1/R.
func TestSBMCPictures(t *testing.T) {
	var runs []Run
	for seed, v := range []uq.Number{90, 94} {
		for _, cell := range []string{"mnist7-s10-smc-p1", "mnist7-s10-smc-p8"} {
			runs = append(runs, Run{Cell: cell, Seed: uint64(seed + 1), Protocol: "same", Figures: map[string]Values{
				"accuracy": {v}, "epistemic_foreign": {v / 100}, "epistemic_right": {.125}, "epistemic_wrong": {.5}}})
		}
	}
	pictures, err := SBMC.Pictures(&SBMC, runs)
	if err != nil || len(pictures) != 3 {
		t.Fatalf("%d pictures, %v", len(pictures), err)
	}
	for i, want := range []string{"S-SMC, P = 8 at 0.1: 92.000. ", "S-SMC, s = .1 at 8: 92.000. ", "right 0.125. wrong 0.500. "} {
		if svg := string(pictures[i].SVG); !strings.Contains(svg, want) {
			t.Errorf("%s lacks %q:\n%s", pictures[i].Name, want, svg)
		}
	}
	if s := string(pictures[0].SVG); strings.Contains(s, "S-HMC, P = 1 at") || !strings.Contains(s, "S-SMC, P = 1 at 0.1: 0.920. ") {
		t.Errorf("over s:\n%s", s)
	}
}
