package finding

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/starling-smc/starling/internal/numeral"
)

var update = flag.Bool("update", false, "write testdata/words.txt anew")

// all has every kind, and those whose words depend on numbers more than once.
func all() (fs []Finding) {
	one := Population{Islands: 1, Particles: 10, Iterations: 200, Single: 200, Resampled: 180, ESS: 1.25, LogWeightVar: 3204.5}
	many := one
	many.Islands, many.Particles, many.Iterations = 8, 1200, 1600
	epochs, lines, once := many, one, one
	epochs.Lines, lines.Lines, once.Resampled = Epochs, Lines, 1
	const hmc, pcn, moves = "method.mcmc.move.hmc.step", "method.smc.move.pcn.step", "method.smc.move.pcn.mutations"
	inf := math.Inf(1)
	small, large := Change{Known(.00041), Known(.0123), Known(.01), false}, Change{Known(.0612), Known(.161), Known(.05), true}
	every, last, part := Estimated{Target: EveryTarget}, Estimated{Target: LastTarget}, Estimated{PartialTarget, true}
	short := CountDivergence(1, 1, 0.9, hmc)
	short.Short = true
	stuck := Stuck{Stages: 5, Of: 40, Islands: 8, Temperature: 0.000305, Acceptance: 0.3, Mutations: 50, Displacement: Known(0.31), Step: pcn, Moves: moves}
	copied := Stuck{Stages: 2, Of: 12, Islands: 1, Copies: 2, Temperature: 0.3, Acceptance: 0.3, Mutations: 50, Displacement: nil, Step: pcn, Moves: moves}
	some := copied
	some.Copies = 1
	confidence := Confidence{Examples: 7000, Mean: 0.893, Accuracy: 0.9491, Once: 1000}
	helped, tempered := confidence, confidence
	helped.Helps, tempered.Tempered = Known(.672), Known(.672)
	remains := tempered
	remains.Remains = true
	helpedLearned := helped
	helpedLearned.Learned = true
	sure, learned := confidence, confidence
	sure.Mean, sure.Accuracy, learned.Learned = sure.Accuracy, sure.Mean, true
	surer := sure
	surer.Learned = true
	single := surer
	single.Single = true
	list := func(names ...string) Some { return List(names) }
	unknown, weighted, chains, bare, nodes := Sampler{}, Sampler{Weighted: true}, Sampler{Chains: true, Joint: true, Index: true, Walk: true}, Sampler{Chains: true}, Sampler{Chains: true, Joint: true, Nodes: true}
	for _, k := range []Kind{
		Optimiser{one}, Optimiser{many}, Optimiser{epochs}, Merged{one}, Merged{many}, Merged{lines}, Merged{once}, NoEvidence{"map"}, NoPathOfTargets{"bootstrap"}, NoWeights{"SVGD"}, NoEvidenceByFresh{"ctr", "tempering and full"}, NoFixedModel{}, SVGD{},
		Evidence{every}, EvidenceMerged{every}, EvidenceOptimised{every}, EvidenceUnmoved{every}, Evidence{last}, EvidenceMerged{last}, EvidenceOptimised{last}, EvidenceUnmoved{last}, Evidence{part}, EvidenceMerged{part}, EvidenceOptimised{part}, EvidenceUnmoved{part},
		ChainsEnd{8, -1160.31, -121.94, Known(0.6), Known(0.894)}, ChainsEnd{1, -428.61, -428.61, Known(0.6312), Known(0.6312)},
		ChainsEnd{8, -290.9, -147.3, nil, nil}, ChainsEnd{1, -428.61, -428.61, nil, nil}, Biased{"SGHMC (batches of 100 examples)", "method.mcmc.move.sghmc.step"},
		ChainStuck{Numbered([]int{2}), 0.04, hmc, false, 0, false}, ChainStuck{Numbered([]int{0, 3}), 0, hmc, true, 0, false}, ChainStuck{Numbered([]int{0, 3}), 0, hmc, true, .8, false}, ChainStuck{Numbered([]int{0, 3}), 0, hmc, true, .9, false}, ChainStuck{Numbered([]int{0, 3}), 0, hmc, false, 0, true},
		ChainsStill{Numbered([]int{1}), 0.001, hmc, false}, ChainsStill{Numbered([]int{1, 3}), 0.001, hmc, false}, ChainsStill{Numbered([]int{1, 3}), 0.001, hmc, true},
		short.OfChains(), CountDivergence(12, 400, 0.75, hmc).OfChains(), CountDivergence(12, 400, 0, hmc).OfChains(), CountDivergence(3, 400, 0, hmc).OfChains(),
		FewTrajectories{Chains: 4, Few: 4, Epochs: 200, Trajectories: 2, Leapfrogs: 80, Enough: 20, Need: 1600, Field: "method.mcmc.epochs"},
		FewTrajectories{Chains: 1, Few: 1, Epochs: 12, Trajectories: 12, Leapfrogs: 1, Enough: 20, Need: 20, Field: "method.mcmc.epochs"},
		FewTrajectories{Chains: 8, Few: 3, Epochs: 800, Trajectories: 1, Leapfrogs: 423.4, Enough: 20, Need: 8468, Field: "method.mcmc.epochs"},
		FewTrajectories{Chains: 8, Few: 8, Epochs: 500, Trajectories: 11, Leapfrogs: 43, Least: true, Enough: 20, Need: 860, Field: "method.mcmc.epochs"},
		LaplaceEvidence{-412.34, 1, "prior"}, LaplaceEvidence{-1412.34, 3.1623, "evidence"}, LaplaceEvidence{-412.34, 0.01, "validation"}, LaplaceOffMode{12.7, 1.43, true}, LaplaceOffMode{12.7, 1.43, false}, LaplaceAtEdge{10000, "validation", true}, LaplaceAtEdge{0.0001, "evidence", false}, AsIs{}, OfSWAG(0.0049), OfSWAG(1.1), SWAGSpread{}, OfSWAG(0.083), OfSWAG(2.4), OfSWAG(inf), MeanField{}, ELBOUnsettled{12.69, 0.213, 100, 200, true}, ELBOUnsettled{3.2, 0.4, 5000, 10000, false}, ChosenByValidation{"method.vi.keep", "validation"}, Point{true}, Point{false}, BeganAtInit{}, BeganAtInitTempering{}, InitUnused{}, CountersIgnored{1, "bn1.num_batches_tracked"}, CountersIgnored{21, "bn1.num_batches_tracked"}, Stopped{1, 1, 31, 31, 50, 10}, Stopped{2, 3, 31, 44, 50, 1}, Exploded{1, 1, 198.57, 1.5015, 1.0986, "method.smc.move.epoch.step"}, Exploded{2, 3, 4.25, 1.53, 1.4189, "method.smc.move.leapfrog.step"},
		ConstantColumns{list("age")}, ConstantColumns{Some{2, "number 3, number 5"}},
		EmptyColumns{list("age")}, EmptyColumns{list("age", "number 3")}, RowCounters{list("id"), "[id]"}, RowCounters{list("id", "number 2"), "[id, \"2\"]"}, IgnoredColumns{FirstOf([]string{`"day"`}), "new.csv"}, IgnoredColumns{FirstOf(slices.Repeat([]string{`"day"`}, 12)), "new.csv"}, ColumnsByPlace{"new.csv"},
		UnknownWords{list(Unlearnt("city", 1, 1, `the first: "Lima", line 2`)), "new.csv"}, UnknownWords{list(Unlearnt("city", 1030, 1234, `the first: "Lima", line 2`), Unlearnt("size", 1, 1234, `the first: "XXL", line 17`)), "new.csv"},
		NoLongerConstant{list(Unlearnt("k", 12, 30, "7 in training")), "new.csv"},
		GroupsTogether{"patient", 96, 12, 12, 0}, GroupsTogether{"number 3", 1234, 1, 0, 0}, GroupsTogether{"patient", 8, 0, 1, 0}, GroupsTogether{"patient", 80, 12, 12, 1}, GroupsTogether{"patient", 80, 0, 12, 16}, GroupsShared{"patient", "later.csv", 1, 1, false}, GroupsShared{"patient", "later.csv", 3, 1234, false}, GroupsShared{"patient", "later.csv", 3, 1234, true},
		CalibrationSeen{500, 1, 1, 1}, CalibrationSeen{1, 1, 0, 0}, CalibrationSeen{1234, 40, 17, 1200}, CalibrationSeen{1234, 0, 0, 1200}, ForeignScored{1}, ForeignScored{500},
		WordColumns{list("colour"), 3}, WordColumns{list("colour", "size"), 1},
		RowNumbers{list("id"), "[note, id]", "[id]"}, RowNumbers{list("id", "order"), "[id, order]", "[id, order]"}, UnlikeWords{list("name"), 90, 120, "[name]"}, UnlikeWords{list("name", "note"), 190, 120, "[name, note]"}, UnitWords{list("price"), "[price]"}, UnitWords{list("price", "number 3"), `[price, "3"]`},
		WholeAmounts{"y", 4, "model.layers.4"}, WholeAmounts{"y", 1004, "model.layers.4"}, ManyZeros{"y", .684}, MissingValues{list("age")}, MissingValues{list("age", "colour")}, MissingElsewhere{list("age")}, MissingElsewhere{list("age", "colour")},
		ZeroFeatures{FirstFeatures([]int{4}), false}, ZeroFeatures{FirstFeatures([]int{4, 9}), false}, ZeroFeatures{FirstFeatures(make([]int, 21)), false}, ZeroFeatures{FirstFeatures([]int{2}), true}, UnseenClasses{list("cedar"), 1, false}, UnseenClasses{list("3", "7"), 12, false}, UnseenClasses{list("3", "7"), 12, true}, RareClasses{list("cedar (3)"), 5}, RareClasses{list("3 (1)", "7 (4)"), 5}, RareClasses{FirstOf(slices.Repeat([]string{"c (1)"}, 12)), 5}, NoThreshold{1, 200}, NoThreshold{3, 200}, FewForThreshold{12, .05, .2209},
		NotDecided{"abstain: no answer to the examples to calibrate with is wrong"}, RiskNotKept{.02, 2000}, RiskNotKept{.005, 2000},
		OutsideRows{FewOf([]string{OutsideColumn(`"area"`, 2, 580000, 58e12, 20, 180)}), "new.csv", 2, 300, 0}, OutsideRows{FewOf(slices.Repeat([]string{OutsideColumn(`"area"`, 1, -5, -5, 20, 180)}, 5)), "new.csv", 1, 1, 0}, OutsideRows{list(OutsideColumn("", 120, 2, 255, 0, 1)), "x.npy", 120, 120, .42},
		OtherUnits{FirstOf([]string{`"area"`}), "new.csv", 1000, true}, OtherUnits{FirstOf([]string{`"a"`, `"b"`}), "new.csv", 25.4, false}, OtherUnits{list(""), "x.npy", 255, true}, OutsideRows{list("y"), "x.npy", 1, 1000, .00002}, NoRanges{},
		ChannelsLast{"x.npy", 28, 28, 1},
		StoppedEarly{3, 0.03125}, IslandsStuck{Numbered([]int{0}), 0.1, pcn, false}, IslandsStuck{Numbered([]int{0, 2, 5}), 0.1, pcn, true},
		IslandsStill{Numbered([]int{0}), 0.1, pcn}, IslandsStill{Numbered([]int{0, 2, 5}), 0.1, pcn},
		MovesStuck{stuck}, MovesStuck{copied}, MovesStuck{some},
		MovesStuck{Stuck{Stages: 1, Of: 12, Islands: 1, Temperature: 0.3, Acceptance: 0.021, Mutations: 50, Displacement: Known(0.021), Refused: true, Step: pcn, Moves: moves}},
		SamplingFailed{Stuck{Stages: 12, Of: 12, Islands: 1, Temperature: 0.012, Mutations: 1, Displacement: Known(0), Refused: true, Written: true, Step: pcn, Moves: moves}},
		SamplingFailed{Stuck{Stages: 12, Of: 12, Islands: 1, Temperature: 0.012, Acceptance: 1, Mutations: 50, Displacement: Known(0), Written: true, Step: pcn, Moves: moves}},
		MovesStuck{Stuck{Stages: 2, Of: 12, Islands: 1, Temperature: 0.012, Acceptance: 0.9, Mutations: 50, Displacement: Known(0.1), Written: true, Step: "method.smc.move.metropolis.sd", Moves: moves}},
		ScaleKept{1, 12, 1}, ScaleKept{30, 96, 8},
		Divergent{CountDivergence(1, 8, 0, pcn)}, Divergent{CountDivergence(1234, 2000, 0, pcn)}, CountDivergence(1, 8, 0.9, pcn).Refused(), CountDivergence(2, 8, 0, pcn).Refused(), CountDivergence(1, 800, 0, pcn).Refused(), CountDivergence(2, 800, 0, pcn).Refused(),
		IslandsEnd{14, 14, Known(0.574), Known(0.574), false, Accepted}, IslandsEnd{200, 200, Known(0.02), Known(0.1), true, Weighted}, IslandsEnd{50, 50, Known(0.4), Known(0.6), true, Uncorrected}, IslandsEnd{9, 12, Known(0.04), Known(0.4), true, Accepted}, IslandsEnd{9, 9, nil, nil, true, Alone},
		Ancestors{3, 3, 10}, Ancestors{2, 12, 1000}, ChainsOutlying{Numbered([]int{3})}, ChainsOutlying{Numbered([]int{1, 3})}, Change{Known(.0312), Known(.061), Known(.0251), false}.Rough(4), large.Rough(1), ChainsRough{6, math.Inf(1), 0, .01, true},
		ChainsAgree{RHat{8, 1.004, 1.03, nil, nil, Known(1.01), Known(3164.2), Change{}}}, ChainsAgree{RHat{1, 1, 1.01, Known(0.98), Known(1.02), nil, nil, Change{}}},
		ChainsApart{RHat{8, 1.93, 3.41, Known(1.52), Known(2.36), Known(1.24), nil, Change{}}}, ChainsApart{RHat{8, inf, inf, nil, nil, nil, nil, Change{}}}, ChainsApart{RHat{4, 10.28, 31.5, nil, nil, Known(8.1), Known(4.1), Change{}}},
		ChainsApart{RHat{1, 1.93, 3.41, nil, nil, Known(1.24), Known(4.6), Change{}}},
		ChainsUnsure{RHat{8, 1.08, 1.31, Known(0.97), Known(1.2), Known(1.02), nil, Change{}}}, ChainsUnsure{RHat{1, 1.08, 1.31, nil, nil, Known(1.6), nil, Change{}}},
		Unscored{1, 200}, Unscored{3, 200}, ChainsUntold{8, "a chain keeps 1 state, and R-hat needs 8", true}, ChainsUntold{1, "no prediction is finite in all states and differs between them", false}, ChainsUncompared{4, "a chain keeps 3 states, and R-hat needs 8", true, nil, Change{}}, ChainsUncompared{4, "a chain keeps 3 states, and R-hat needs 8", true, Known(4.2), Change{}}, ChainsUncompared{4, "a chain keeps 3 states, and R-hat needs 8", true, Known(4.2), small}, ChainsUncompared{1, "no prediction is finite in all states and differs between them", false, Known(inf), small}, FewStates{31.6, 50, Change{}}, FewStates{31.6, 50, large},
		ChainsApart{RHat{8, 1.93, 3.41, nil, nil, nil, nil, small}}, ChainsApart{RHat{1, 1.93, 3.41, nil, nil, nil, nil, large}}, ChainsUnsure{RHat{8, 1.08, 1.31, nil, nil, nil, nil, small}},
		EvidenceAgrees{LogEvidence: -2031.26, SD: 0.52}, EvidenceAgrees{-2031.26, 0.52, 8, Known(6.3)}, EvidenceScatters{LogEvidence: -2031.26, SD: 7.02, Effective: 1.18, Islands: 8}, EvidenceScatters{-2031.26, 3.1, 1.6, 8, 10, false, true, true}, EvidenceScatters{-2031.26, 1.4, 3.3, 8, 240, true, false, false}, EvidenceOfOne{-2031.26}, EvidenceWithin{-2031.26, 0.84}, EvidenceRough{-2031.26, 3.2}, LadderBias{0.62, false}, LadderBias{0.13, true},
		UnevenWeights{80, 3.21}, DeadNetworks{1}, DeadNetworks{12},
		FewDraws{3, 20, 8.2, 50, unknown}, FewDraws{1, 1, 8.2, 50, weighted}, FewDraws{3, 20, 8.2, 50, chains}, FewDraws{3, 20, 8.2, 50, bare}, LoneAncestor{1, 20, unknown}, LoneAncestor{1, 20, weighted}, LoneAncestor{1, 20, chains}, LoneAncestor{1, 20, bare},
		FewAncestors{2, 60, 2, "30", 20}, LostTarget{"1", 10, 10, "1", 0}, IdleScans{9, 20, "3"}, NearlyNormal{20, 0.9931, "laplace", false}, NearlyNormal{1, 0.9931, "kalman", true}, SurprisingScans{1, 60, "30", 0.0001}, SparseTargets{3, 0.9, false}, SparseTargets{3, 0.9, true},
		FiltersApart{3, 20, 5.24, 3, bare}, FiltersApart{1, 20, inf, 3, chains}, FiltersApart{2, 20, 4.5, 3, nodes}, StillCoordinates{list("x2"), 20, 20}, StillCoordinates{list("x of target 1", "vx of target 1"), 3, 20}, OneBatch{500}, PriorOfDecay{48000, "0.01", "0.002083"}, SmallFilters{50, 20, 200}, OneNode{}, OnePass{4}, MoreNodesThanMeasurements{3, 20, 4}, EmptySites{9, 80}, RepairedSites{60, 20}, IdleSubsampling{0.987}, ErrorsUnknown{3, 20}, ScansLeftOut{1}, ScansLeftOut{2},
		PartialMeasurements{1, true}, PartialMeasurements{3, false}, MostScansLeftOut{7, 9}, WrongUnit{1000, 1, "ms", "milliseconds"}, WiderThanRegion{9, 20, "2", "1.5"}, TruthElsewhere{"1.5", "12"}, TruthElsewhere{"", "12"},
		CalibrationUnknown{"trees.csv: no such file or directory"}, CalibrationScored{"fresh.csv"},
		OptimisedRuns{list("linear")}, OptimisedRuns{list("linear", "ctr")}, MergedRuns{list("linear", "ctr")}, UnmovedRuns{list("linear")}, UnmovedRuns{list("linear", "ctr")}, EnsembleBetter{8, "0.25", "0.4", 0.15, 0.02, nil, 7000, 1000, false}, EnsembleBetter{1, "0.25", "0.4", 0.152, 0.0213, Known(0.0912), 50, 1000, true}, RestartsLost{1, 4}, RestartsLost{2, 4}, StillFalling{300, 300, 0.52417, 0.50213, 0.03, false}, StillFalling{300, 291, 0.52417, 0.50213, 0.03, true},
		IslandsLost{"chain", Numbered([]int{2}), 4, "method.mcmc.move.sghmc.step", "", ""}, IslandsLost{"chain", Numbered([]int{0, 2}), 4, "method.mcmc.move.sghmc.step", "", "method.mcmc.learn"}, IslandsLost{"island", Numbered([]int{1}), 2, "", "method.smc.particles", ""},
		NoSkill{Class: true}, NoSkill{}, NoSkill{true, "0.362", "0.351", Known(.0112), Known(.0213), 60, false, false, 0, 0}, NoSkill{false, "5.471", "5.482", Known(-.0112), Known(.0213), 60, false, true, 0, 0}, NoSkill{false, "5.471", "5.482", Known(-.0112), Known(.0213), 60, true, false, 0, 0},
		NoSkill{true, "0.362", "0.462", Known(-.1), Known(.02), 60, false, false, 0, 0}, NoSkill{false, "6", "828,854", Known(-828848), Known(1200), 60, false, true, 0, 0}, NoSkill{false, "6", "828,854", Known(-828848), Known(1200), 60, false, false, 100, 0}, NoSkill{false, "6", "16.2", Known(-10.2), Known(1.2), 60, false, false, 0, 25.4},
		Underconfident{confidence}, Underconfident{learned}, Underconfident{helped}, Underconfident{helpedLearned}, Underconfident{tempered}, Underconfident{remains}, Overconfident{helped}, Overconfident{tempered}, Overconfident{sure}, Overconfident{surer}, Overconfident{single}, Miscalibrated{0.083, 0.0312, 199},
		IntervalsNarrow{Coverage{0.712, 1200, 1000, false, "given"}}, IntervalsNarrow{Coverage{0.712, 1200, 1000, true, "learned"}},
		IntervalsNarrow{Coverage{0.712, 1200, 1000, true, "predicted"}},
		IntervalsWide{Coverage{0.9815, 1200, 1000, false, "given"}}, IntervalsWide{Coverage{0.9815, 1200, 1000, false, "predicted"}},
		IntervalsWide{Coverage{0.9815, 1200, 1000, true, "given"}}, IntervalsWide{Coverage{0.9815, 1200, 1000, true, "learned"}},
		IntervalsWide{Coverage{0.9815, 1200, 1000, true, "predicted"}},
		SingleAncestor{1, 1}, SingleAncestor{3, 3}, SingleAncestor{1, 3},
		PaddedNumbers{list("zip"), "[zip]"}, PaddedNumbers{list("zip", "shop"), "[zip, shop]"},
		WrittenNumbers{list("income with a decimal comma"), `data.csv: {decimal: ","}`}, WrittenNumbers{list("a with % behind them", "b with a decimal comma"), ""},
		DifferingWords{list("vin"), "[vin]"}, DifferingWords{list("vin", "email"), "[vin, email]"}, InexactNumbers{list("id"), "[id]"}, InexactNumbers{list("id", "key"), "[id, key]"},
		RoundedNumbers{list("id")}, RoundedNumbers{list("id", "key")}, DateIndex{list("__index_level_0__")}, DateIndex{list("a", "b")},
		RowsWithoutTarget{1, "birds.csv"}, RowsWithoutTarget{1200, "birds.csv"}, AlikeClasses{list(`"Yes"`, `"yes"`)}, AlikeWords{list(`colour ("Red" and "red")`)}, AlikeWords{list("a", "b")}, AlikeGroups{"patient", list(`"P3"`, `"p3"`)},
		FilledValues{1, 1, "new.csv"}, FilledValues{3, 2, "new.csv"},
	} {
		fs = append(fs, Of(k))
	}
	return fs
}

