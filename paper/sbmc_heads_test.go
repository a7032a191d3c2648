package paper

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling"
)

// No cell of data or a network that is not the paper's is shown as the paper's own, and none of its published figures is a target.
func TestHeadsAreSubstitutes(t *testing.T) {
	prefixes := map[string]string{"mnist7-": "same", "imdb-": "substitute: another encoder, 6,000 rows", "answers-": "substitute: another encoder, 6,000 rows", "shakespeare-": "substitute: a network of 149,073 parameters",
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

// The column sums of the published figures and of their standard errors (±) are right. They were added up apart, from the paper's own tables.
func TestHeadsPublished(t *testing.T) {
	sums := map[string]map[string]float64{}
	cells := map[string]bool{}
	for _, c := range SBMCHeads.Cells {
		cells[c.Name] = c.Published != nil
	}
	for i, printed := range headsPrinted {
		if sums[printed.tables] == nil {
			sums[printed.tables] = map[string]float64{}
		}
		for cell, figures := range figuresOf(headsPrinted[i : i+1]) {
			if !cells[cell] {
				t.Errorf("table %s: the figures of %s stand in no cell", printed.tables, cell)
			}
			for name, f := range figures {
				sums[printed.tables][name] += f.centre()
				if sd := float64(f.(Mean).SD); sd == sd {
					sums[printed.tables][name+" ±"] += sd
				}
			}
		}
	}
	want := map[string]map[string]float64{
		"9, 10": {
			"accuracy": 1756.79, "accuracy ±": .73, "nll": 6.1079, "epistemic_right": .0970001, "epistemic_wrong": .2172428,
			"epistemic_review_text": .39141964, "epistemic_meta_description": .53322996, "epistemic_lipsum": .51331249,
			"epistemic_review_json": .67622002, "epistemic_meta_json": .60831928, "brier_one": 1.84816, "ece_class1": 7.8843, "total_right": 6.7707,
			"total_wrong": 11.6375, "total_review_text": 8.909, "total_meta_description": 11.0183, "total_lipsum": 10.6445,
			"total_review_json": 12.2523, "total_meta_json": 12.0297,
		},
		"17 to 20": {
			"accuracy": 1412.58, "accuracy ±": .56, "nll": 4.7395, "epistemic_right": .1036719, "epistemic_wrong": .2339017,
			"epistemic_review_text": .3769038, "epistemic_meta_description": .5500448, "epistemic_lipsum": .5062281,
			"epistemic_review_json": .6316235, "epistemic_meta_json": .6246573, "brier_one": 1.42771, "ece_class1": 6.1487, "total_right": 5.2588,
			"total_wrong": 9.2746, "total_review_text": 6.9201, "total_meta_description": 8.7622, "total_lipsum": 8.3418, "total_review_json": 9.7606,
			"total_meta_json": 9.6103,
		},
		"13, 14": {
			"total_negative": 2.9632, "aleatoric_negative": 2.2493, "epistemic_negative": .02958914, "total_positive": 3.5267,
			"aleatoric_positive": 2.5593, "epistemic_positive": .0331097, "aleatoric_meta_description": 3.2282, "aleatoric_meta_json": 3.5083,
			"aleatoric_review_text": 2.75, "aleatoric_review_json": 3.579, "aleatoric_lipsum": 3.0851, "total_all": 3.245, "aleatoric_all": 2.4042,
			"epistemic_all": .0313544,
		},
		"5": {
			"precision": 4.985, "precision ±": .057, "recall": 5.393, "recall ±": .029, "f1": 5.143, "f1 ±": .022, "auc": 5.225, "auc ±": .037,
		},
		"6": {
			"precision": 5.327, "precision ±": .017, "recall": 5.291, "recall ±": .017, "f1": 5.293, "f1 ±": .005, "auc": 5.492, "auc ±": .016,
		},
		"11": {
			"accuracy": 1261.05, "accuracy ±": .7, "nll": 4.3455, "brier": 2.0666, "ece": .316316, "epistemic_right": .7012998,
			"epistemic_wrong": 2.619257, "total_right": 2.4476, "total_wrong": 10.4674,
		},
		"3": {
			"accuracy": 78.02, "nll": 6.249, "total_right": 3.125, "total_wrong": 7.217, "epistemic_right": .047, "epistemic_wrong": .077,
		},
	}
	if len(sums) != len(want) {
		t.Errorf("tables %v", slices.Collect(maps.Keys(sums)))
	}
	for table, columns := range want {
		if len(sums[table]) != len(columns) {
			t.Errorf("table %s has %d sums, want %d", table, len(sums[table]), len(columns))
		}
		for name, w := range columns {
			if got := sums[table][name]; !(math.Abs(got-w) <= 1e-9*max(1, w)) {
				t.Errorf("table %s: %s adds up to %v, want %v", table, name, got, w)
			}
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
