package paper

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/uq"
)

// Every cell has a preset under both protocols, with the settings that the paper names.
func TestCellsHaveConfigs(t *testing.T) {
	if len(DataAnnealing.Cells) != 24+7+3 {
		t.Errorf("%d cells, want 6 schedules × 2 data sets × 2 moves, seven that begin by jax, and three with other pools", len(DataAnnealing.Cells))
	}
	seen := map[string]bool{}
	for _, c := range DataAnnealing.Cells {
		if seen[c.Name] {
			t.Errorf("two cells are named %s", c.Name)
		}
		seen[c.Name] = true
		for _, reduced := range []bool{false, true} {
			spec, err := specOf(c, 7, reduced, "", "")
			if err != nil {
				t.Fatalf("%s: %v", c.Name, err)
			}
			m := spec.Method.(method.SMC)
			move := m.Move.(mcmc.Unadjusted)
			steps := 3
			if strings.Contains(c.Name, "-ld-") {
				steps = 1
			}
			start := method.Place(method.FromPrior{})
			if strings.HasPrefix(c.Name, "jax-") {
				start = method.FromUntrained{By: bnn.JAX{}}
			}
			if m.Start != start || spec.Seed != 7 || !spec.Data.Whole || move.Steps != steps || move.Step != 0.002 || (m.Particles == 10) == reduced {
				t.Errorf("%s, reduced %v: %s", c.Name, reduced, spec.YAML())
			}
			maximum := strings.Contains(string(spec.YAML()), "maxpool: 2") && !strings.Contains(string(spec.YAML()), "avgpool")
			if strings.HasPrefix(c.Name, "fashion-max-") != (maximum && spec.Data.Standardise != "") {
				t.Errorf("%s, reduced %v: pools and pixels are %s", c.Name, reduced, spec.YAML())
			}
		}
	}
}

// The column sums of the published figures are right. They were added up apart, from the paper's own table.
func TestPublishedFigures(t *testing.T) {
	want := map[string][3]float64{ // sums over the schedules: accuracy, log-likelihood, seconds
		"mnist-ld":    {556.42, -1.5766, 30364.89},
		"mnist-hmc":   {586.93, -0.4250, 35505.05},
		"fashion-ld":  {498.37, -2.8810, 29278.36},
		"fashion-hmc": {535.79, -1.8130, 36206.61},
	}
	got := map[string][3]float64{}
	for _, c := range DataAnnealing.Cells {
		if c.Changes != nil {
			own := DataAnnealing.Published()[strings.NewReplacer("-max-", "-", "jax-", "mnist-").Replace(c.Name)]
			if own == nil || !reflect.DeepEqual(c.Published, own) {
				t.Errorf("%s is compared with %v, want what is published of the set, %v", c.Name, c.Published, own)
			}
			continue
		}
		key := c.Name[:strings.LastIndexByte(c.Name, '-')]
		sum := got[key]
		for i, f := range []Figure{c.Published["accuracy"], c.Published["log_likelihood"], c.Published[seconds]} {
			sum[i] += f.centre()
		}
		got[key] = sum
	}
	for key, sums := range want {
		for i, w := range sums {
			if !(math.Abs(got[key][i]-w) <= 1e-6) {
				t.Errorf("%s, column %d: sum %v, want %v", key, i, got[key][i], w)
			}
		}
	}
}

// scores are the figures of a run of DataAnnealing.
func scores(accuracy, likelihood uq.Number) map[string]Values {
	return map[string]Values{"accuracy": {accuracy}, "log_likelihood": {likelihood}}
}

// specOf is the config of a cell that fits.
func specOf(c Cell, seed uint64, reduced bool, dir, dataDir string) (starling.Spec, error) {
	work, err := (&Table{Kind: Fits}).Work(c, seed, reduced, dir, dataDir)
	if err != nil {
		return starling.Spec{}, err
	}
	return work.(fit).Spec, nil
}

