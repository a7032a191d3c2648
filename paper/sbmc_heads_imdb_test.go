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
	"strconv"
	"strings"
	"testing"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/decide"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/arrays"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/uq"
)

// The cells have the settings that the paper names: prior, anchor, eight islands of ten, moves. Those of fewer islands, and those that decide, are
// regrouped from a run of the same prior.
func TestHeadCells(t *testing.T) {
	s := map[string]float64{"s10": .1, "s25": .25, "s35": .35}
	moves := map[string]int{"v40-s10": 1, "v1-s35": 1, "v1-s25": 2, "v1-s10": 2} // of S-SMC at a temperature
	anchored, regroups := 0, 0
	for _, c := range SBMCHeads.Cells {
		if c.Kind == Regrouped {
			regroups++
			work, err := SBMCHeads.Work(c, 1, false, "out/run", "data")
			if err != nil {
				t.Fatal(err)
			}
			r := work.(regrouped)
			name, decides := strings.CutPrefix(strings.TrimSuffix(c.Name, "-f1"), "answers-")
			name, evidence := strings.CutSuffix(name, "-evidence")
			of, p, anchored := strings.Cut(name, "-p")
			want := regrouped{Name: r.Name, Seed: 1, Of: "out/" + of + "-1", Combine: bnn.Equal{}, Half: decides, Decide: r.Decide}
			if anchored {
				want.Of = "out/" + of + "-p8-1"
				want.Islands, err = strconv.Atoi(p)
			}
			if evidence {
				want.Combine = bnn.Evidence{}
			}
			if err != nil || r != want || decides != (r.Decide != nil) || c.Needs[0].Cell+"-1" != filepath.Base(r.Of) {
				t.Errorf("%s: %+v, want %+v, %v", c.Name, r, want, err)
			}
			if decides && (r.Decide.Abstain.By != decide.Classifier{} || r.Decide.Abstain.At != decide.F1{}) {
				t.Errorf("%s: %+v", c.Name, r.Decide.Abstain)
			}
		}
		name, is := strings.CutPrefix(c.Name, "imdb-")
		if !is || c.Kind != nil {
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
		if spec.Prior.Anchor == nil || spec.Prior.Anchor.S != s[parts[1]] || parts[3] != "p8" {
			t.Errorf("%s: anchor %+v, want s = %v", c.Name, spec.Prior.Anchor, s[parts[1]])
		}
		switch m := spec.Method.(type) {
		case method.MCMC:
			want := 26
			if v < 1 {
				want = 25
			}
			if parts[2] != "hmc" || m.Chains != 80 || m.Together != 10 || m.Epochs != want || m.Move.(mcmc.HMC).Steps != 1 {
				t.Errorf("%s: %+v", c.Name, m)
			}
		case method.SMC:
			if parts[2] != "smc" || m.Islands != 8 || m.Particles != 10 || m.Move.(mcmc.HMC).Mutations != (mcmc.Mutations{Count: moves[parts[0]+"-"+parts[1]]}) || m.Combine != (bnn.Equal{}) {
				t.Errorf("%s: %+v", c.Name, m)
			}
		default:
			t.Errorf("%s: %T", c.Name, m)
		}
	}
	if anchored != 2*4+2 || regroups != 4*(2*3+1)+12 {
		t.Errorf("%d anchored cells, want S-SMC and S-HMC at four priors and without the ReLU; %d regrouped ones, want three numbers of islands and evidence of each, and 12 that decide",
			anchored, regroups)
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

// madeOf makes the reduced run of a cell on a folder of data, after those that it needs, and reads it. out is the folder of the runs.
func madeOf(t *testing.T, name, dataDir, out string, threads int) (Done, *Run) {
	t.Helper()
	c, dir, o := SBMCHeads.cell(t, name), filepath.Join(out, Folder(name, 1, true)), starling.Options{DataDir: dataDir, Threads: threads}
	for _, n := range c.Needs {
		if _, err := os.Stat(filepath.Join(out, Folder(n.Cell, 1, true))); err != nil {
			madeOf(t, n.Cell, dataDir, out, threads)
		}
	}
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
	done, err := work.Open(t.Context(), dir, starling.Options{DataDir: dataDir})
	if err != nil {
		t.Fatal(err)
	}
	return done, run
}

// The figures of a cell are those of its run: entropies and AUROC by group and class, its own MAP, calibration.
func TestHeadFigures(t *testing.T) {
	dir, out := embeddings(t, 1000), t.TempDir()
	whole, row := madeOf(t, "imdb-v1-s10-hmc-p8", dir, out, 0)
	run := whole.(*fitDone)
	m := run.Metrics
	group := func(name string) *uq.Group {
		i := slices.IndexFunc(m.Groups, func(g uq.Group) bool { return g.Name == name })
		if i < 0 {
			t.Fatalf("no group %s in %+v", name, m.Groups)
		}
		return &m.Groups[i]
	}
	p, err := run.Spec.Load(dir, run.Schema)
	if err != nil {
		t.Fatal(err)
	}
	printed := errorOfClass1(t, run, p.Test)
	for name, want := range map[string]uq.Number{
		"accuracy": 100 * *m.Accuracy, "nll": m.NLL, "map_accuracy": 100 * *m.MAP.Accuracy, "map_nll": m.MAP.NLL,
		"epistemic_right": group("correct").Epistemic, "total_right": group("correct").Total, "total_lipsum": group("lipsum").Total,
		"epistemic_meta_json": group("meta_json").Epistemic, "aleatoric_meta_json": group("meta_json").Aleatoric, "auroc_review_json": *group("review_json").AUROC,
		"auroc_max_probability_lipsum": *group("lipsum").AUROCMaxProb, "total_negative": m.GroupsByClass[0].Total, "aleatoric_positive": m.GroupsByClass[1].Aleatoric,
		"brier_one": *m.Brier / 2, "ece": *m.ECE,
	} {
		if got := row.Figures[name]; len(got) != 1 || got[0] != want && !(math.IsNaN(float64(got[0])) && math.IsNaN(float64(want))) {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if got := row.Figures["ece_class1"]; len(got) != 1 || !(math.Abs(float64(got[0])-printed) <= 1e-12) || math.Abs(printed-float64(*m.ECE)) < .1 {
		t.Errorf("the error of P(class 1) is %v, want %v, which is not the ECE %v", got, printed, *m.ECE)
	}
	if row.Protocol != "substitute: another encoder, 6,000 rows; reduced: "+SBMCHeads.Reduced {
		t.Errorf("protocol %q", row.Protocol)
	}
	if row.Figures["epistemic_eight"] != nil || row.Figures["total_digit1"] != nil {
		t.Errorf("groups that the run has not: %v", row.Figures)
	}
	text, err := SBMCHeads.More(&SBMCHeads, dir, []Run{*row})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"### IMDb: epistemic entropy in nats", "| cell | right | wrong | review_text |", "| imdb-v1-s10-hmc-p8 | ", " (0.0061) | ", " (0.5961) |\n", " (0.391 [A6]) |\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the sheets lack %q:\n%s", want, text)
		}
	}
	own, point := madeOf(t, "imdb-v1-map", dir, out, 0)
	if point.Figures["stuck"] != nil || point.Figures["accuracy"][0] != point.Figures["map_accuracy"][0] {
		t.Errorf("a point estimate: %+v", point.Figures)
	}
	// That of a cell that decides is of the half that is scored, and a cell of fewer islands has its own.
	halve(p, 1)
	_, decided := madeOf(t, "answers-imdb-v1-map-f1", dir, out, 0)
	if want := errorOfClass1(t, own.(*fitDone), p.Test); math.Abs(float64(decided.Figures["ece_class1"][0])-want) > 1e-12 {
		t.Errorf("a half has the error %v, want %v", decided.Figures["ece_class1"], want)
	}
	if _, few := madeOf(t, "imdb-v1-s10-hmc-p4", dir, out, 0); len(few.Figures["ece_class1"]) != 1 || few.Figures["ece_class1"][0] == row.Figures["ece_class1"][0] {
		t.Errorf("fewer islands: %v", few.Figures["ece_class1"])
	}
}

// errorOfClass1 is what IMDb's tables call ECE, from the definition: Σ n_b/n |share of right answers − mean of P(class 1)| over 15 bins of P(class 1).
func errorOfClass1(t *testing.T, d *fitDone, set *data.Set) (sum float64) {
	t.Helper()
	v, err := d.Posterior.Predict(t.Context(), set, nil)
	if err != nil {
		t.Fatal(err)
	}
	var gaps [15]float64
	for i, y := range set.Labels {
		p1 := v.Probs[2*i+1]
		gaps[int(math.Ceil(p1*15))-1] -= p1
		if (p1 > .5) == (y == 1) {
			gaps[int(math.Ceil(p1*15))-1]++
		}
	}
	for _, gap := range gaps {
		sum += math.Abs(gap) / float64(set.Len())
	}
	return sum
}

// Stuck chains are counted over all findings, by the run's own words.
func TestStuckChains(t *testing.T) {
	d := &fitDone{Metrics: &eval.Metrics{Chains: &eval.Chains{Chains: 20}, Findings: []finding.Finding{
		finding.Of(finding.ChainStuck{Chains: finding.Numbered([]int{1, 4})}), finding.Of(finding.ChainStuck{Chains: finding.Numbered([]int{7})})}}}
	if v, err := countStuck(d); err != nil || len(v) != 1 || v[0] != 15 {
		t.Errorf("stuck chains: %v %%, %v, want 15", v, err)
	}
}

// The half that teaches and the half that is scored are disjoint, drawn by the seed and alone by it; and a decision is bit for bit the same for any
// number of threads.
func TestHalves(t *testing.T) {
	dir := embeddings(t, 1001)
	spec, err := specOf(SBMCHeads.cell(t, "imdb-v1-map"), 1, true, "", dir)
	if err != nil {
		t.Fatal(err)
	}
	load := func() *data.Problem {
		t.Helper()
		p, err := spec.Load(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	whole, p := load(), load()
	halve(p, 1)
	if p.Calibrate.Len() != 500 || p.Test.Len() != 501 || len(p.Foreign) != len(imdbGroups) || len(p.Groups) != len(imdbGroups) {
		t.Fatalf("%d rows teach, %d are scored, foreign groups %d and %d", p.Calibrate.Len(), p.Test.Len(), len(p.Foreign), len(p.Groups))
	}
	disjoint := func(name string, all, teaches, scored *data.Set) {
		t.Helper()
		rows := slices.Sorted(slices.Values(slices.Concat(teaches.Rows, scored.Rows)))
		for i, row := range rows {
			if int(row) != i {
				t.Fatalf("%s: rows %v", name, rows)
			}
		}
		if len(rows) != all.Len() || teaches.Len() != all.Len()/2 {
			t.Errorf("%s: %d rows of %d, of which %d teach", name, len(rows), all.Len(), teaches.Len())
		}
		for k, row := range scored.Rows { // with their own inputs and labels
			if !slices.Equal(scored.Slice("", k, k+1).F32, all.Slice("", int(row), int(row)+1).F32) || all.Labels != nil && scored.Labels[k] != all.Labels[row] {
				t.Fatalf("%s: row %d is another", name, row)
			}
		}
	}
	disjoint("test", whole.Test, p.Calibrate, p.Test)
	orders := map[string]bool{}
	for i, g := range p.Groups {
		if g.Name != p.Foreign[i].Name || g.Name != whole.Groups[i].Name {
			t.Errorf("groups %s and %s", g.Name, p.Foreign[i].Name)
		}
		disjoint(g.Name, whole.Groups[i].Set, p.Foreign[i].Set, g.Set)
		orders[fmt.Sprint(g.Set.Rows)] = true
	}
	if len(orders) < 2 {
		t.Error("all groups are divided alike")
	}
	for seed, same := range map[uint64]bool{1: true, 2: false} {
		other := load()
		if halve(other, seed); slices.Equal(other.Test.Rows, p.Test.Rows) != same {
			t.Errorf("seed %d: is the half the same? %v", seed, !same)
		}
	}
	if _, err := Regrouped.Parse("cell", []byte("of: run\nhalf: true")); err == nil || !strings.Contains(err.Error(), "teaches nothing without decide") {
		t.Errorf("half without decide: %v", err)
	}
	out, again := t.TempDir(), t.TempDir()
	one, row := madeOf(t, "answers-imdb-v1-s35-smc-p8-f1", dir, out, 1)
	a := one.(severalDone)[0].Metrics.Abstention
	if a == nil || a.N != 501 || a.Foreign != 25 || row.Figures["f1"][0] != a.F1 {
		t.Fatalf("the decision is scored on %+v", a)
	}
	three, _ := madeOf(t, "answers-imdb-v1-s35-smc-p8-f1", dir, again, 3)
	if got, want := scoresOf(t, three.(severalDone)[0].Metrics), scoresOf(t, one.(severalDone)[0].Metrics); got != want {
		t.Errorf("by three threads\n%s\nby one\n%s", got, want)
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
