package paper

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/arrays"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/uq"
)

// No cell of data or a network that is not the paper's is shown as the paper's own, and none of its published figures is a target.
func TestHeadsAreSubstitutes(t *testing.T) {
	prefixes := map[string]string{"mnist7-": "same", "imdb-": "substitute: another encoder, 6,000 rows", "shakespeare-": "substitute: a network of 149,073 parameters",
		"cifar10-": "not run: features", "gpt2-": "not run: weights of GPT-2"}
	for _, r := range SBMCHeads.Rows(nil) {
		i := strings.IndexByte(r.Name, '-') + 1
		if want, got := prefixes[r.Name[:i]], SBMCHeads.standing(r.Cell); want == "" || !strings.HasPrefix(got, want) {
			t.Errorf("%s: protocol %q, want %q", r.Name, got, want)
		}
		_, target := r.target("accuracy")
		if own := strings.HasPrefix(r.Name, "mnist7-") || r.NotRun != ""; target != (own && r.Published != nil) {
			t.Errorf("%s: is its published figure a target? %v", r.Name, target)
		}
	}
	for _, r := range SBMCHeads.Recorded() {
		if !strings.HasPrefix(r.Cell, "mnist7-") && !strings.HasPrefix(r.Protocol, "substitute: ") {
			t.Errorf("%s, seed %d has protocol %q", r.Cell, r.Seed, r.Protocol)
		}
	}
}

// The cells have the settings that the paper names: prior, anchor, chains and islands of ten, moves.
func TestHeadCells(t *testing.T) {
	s := map[string]float64{"s10": .1, "s25": .25, "s35": .35}
	moves := map[string]int{"v40-s10": 1, "v1-s35": 1, "v1-s25": 2, "v1-s10": 2} // of S-SMC at a temperature
	anchored := 0
	for _, c := range SBMCHeads.Cells {
		name, is := strings.CutPrefix(c.Name, "imdb-")
		if !is {
			continue
		}
		spec, err := specOf(c, 1, false, "", "")
		if err != nil {
			t.Fatal(err)
		}
		name, plain := strings.CutPrefix(name, "plain-")
		if got := len(spec.Model.Layers); got != 2 && !plain || got != 1 && plain {
			t.Errorf("%s: layers %v", c.Name, spec.Model.Layers)
		}
		v := 1.
		if strings.HasPrefix(name, "v40-") {
			v = 1. / 40
		}
		if got := spec.Prior.Family.(bnn.NormalPrior).Variance; got != v {
			t.Errorf("%s: prior variance %v, want %v", c.Name, got, v)
		}
		if o := spec.MAP; o.Rate < .01 || o.Epochs < 60 {
			t.Errorf("%s: rate %v, %d epochs, which end too early for inputs of length 1", c.Name, o.Rate, o.Epochs)
		}
		parts := strings.Split(name, "-")
		if len(parts) < 4 {
			if spec.Prior.Anchor != nil {
				t.Errorf("%s is anchored", c.Name)
			}
			continue
		}
		anchored++
		if spec.Prior.Anchor == nil || spec.Prior.Anchor.S != s[parts[1]] {
			t.Errorf("%s: anchor %+v, want s = %v", c.Name, spec.Prior.Anchor, s[parts[1]])
		}
		p := map[string]int{"p1": 1, "p8": 8}[parts[3]]
		switch m := spec.Method.(type) {
		case method.MCMC:
			want := 26
			if v < 1 {
				want = 25
			}
			if parts[2] != "hmc" || m.Chains != 10*p || m.Epochs != want || m.Move.(mcmc.HMC).Steps != 1 {
				t.Errorf("%s: %+v", c.Name, m)
			}
		case method.SMC:
			if parts[2] != "smc" || m.Islands != p || m.Particles != 10 || m.Move.(mcmc.HMC).Mutations != (mcmc.Mutations{Count: moves[parts[0]+"-"+parts[1]]}) || m.Combine != (bnn.Equal{}) {
				t.Errorf("%s: %+v", c.Name, m)
			}
		default:
			t.Errorf("%s: %T", c.Name, m)
		}
	}
	if anchored != 4*4+2 {
		t.Errorf("%d anchored cells, want S-SMC and S-HMC with two numbers of islands at four priors, and two without the ReLU", anchored)
	}
}