func TestRowsAndMeans(t *testing.T) {
	runs := []Run{
		{Cell: "mnist-hmc-ctr", Seed: 2, Protocol: "same", Figures: scores(98, 0), Particles: 10},
		{Cell: "mnist-hmc-ctr", Seed: 1, Protocol: "same", Figures: scores(96, 0)},
		{Cell: "mnist-hmc-ctr", Seed: 3, Protocol: "reduced: 50 iterations, J = 4", Figures: scores(10, 0)},
		{Cell: "mnist-hmc-full", Seed: 1, Protocol: "reduced: 50 iterations, J = 4", Figures: scores(90, 0)},
	}
	for _, r := range DataAnnealing.Rows(runs) {
		mean, sd := r.Mean(figure("accuracy"))
		switch r.Name {
		case "mnist-hmc-ctr":
			if mean != 97 || !(math.Abs(sd-math.Sqrt2) <= 1e-12) || r.Protocol != "same" || len(r.Runs) != 2 || r.Runs[0].Seed != 1 {
				t.Errorf("two full runs give %v ± %v, %+v", mean, sd, r)
			}
		case "mnist-hmc-full":
			if mean != 90 || !math.IsNaN(sd) || !strings.HasPrefix(r.Protocol, "reduced") {
				t.Errorf("a reduced run alone gives %v ± %v, %q", mean, sd, r.Protocol)
			}
		default:
			if !math.IsNaN(mean) || r.Protocol != "" {
				t.Errorf("%s has not run and gives %v, %q", r.Name, mean, r.Protocol)
			}
		}
	}
	merged := Merge(runs, []Run{{Cell: "mnist-hmc-ctr", Seed: 2, Protocol: "same", Figures: scores(97, 0)}})
	if len(merged) != 4 || merged[1].Figures["accuracy"][0] != 97 {
		t.Errorf("merged: %+v", merged)
	}
	var text, markdown bytes.Buffer
	for i := range runs {
		runs[i].Machine, runs[i].Figures["gradients"] = []string{"big one", "small one"}[i%2], Values{361e6}
	}
	if err := DataAnnealing.WriteText(&text, runs); err != nil {
		t.Fatal(err)
	}
	if err := DataAnnealing.WriteMarkdown(&markdown, runs); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"97.84 ± 0.02", "-0.2726 ± 0.003", "-0.470 ± 0.010", "97.00 ± 1.41", "not run", "361 M", "reduced: 50 iterations, J = 4", "1: small one", "2: big one", "1,2"} {
		if !strings.Contains(text.String(), want) || !strings.Contains(markdown.String(), want) {
			t.Errorf("%q is missing in\n%s\n%s", want, text.String(), markdown.String())
		}
	}
	// J stands where it was recorded.
	if !strings.Contains(text.String(), "\nJ = 10 ") || strings.Contains(text.String(), "\nJ = 0") ||
		!strings.Contains(markdown.String(), " | same | 10 | ") || !strings.Contains(markdown.String(), " J = 4 | – | ") {
		t.Errorf("particles in\n%s\n%s", text.String(), markdown.String())
	}
}

// The terminal's table fits 120 columns, however long its entries are, and each entry stands below its heading.
func TestTextFits(t *testing.T) {
	var runs []Run
	for i, c := range DataAnnealing.Cells {
		for seed := range uint64(2) {
			all := scores(80+10*uq.Number(seed), -.5)
			for name, v := range map[string]uq.Number{"ess": 10, "ancestors": 1, "gradients": 4e9, seconds: 10000 + 100*uq.Number(seed), "evaluation_seconds": 10 + uq.Number(seed)} {
				all[name] = Values{v}
			}
			runs = append(runs, Run{Cell: c.Name, Seed: seed, Protocol: DataAnnealing.Protocol(c, i%3 == 0), Figures: all, Particles: 10, Machine: strings.Repeat("m", 1+int(seed))})
		}
	}
	var text bytes.Buffer
	if err := DataAnnealing.WriteText(&text, runs); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(text.String(), "\n")
	for _, line := range lines {
		if n := len([]rune(line)); n > 120 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	for _, head := range []struct{ name, value string }{{"accuracy, %", "85.00 ± 7.07"}, {"anc>1", "100 %"}, {"grads", "4000 M"}, {"seconds", "10050 ± 71"}, {"evaluation", "10.5 ± 0.7"}} {
		end := len([]rune(lines[0][:strings.Index(lines[0], head.name)+len(head.name)]))
		if ours := []rune(lines[2]); !strings.HasSuffix(string(ours[:end]), head.value) {
			t.Errorf("%s does not stand under %s:\n%s\n%s", head.value, head.name, lines[0], lines[2])
		}
	}
}

// A run that diverged counts as well: the mean of its cell is NaN or infinite.
func TestNotFinite(t *testing.T) {
	const cell = "mnist-hmc-ctr"
	runs := []Run{
		{Cell: cell, Seed: 1, Protocol: "same", Figures: scores(98, -.1)},
		{Cell: cell, Seed: 2, Protocol: "same", Figures: scores(uq.Number(math.NaN()), uq.Number(math.Inf(-1)))},
	}
	text, err := json.Marshal(DataAnnealing.Record(runs))
	if err != nil {
		t.Fatal(err)
	}
	back, err := DataAnnealing.decode(text)
	if err != nil || len(back) != 2 || !math.IsNaN(figure("accuracy")(back[1])) || back[1].Figures["log_likelihood"][0] != runs[1].Figures["log_likelihood"][0] {
		t.Errorf("%s reads as %+v, %v", text, back, err)
	}
	for _, write := range []func(io.Writer, []Run) error{DataAnnealing.WriteText, DataAnnealing.WriteMarkdown} {
		var b bytes.Buffer
		if err := write(&b, runs); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), " NaN ") || !strings.Contains(b.String(), " -Inf ") || strings.Contains(b.String(), "± NaN") {
			t.Errorf("NaN or -Inf is missing:\n%s", b.String())
		}
	}
}