// Every kind has words that a person has read, those of testdata/words.txt, and a form in which runs keep it, that of testdata/kept.txt: a
// run of an older version is read by it. go test ./internal/finding -update writes both anew.
func TestWords(t *testing.T) {
	var b, kept strings.Builder
	made := map[string]bool{}
	for _, f := range all() {
		made[f.Kind] = true
		look := "note"
		if f.Warning() {
			look = "warning"
		}
		if f.PageOnly() {
			look += ", on pages"
		}
		if f.OfData() {
			look += ", of data"
		}
		if f.OfEvidence() {
			look += ", of evidence"
		}
		fmt.Fprintf(&b, "%s (%s)\n\t%s\n\t%s\n", f.Kind, look, f.Words(), f.Sentence())
		if beside := Beside([]Finding{f}); beside != "" {
			fmt.Fprintf(&b, "\tlog evidence 1.0, %s\n", beside)
		}
		if f.Brief() == "." || f.Words() == f.raw() {
			t.Errorf("%s has no words: %s", f.Kind, f.raw())
		}
		text, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&kept, "%s\n", text)
	}
	for kind := range kinds {
		if !made[kind] {
			t.Errorf("all makes no %s: add one, or several if its words depend on its numbers", kind)
		}
	}
	for file, text := range map[string]string{"words.txt": b.String(), "kept.txt": kept.String()} {
		file = "testdata/" + file
		if *update {
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if text != string(want) {
			t.Errorf("%s has changed: read it, and run this test with -update\n%s", file, cmp.Diff(string(want), text))
		}
	}
}