// The column sums of the published figures are right. They were added up apart, from the paper's own tables.
func TestHeadsPublished(t *testing.T) {
	names := func(prefix string, groups ...string) (all []string) {
		for _, g := range groups {
			all = append(all, prefix+g)
		}
		return all
	}
	groups := slices.Concat([]string{right, wrong}, imdbGroups)
	for _, c := range []struct {
		rows []headPublished
		want map[string]float64
		of   int // groups
	}{
		{imdbPublished[:6], map[string]float64{"accuracy": 516.04, "nll": 2.2374, "sd": .22, epistemic: .01214769, total: 24.2429, epistemic + "review_text": .00173344, total + "meta_json": 3.8199}, 7},
		{imdbPublished[6:], map[string]float64{"accuracy": 1240.75, "nll": 3.8705, "sd": .51, epistemic: 3.0245966, total: 49.0191, epistemic + "review_text": .3896862, total + "meta_json": 8.2098}, 7},
		{cifar10Published, map[string]float64{"accuracy": 1261.05, "nll": 4.3455, "sd": .7, epistemic: 3.3205568, total: 12.915}, 2},
	} {
		got := map[string]float64{}
		for _, p := range c.rows {
			f := p.figures()
			if len(f) != 2+2*c.of {
				t.Errorf("%s has %d figures", p.cell, len(f))
			}
			got["accuracy"] += f["accuracy"].centre()
			got["sd"] += float64(f["accuracy"].(Mean).SD)
			got["nll"] += f["nll"].centre()
			for _, prefix := range []string{epistemic, total} {
				for _, name := range names(prefix, groups[:c.of]...) {
					got[prefix] += f[name].centre()
					got[name] += f[name].centre()
				}
			}
		}
		for name, want := range c.want {
			if !(math.Abs(got[name]-want) <= 1e-9*max(1, want)) {
				t.Errorf("%s … %s: %s adds up to %v, want %v", c.rows[0].cell, c.rows[len(c.rows)-1].cell, name, got[name], want)
			}
		}
	}
	cells := map[string]bool{}
	for _, c := range SBMCHeads.Cells {
		cells[c.Name] = c.Published != nil
	}
	for _, p := range slices.Concat(imdbPublished, cifar10Published, languagePublished) {
		if !cells[p.cell] {
			t.Errorf("the figures of %s stand in no cell", p.cell)
		}
	}
}