// A record holds runs of the table's cells, each one once, and nothing else.
func TestReadRecord(t *testing.T) {
	const good = `{"cell": "mnist-hmc-ctr", "seed": 1, "protocol": "same", "accuracy": 98}`
	with := func(pair string) string { return "[" + strings.TrimSuffix(good, "}") + ", " + pair + "}]" }
	file := t.TempDir() + "/record.json"
	if runs, err := DataAnnealing.ReadRecord(file); runs != nil || err != nil {
		t.Errorf("no file: %v, %v", runs, err)
	}
	for text, want := range map[string]string{
		"[]": "", "[" + good + "]": "", strings.Replace(with(`"particles": 4`), "same", "reduced: half of it", 1): "", with(`"accuracy": "NaN"`): "",
		"[" + good + ", " + strings.Replace(good, "1", "2", 1) + "]": "",
		"":                               "EOF",
		"{}":                             "object",
		"[" + good + "][]":               "something follows the list",
		"[{}]":                           `entry 1, cell "", seed 0, protocol "": the table has no such cell`,
		"[" + good + ", " + good + "]":   `entry 2, cell "mnist-hmc-ctr", seed 1, protocol "same": the record has this run already`,
		with(`"cell": "mnist"`):          `cell "mnist", seed 1, protocol "same": the table has no such cell`,
		with(`"protocol": "Same"`):       "want protocol \"same\"",
		with(`"protocol": "reduced: "`):  "want protocol",
		with(`"accuracy": 1e9`):          "accuracy 1e+09: want 0 to 100",
		with(`"accuracy": "-Infinity"`):  "accuracy -Inf",
		with(`"ancestors": 1.1`):         "ancestors 1.1",
		with(`"gradients": -1`):          "gradients -1",
		with(`"sampling_seconds": -0.1`): "sampling_seconds -0.1",
		with(`"mood": "good"`):           `unknown field "mood"`,
	} {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		runs, err := DataAnnealing.ReadRecord(file)
		var bad *starling.DataError
		if want == "" && (err != nil || runs == nil) || want != "" && (!errors.As(err, &bad) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), file)) {
			t.Errorf("%s: want error %q: %v", text, want, err)
		}
	}
}

func TestMillions(t *testing.T) {
	for n, want := range map[float64]string{0: "0.00 M", 200_000: "0.20 M", 4e6: "4.00 M", 9_996_000: "10.0 M", 40_200_000: "40.2 M", 99_960_000: "100 M", 361e6: "361 M"} {
		if got := millions(Mean{Mean: n}); got != want {
			t.Errorf("%v: %s, want %s", n, got, want)
		}
	}
}

// A run counts for the cell, seed and protocol whose config it has, and for no other.
func TestReadAnother(t *testing.T) {
	cell := Cell{Name: "digits", Config: preset("mnist7-smc"), Reduced: []string{
		"model.layers.0={conv: {filters: 1, kernel: 5, stride: 4}}", "map={restarts: 2, epochs: 1}",
		"method={smc: {particles: 4, path: {constant: {iterations: 3, batch: 20}}, move: {leapfrog: {step: 0.01}}}}",
	}}
	spec, err := specOf(cell, 3, true, "", "")
	if err != nil {
		t.Fatal(err)
	}
	spec.Name = "renamed"
	dir := t.TempDir() + "/run"
	folder, err := starling.TakeFolder(dir, starling.FitRuns)
	if err != nil {
		t.Fatal(err)
	}
	result, err := starling.Fit(t.Context(), spec, starling.Options{Folder: folder})
	if err != nil {
		t.Fatal(err)
	}
	if err := folder.Close(); err != nil {
		t.Fatal(err)
	}
	run, err := DataAnnealing.Read(t.Context(), dir, cell, 3, true, starling.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if run.Cell != "digits" || run.Seed != 3 || run.Particles != 4 || run.Protocol != DataAnnealing.Protocol(cell, true) || run.Figures["accuracy"][0] != 100**result.Metrics.Accuracy {
		t.Errorf("%+v", run)
	}
	changed := cell
	changed.Reduced = append(slices.Clone(cell.Reduced), "method.smc.particles=5")
	for _, c := range []struct {
		cell    Cell
		seed    uint64
		reduced bool
		want    string
	}{
		{changed, 3, true, "method.smc.particles: 5, but the run was begun with 4"},
		{cell, 4, true, "seed: 4, but the run was begun with 3"},
		{cell, 3, false, "model.layers.0.conv.filters: 4, but the run was begun with 1"},
	} {
		var bad *starling.DataError
		if _, err := DataAnnealing.Read(t.Context(), dir, c.cell, c.seed, c.reduced, starling.Options{}); !errors.As(err, &bad) || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), "move it away") {
			t.Errorf("want %q: %v", c.want, err)
		}
	}
}