// TestEveryKindIsRead: every struct that has words is in the table by which runs are read.
func TestEveryKindIsRead(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^func \((?:\w+ )?(\w+)\) words\(\) words`).FindAllSubmatch(text, -1) {
			if name := string(m[1]); kinds[spelled(name, '-')] == nil {
				t.Errorf("%s: the finding %s is not in kinds (kinds.go), so that no run that kept it can be read", file, name)
			}
			found++
		}
	}
	if found != len(kinds) {
		t.Errorf("%d structs have words, and kinds has %d", found, len(kinds))
	}
}

// TestTwoLines: on a terminal of 80 columns a finding has at most two lines, what was found and what to do; the page has the rest. Names
// that a user gave may be as long as they like.
func TestTwoLines(t *testing.T) {
	for _, f := range all() {
		long := slices.ContainsFunc(slices.Collect(maps.Values(f.Names)), func(name string) bool { return len(name) > 50 })
		if f.PageOnly() || long {
			continue
		}
		lines, width := 1, 0
		for _, word := range strings.Fields(f.Words()) {
			n := len([]rune(word))
			if width > 0 && width+1+n > 80 {
				lines, width = lines+1, 0
			}
			width += min(width, 1) + n
		}
		if lines > 2 {
			t.Errorf("%s has %d lines: %s", f.Kind, lines, f.Words())
		}
	}
}

// All that findings say of a log evidence stands beside it.
func TestBeside(t *testing.T) {
	found := []Finding{Of(AsIs{}), Of(Merged{}), Of(IslandsStill{})}
	if got, want := Beside(found), "rests on one draw of the start, not to be trusted: the particles hardly moved"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := Beside(found[:1]); got != "" {
		t.Errorf("%q beside a log evidence of which nothing is to say", got)
	}
}

func TestRoundTrip(t *testing.T) {
	for _, f := range all() {
		text, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		var back Finding
		if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back, f) || back.Words() != f.Words() {
			t.Errorf("%s reads as %+v, %v", text, back, err)
		}
		if k, whole := f.read(); !whole || !reflect.DeepEqual(Of(k), f) {
			t.Errorf("%s is kept again as %+v: do two fields have one key?", text, Of(k))
		}
	}
	if x := Known(0); Known(math.NaN()) != nil || x == nil || *x != 0 {
		t.Errorf("0 is kept as %v, and NaN as a number", x)
	}
	var back Finding
	text, err := json.Marshal(Of(ChainsEnd{2, math.NaN(), math.Inf(1), nil, new(numeral.Number(math.NaN()))}))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &back); err != nil || !math.IsNaN(float64(back.Numbers["lowest"])) || !math.IsInf(float64(back.Numbers["highest"]), 1) ||
		len(back.Numbers) != 4 || !math.IsNaN(float64(back.Numbers["most"])) {
		t.Errorf("%s reads as %+v, %v", text, back, err)
	}
}

// A kind that only a newer version knows, and one that a newer version keeps with other numbers, are shown as they are. One that
// an older version kept with fewer numbers still has words.
func TestUnknown(t *testing.T) {
	for _, c := range []struct {
		f    Finding
		want string
	}{
		{Finding{Kind: "mood"}, "mood"},
		{Finding{Kind: "mood", Numbers: map[string]numeral.Number{"b": 0.5, "a": 2}, Names: map[string]string{"who": "me"}}, "mood: a 2, b 0.5, who me"},
		{Finding{Kind: "chain-stuck", Numbers: map[string]numeral.Number{"link": 2}}, "chain-stuck: link 2"},
		{Finding{Kind: "chains-end", Numbers: map[string]numeral.Number{"lowest": -2, "highest": -1, "least": 0.5, "most": 0.5}},
			"chains end at log-likelihoods of −2.0 to −1.0; they accepted 0.50 of their moves in the second half"},
		{Finding{Kind: "evidence-of-one"}, "evidence-of-one"},
		{Finding{Kind: "evidence", Names: map[string]string{"place": "metrics"}}, "evidence: place metrics"},
		{Finding{}, ""},
	} {
		if got := c.f.Words(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.f, got, c.want)
		}
		if c.f.Sentence() == "" || c.f.Kind == "mood" && c.f.Warning() {
			t.Errorf("%+v: %q, a warning: %v", c.f, c.f.Sentence(), c.f.Warning())
		}
	}
}

// TestEveryKindIsMade: some package makes a finding of each kind. Those whose kind depends on a number are made here.
func TestEveryKindIsMade(t *testing.T) {
	made := map[string]bool{}
	literal := regexp.MustCompile(`\b([A-Z]\w+)\{[^}]|\bOf\(finding\.(\w+)\{\}`) // finding.Is(f, finding.AsIs{}) makes none
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || filepath.Base(path) == "kinds.go" {
			return err
		}
		text, err := os.ReadFile(path)
		if own := filepath.Dir(path) == "../../internal/finding"; own || bytes.Contains(text, []byte("internal/finding\"")) {
			for _, m := range literal.FindAllSubmatch(text, -1) {
				made[spelled(string(m[1])+string(m[2]), '-')] = true
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for kind, of := range kinds {
		if !made[kind] {
			t.Errorf("nothing makes a %s: append finding.Of(finding.%s{…}) where it is found, or take the kind out", kind, of.Name())
		}
	}
}