// embeddings makes a folder of data with embeddings of length 1, of so many rows, and foreign ones.
func embeddings(t *testing.T, rows int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, imdbFolder), 0o777); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(7, 1))
	put := func(name, dtype string, shape []int, values any) {
		t.Helper()
		var b bytes.Buffer
		b.Write(arrays.NPYBegin(dtype, shape))
		if err := binary.Write(&b, binary.LittleEndian, values); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(imdbFile(dir, name), b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	part := func(name string, n int) {
		x, y := make([]float64, n*384), make([]uint8, n)
		for i := range n {
			y[i] = uint8(i % 2)
			for k := range 384 {
				x[i*384+k] = r.NormFloat64()
			}
			x[i*384] += 40 * (float64(y[i]) - .5)
			norm := 0.
			for _, v := range x[i*384 : (i+1)*384] {
				norm += v * v
			}
			for k := range 384 {
				x[i*384+k] /= math.Sqrt(norm)
			}
		}
		put(name, "<f8", []int{n, 384}, x)
		if !strings.HasPrefix(name, "emb_ood_") {
			put(name+"_labels", "|u1", []int{n}, y)
		}
	}
	part("emb_train", rows)
	part("emb_test", rows)
	for _, group := range imdbGroups {
		part("emb_ood_"+group, 10)
	}
	return dir
}

// madeOf makes the reduced run of a cell on a folder of data, and reads it.
func madeOf(t *testing.T, name, dataDir string) (*starling.Run, *Run) {
	t.Helper()
	c, dir, o := SBMCHeads.cell(t, name), filepath.Join(t.TempDir(), "run"), starling.Options{DataDir: dataDir}
	if err := c.Ready(t.Context(), 1, true, dir, o); err != nil {
		t.Fatal(err)
	}
	work, err := SBMCHeads.Work(c, 1, true, dir, dataDir)
	if err != nil {
		t.Fatal(err)
	}
	folder, err := starling.TakeFolder(dir, work.Kind())
	if err != nil {
		t.Fatal(err)
	}
	o.Folder = folder
	if _, err := work.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if err := folder.Close(); err != nil {
		t.Fatal(err)
	}
	run, err := SBMCHeads.Read(t.Context(), dir, c, 1, true, starling.Options{DataDir: dataDir})
	if err != nil {
		t.Fatal(err)
	}
	whole, err := starling.OpenRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	return whole, run
}

// The figures of a cell are those of its run: entropies and AUROC by group, its own MAP, and how many chains are stuck by the run's own finding.
func TestHeadFigures(t *testing.T) {
	dir := embeddings(t, 1000)
	run, row := madeOf(t, "imdb-v1-s10-hmc-p1", dir)
	m, err := run.ReadMetrics()
	if err != nil {
		t.Fatal(err)
	}
	group := func(name string) *uq.Group {
		i := slices.IndexFunc(m.Groups, func(g uq.Group) bool { return g.Name == name })
		if i < 0 {
			t.Fatalf("no group %s in %+v", name, m.Groups)
		}
		return &m.Groups[i]
	}
	stuck := 0
	for _, f := range finding.All[finding.ChainStuck](m.Findings) {
		stuck += f.Chains.Count
	}
	if stuck == 0 {
		t.Fatal("no chain of five moves at a wide prior is stuck, so that nothing is tested: make the run shorter")
	}
	for name, want := range map[string]uq.Number{
		"accuracy": 100 * *m.Accuracy, "nll": m.NLL, "map_accuracy": 100 * *m.MAP.Accuracy, "map_nll": m.MAP.NLL, "stuck": uq.Number(100 * float64(stuck) / 4),
		"epistemic_right": group("correct").Epistemic, "total_right": group("correct").Total, "total_lipsum": group("lipsum").Total,
		"epistemic_meta_json": group("meta_json").Epistemic, "auroc_review_json": *group("review_json").AUROC,
		"auroc_max_probability_lipsum": *group("lipsum").AUROCMaxProb,
	} {
		if got := row.Figures[name]; len(got) != 1 || got[0] != want && !(math.IsNaN(float64(got[0])) && math.IsNaN(float64(want))) {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if row.Protocol != "substitute: another encoder, 6,000 rows; reduced: "+SBMCHeads.Reduced {
		t.Errorf("protocol %q", row.Protocol)
	}
	if got := row.Figures["epistemic_eight"]; got != nil {
		t.Errorf("a group that the run has not: %v", got)
	}
	text, err := SBMCHeads.More(&SBMCHeads, dir, []Run{*row})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"### IMDb: epistemic entropy in nats", "| cell | right | wrong | review_text |", "| imdb-v1-s10-hmc-p1 | ", " (0.0058) | ", " (0.5975) |\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the sheets lack %q:\n%s", want, text)
		}
	}
	if _, point := madeOf(t, "imdb-v1-map", dir); point.Figures["stuck"] != nil || point.Figures["accuracy"][0] != point.Figures["map_accuracy"][0] {
		t.Errorf("a point estimate: %+v", point.Figures)
	}
}