// A run counts once its manifest, which is written last, says that it is done.
func TestReadUnfinished(t *testing.T) {
	dir := t.TempDir()
	var unfinished *starling.NotDoneError
	for _, manifest := range []string{"", `{"kind": "fit", "status": "running", "checksum": ""}`, `{"kind": "fit", "status": "interrupted", "checksum": ""}`} {
		if manifest != "" {
			os.WriteFile(dir+"/metrics.json", []byte("{}"), 0o666)
			os.WriteFile(dir+"/config.yaml", []byte("{}"), 0o666)
			os.WriteFile(dir+"/manifest.json", testkit.Seal([]byte(manifest)), 0o666)
		}
		if _, err := DataAnnealing.Read(t.Context(), dir, DataAnnealing.Cells[0], 1, false, starling.Options{}); !errors.As(err, &unfinished) {
			t.Errorf("manifest %q: %v", manifest, err)
		}
	}
	os.WriteFile(dir+"/manifest.json", testkit.Seal([]byte(`{"kind": "fit", "status": "done", "files": {"config.yaml": ""}, "checksum": ""}`)), 0o666)
	if _, err := DataAnnealing.Read(t.Context(), dir, DataAnnealing.Cells[0], 1, false, starling.Options{}); err == nil || errors.As(err, &unfinished) {
		t.Errorf("a run that is done and lacks its files: %v", err)
	}
}

func TestMachine(t *testing.T) {
	for _, c := range []struct {
		cpu     string
		threads int
		want    string
	}{
		{"abacus", 0, "abacus, 2 CPUs, avx2"}, {"abacus", 2, "abacus, 2 CPUs, avx2"}, {"", 1, "linux/arm64, 2 CPUs, 1 thread, avx2"},
		{"abacus", 3, "abacus, 2 CPUs, 3 threads, avx2"},
	} {
		if got := machine(&starling.Manifest{CPU: c.cpu, Platform: "linux/arm64", CPUs: 2, Threads: c.threads, Kernel: "avx2"}); got != c.want {
			t.Errorf("%d threads: %s, want %s", c.threads, got, c.want)
		}
	}
}

// The recorded runs are runs of their table's cells, each seed and protocol once; written again the record has the same bytes; and
// docs/results shows them.
func TestRecordedRuns(t *testing.T) {
	for _, table := range Tables {
		t.Run(table.Name, func(t *testing.T) {
			runs := table.Recorded()
			if merged := Merge(runs, runs); len(merged) != len(runs) {
				t.Errorf("%d runs, %d of them different", len(runs), len(merged))
			}
			placed := 0
			for _, r := range table.Rows(runs) {
				if r.From == nil { // those of another table are recorded there
					placed += len(r.Runs)
				}
			}
			if placed != len(runs) {
				t.Errorf("%d of %d runs have a cell", placed, len(runs))
			}
			file, err := os.ReadFile("results/" + table.Name + ".json")
			if err != nil {
				t.Fatal(err)
			}
			var again, markdown bytes.Buffer
			if err := jsontext.Write(&again, table.Record(runs)); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(again.Bytes(), file) {
				t.Errorf("the record is written again as\n%.300s", again.String())
			}
			if err := table.WriteMarkdown(&markdown, runs); err != nil {
				t.Fatal(err)
			}
			page, err := os.ReadFile("../docs/results/" + pages[table.Name])
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(page), markdown.String()) {
				t.Errorf("docs/results/%s does not show the recorded runs: it says how it is renewed", pages[table.Name])
			}
		})
	}
}

// pages are the pages that show the tables.
var pages = map[string]string{
	"data-annealing": "data-annealing.md", "gohsmc": "gohsmc.md", "gohsmc-uncertainty": "gohsmc.md", "standard-splits": "gohsmc.md",
	"gohsmc-search": "gohsmc-search.md", "smc-sghmc": "smc-sghmc.md", "sequential-mcmc": "sequential-mcmc.md", "sbmc-heads": "sbmc-heads.md", "smc-sghmc-cifar10": "cifar10.md",
	"sbmc": "sbmc.md", "sbmc-search": "sbmc-search.md", "sbmc-contest": "sbmc-contest.md",
}