// Without the embeddings the error names the file that is missing, and where it is said how to make it.
func TestEmbeddingsAreMissing(t *testing.T) {
	dir := embeddings(t, 4)
	c := SBMCHeads.cell(t, "imdb-v1-map")
	if err := c.Ready(t.Context(), 1, false, "run", starling.Options{DataDir: dir}); err != nil {
		t.Errorf("all files are there: %v", err)
	}
	for _, name := range []string{"emb_test_labels", "emb_ood_lipsum"} {
		if err := os.Rename(imdbFile(dir, name), imdbFile(dir, "moved")); err != nil {
			t.Fatal(err)
		}
		err := c.Ready(t.Context(), 1, false, "run", starling.Options{DataDir: dir})
		if !errors.As(err, new(*starling.DataError)) || !strings.Contains(err.Error(), imdbFile(dir, name)+" is missing") || !strings.Contains(err.Error(), "docs/results/sbmc-heads.md") {
			t.Errorf("without %s: %v", name, err)
		}
		if err := os.Rename(imdbFile(dir, "moved"), imdbFile(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// The last layer on the features is the whole network, and features are made again for another run alone.
func TestHeadOnFeatures(t *testing.T) {
	dir := t.TempDir()
	network := func(name string, seed int) Place {
		t.Helper()
		spec, err := starling.Preset("mnist7-map", fmt.Sprint("seed=", seed), "map.restarts=1", "map.epochs=2")
		if err != nil {
			t.Fatal(err)
		}
		at := Place{Needs: []string{filepath.Join(dir, name)}}
		folder, err := starling.TakeFolder(at.Needs[0], starling.FitRuns)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := starling.Fit(t.Context(), spec, starling.Options{Folder: folder}); err != nil {
			t.Fatal(err)
		}
		if err := folder.Close(); err != nil {
			t.Fatal(err)
		}
		return at
	}
	at := network("network", 1)
	if err := writeFeatures(t.Context(), "mnist7", at, starling.Options{}); err != nil {
		t.Fatal(err)
	}
	spec, err := starling.ParseSpec("head", fmt.Appendf(nil, `data:
  train: {inputs: %q, targets: %q}
  validate: {inputs: %q, targets: %q}
  test: {inputs: %q, targets: %q}
model: {input: [784], layers: [{dense: 8}], likelihood: categorical, init: %q}
method: as-is
`, featuresFile(at, "train.npy"), featuresFile(at, "train-labels.npy"), featuresFile(at, "validate.npy"), featuresFile(at, "validate-labels.npy"),
		featuresFile(at, "test.npy"), featuresFile(at, "test-labels.npy"), featuresFile(at, headFile)))
	if err != nil {
		t.Fatal(err)
	}
	head, err := starling.Fit(t.Context(), spec, starling.Options{})
	if err != nil {
		t.Fatal(err)
	}
	run, err := starling.OpenRun(at.Needs[0])
	if err != nil {
		t.Fatal(err)
	}
	whole, err := run.ReadMetrics()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := float64(head.Metrics.NLL), float64(whole.NLL); !(math.Abs(got-want) <= 1e-6*want) || *head.Metrics.Accuracy != *whole.Accuracy {
		t.Errorf("the head has NLL %v and accuracy %v, the network %v and %v", got, *head.Metrics.Accuracy, want, *whole.Accuracy)
	}
	read := func() []byte {
		t.Helper()
		b, err := os.ReadFile(featuresFile(at, "test.npy"))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	before := read()
	if err := os.WriteFile(featuresFile(at, "test.npy"), before[:100], 0o666); err != nil {
		t.Fatal(err)
	}
	if err := writeFeatures(t.Context(), "mnist7", at, starling.Options{}); err != nil || len(read()) != 100 {
		t.Errorf("features of the same run were made again: %v", err)
	}
	if err := os.RemoveAll(at.Needs[0]); err != nil {
		t.Fatal(err)
	}
	network("network", 2)
	if err := writeFeatures(t.Context(), "mnist7", at, starling.Options{}); err != nil || len(read()) != len(before) || bytes.Equal(read(), before) {
		t.Errorf("features of another run were not made: %v", err)
	}
	if err := writeFeatures(t.Context(), "mnist7", Place{Needs: []string{filepath.Join(dir, "none")}}, starling.Options{}); err == nil || !strings.Contains(err.Error(), "the network that the cell begins at") {
		t.Errorf("no network: %v", err)
	}
}

// The page shows what the recorded runs say beside the table.
func TestRecordedHeadSheets(t *testing.T) {
	text, err := SBMCHeads.More(&SBMCHeads, "", SBMCHeads.Recorded())
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../docs/results/sbmc-heads.md")
	if err != nil {
		t.Fatal(err)
	}
	if text == "" || !strings.Contains(string(page), strings.TrimSpace(text)) {
		t.Error("docs/results/sbmc-heads.md does not show the sheets that starling reproduce sbmc-heads prints")
	}
}
