package finding

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/numeral"
)

var update = flag.Bool("update", false, "write testdata/words.txt anew")

// all has every kind, and those whose words depend on numbers more than once.
func all() []Finding {
	one := Population{Islands: 1, Particles: 10, Iterations: 200, Single: 200, Resampled: 180, ESS: 1.25, LogWeightVar: 3204.5}
	many := one
	many.Islands, many.Particles, many.Iterations = 8, 1200, 1600
	epochs, lines, once := many, one, one
	epochs.Lines, lines.Lines, once.Resampled = Epochs, Lines, 1
	fs := []Finding{Optimiser(one), Optimiser(many), Optimiser(epochs), Merged(one), Merged(many), Merged(lines), Merged(once), NoEvidence("map"), NoPathOfTargets("bootstrap"), NoWeights("SVGD"), NoEvidenceByFresh("ctr", []string{"tempering", "full"}), NoFixedModel(), SVGDSpread()}
	for _, target := range []Target{EveryTarget, LastTarget, PartialTarget} {
		for _, trust := range []Trust{Estimate, OneDraw, NoTrust, Unmoved} {
			fs = append(fs, Evidence(target, trust, target == PartialTarget))
		}
	}
	const hmc, pcn, moves = "method.mcmc.move.hmc.step", "method.smc.move.pcn.step", "method.smc.move.pcn.mutations"
	return append(fs,
		ChainsEnd(8, -1160.31, -121.94, 0.6, 0.894), ChainsEnd(1, -428.61, -428.61, 0.6312, 0.6312),
		BiasedChainsEnd(8, -290.9, -147.3), BiasedChainsEnd(1, -428.61, -428.61), Biased("SGHMC (batches of 100 examples)", "method.mcmc.move.sghmc.step"),
		ChainsStuck([]int{2}, 0.04, hmc, true), ChainsStuck([]int{0, 3}, 0, hmc, false),
		ChainsStill([]int{1}, 0.001, hmc), ChainsStill([]int{1, 3}, 0.001, hmc),
		Divergence{Moves: 1, Of: 1, Aim: 0.9, Step: hmc, Short: true}.OfChains(), Divergence{Moves: 12, Of: 400, Aim: 0.75, Step: hmc}.OfChains(), Divergence{Moves: 12, Of: 400, Step: hmc}.OfChains(), Divergence{Moves: 3, Of: 400, Step: hmc}.OfChains(),
		FewTrajectories(Budget{Chains: 4, Few: 4, Epochs: 200, Trajectories: 2, Leapfrogs: 80, Enough: 20, Need: 1600, Field: "method.mcmc.epochs"}),
		FewTrajectories(Budget{Chains: 1, Few: 1, Epochs: 12, Trajectories: 12, Leapfrogs: 1, Enough: 20, Need: 20, Field: "method.mcmc.epochs"}),
		FewTrajectories(Budget{Chains: 8, Few: 3, Epochs: 800, Trajectories: 1, Leapfrogs: 423.4, Enough: 20, Need: 8468, Field: "method.mcmc.epochs"}),
		FewTrajectories(Budget{Chains: 8, Few: 8, Epochs: 500, Trajectories: 11, Leapfrogs: 43, Least: true, Enough: 20, Need: 860, Field: "method.mcmc.epochs"}),
		AsIs(), SWAGSpread(0.0049), SWAGSpread(1.1), Finding{Kind: "swag-spread"}, SWAGSpread(0.083), SWAGSpread(2.4), SWAGSpread(math.Inf(1)), MeanField(), ELBOUnsettled(12.69, 0.213, 100), ELBOUnsettled(-3.2, 0.4, 5000), ChosenByValidation("method.vi.keep", "validation"), PointAtMAP(), PointAtInit(), BeganAtInit(false), BeganAtInit(true), InitUnused(), Stopped(1, 1, 31, 31, 50, 10), Stopped(2, 3, 31, 44, 50, 1), Exploded(1, 1, 198.57, 1.5015, 1.0986, "method.smc.move.epoch.step"), Exploded(2, 3, 4.25, 1.53, 1.4189, "method.smc.move.leapfrog.step"),
		ConstantColumns([]string{"age"}), ConstantColumns([]string{"number 3", "number 5"}),
		EmptyColumns([]string{"age"}), EmptyColumns([]string{"age", "number 3"}), RowCounters([]string{"id"}, "[id]"), RowCounters([]string{"id", "number 2"}, "[id, \"2\"]"), IgnoredColumns("new.csv", []string{"day"}), IgnoredColumns("new.csv", slices.Repeat([]string{"day"}, 12)), ColumnsByPlace("new.csv"),
		UnknownWords("new.csv", 1, []Unlearnt{{"city", 1, `the first: "Lima", line 2`}}), UnknownWords("new.csv", 1234, []Unlearnt{{"city", 1030, `the first: "Lima", line 2`}, {"size", 1, `the first: "XXL", line 17`}}),
		NoLongerConstant("new.csv", 30, []Unlearnt{{"k", 12, "7 in training"}}),
		WordColumns([]string{"colour"}, 3), WordColumns([]string{"colour", "size"}, 1),
		RowNumbers([]string{"id"}, "[note, id]", "[id]"), RowNumbers([]string{"id", "order"}, "[id, order]", "[id, order]"), UnlikeWords([]string{"name"}, "[name]", 90, 120), UnlikeWords([]string{"name", "note"}, "[name, note]", 190, 120), UnitWords([]string{"price"}, "[price]"), UnitWords([]string{"price", "number 3"}, `[price, "3"]`),
		WholeAmounts("y", 4, "model.layers.4"), WholeAmounts("y", 1004, "model.layers.4"), MissingValues([]string{"age"}, true), MissingValues([]string{"age", "colour"}, true), MissingValues([]string{"age"}, false), MissingValues([]string{"age", "colour"}, false),
		ZeroFeatures([]int{4}), ZeroFeatures([]int{4, 9}), ZeroFeatures(make([]int, 21)), UnseenClasses([]string{"cedar"}, 1), UnseenClasses([]string{"3", "7"}, 12), RareClasses([]string{"cedar (3)"}, 5), RareClasses([]string{"3 (1)", "7 (4)"}, 5), RareClasses(slices.Repeat([]string{"c (1)"}, 12), 5), NoThreshold(1, 200), NoThreshold(3, 200), ChannelsLast("x.npy", 28, 28, 1),
		StoppedEarly(3, 0.03125), IslandsStuck([]int{0}, 0.1, pcn, true), IslandsStuck([]int{0, 2, 5}, 0.1, pcn, false),
		IslandsStill([]int{0}, 0.1, pcn), IslandsStill([]int{0, 2, 5}, 0.1, pcn),
		MovesStuck(Stuck{Stages: 5, Of: 40, Islands: 8, Temperature: 0.000305, Acceptance: 0.3, Mutations: 50, Displacement: 0.31, Step: pcn, Moves: moves}),
		MovesStuck(Stuck{Stages: 2, Of: 12, Islands: 1, Copies: 2, Temperature: 0.3, Acceptance: 0.3, Mutations: 50, Displacement: math.NaN(), Step: pcn, Moves: moves}),
		MovesStuck(Stuck{Stages: 2, Of: 12, Islands: 1, Copies: 1, Temperature: 0.3, Acceptance: 0.3, Mutations: 50, Displacement: math.NaN(), Step: pcn, Moves: moves}),
		MovesStuck(Stuck{Stages: 1, Of: 12, Islands: 1, Temperature: 0.3, Acceptance: 0.021, Mutations: 50, Displacement: 0.021, Refused: true, Step: pcn, Moves: moves}),
		MovesStuck(Stuck{Stages: 12, Of: 12, Islands: 1, Temperature: 0.012, Mutations: 1, Refused: true, Written: true, Step: pcn, Moves: moves, Failed: true}),
		MovesStuck(Stuck{Stages: 12, Of: 12, Islands: 1, Temperature: 0.012, Acceptance: 1, Mutations: 50, Written: true, Step: pcn, Moves: moves, Failed: true}),
		ScaleKept(1, 12, 1), ScaleKept(30, 96, 8),
		Divergence{Moves: 1, Of: 8, Step: pcn}.Lost(), Divergence{Moves: 1234, Of: 2000, Step: pcn}.Lost(), Divergence{Moves: 1, Of: 8, Aim: 0.9, Step: pcn}.Refused(), Divergence{Moves: 2, Of: 8, Step: pcn}.Refused(), Divergence{Moves: 1, Of: 800, Step: pcn}.Refused(), Divergence{Moves: 2, Of: 800, Step: pcn}.Refused(),
		IslandsEnd(14, 14, 0.574, 0.574, false, Accepted), IslandsEnd(200, 200, 0.02, 0.1, true, Weighed), IslandsEnd(50, 50, 0.4, 0.6, true, Uncorrected), IslandsEnd(9, 12, 0.04, 0.4, true, Accepted), IslandsEnd(9, 9, math.NaN(), math.NaN(), true, Weighed),
		Ancestors(3, 3, 10), Ancestors(2, 12, 1000), ChainsOutlying([]int{3}), ChainsOutlying([]int{1, 3}),
		ChainsAgree(RHat{8, 1.004, 1.03, 1.004, 1.004, 1.01, 3164.2}), ChainsAgree(RHat{1, 1, 1.01, 0.98, 1.02, math.NaN(), math.NaN()}),
		ChainsApart(RHat{8, 1.93, 3.41, 1.52, 2.36, 1.24, math.NaN()}), ChainsApart(RHat{8, math.Inf(1), math.Inf(1), math.Inf(1), math.Inf(1), math.NaN(), math.NaN()}), ChainsApart(RHat{4, 10.28, 31.5, 10.28, 10.28, 8.1, 4.1}),
		ChainsApart(RHat{1, 1.93, 3.41, 1.93, 1.93, 1.24, 4.6}),
		ChainsUnsure(RHat{8, 1.08, 1.31, 0.97, 1.2, 1.02, math.NaN()}), ChainsUnsure(RHat{1, 1.08, 1.31, 1.08, 1.08, 1.6, math.NaN()}),
		Unscored(1, 200), Unscored(3, 200), ChainsUntold(8, "a chain keeps 1 state, and R-hat needs 8", true), ChainsUntold(1, "no prediction is finite in all states and differs between them", false), ChainsUncompared(4, "a chain keeps 3 states, and R-hat needs 8", true, math.NaN()), ChainsUncompared(4, "a chain keeps 3 states, and R-hat needs 8", true, 4.2), ChainsUncompared(1, "no prediction is finite in all states and differs between them", false, math.Inf(1)), FewStates(31.6, 50),
		EvidenceAgrees(-2031.26, 0.52), EvidenceScatters(-2031.26, 7.02, 1.18, 8), EvidenceOfOne(-2031.26), EvidenceWithin(-2031.26, 0.84, false), EvidenceWithin(-2031.26, 3.2, true), LadderBias(-0.62), LadderBias(0.13),
		UnevenWeights(80, 3.21), DeadNetworks(1), DeadNetworks(12),
		FewDraws(3, 20, 8.2, 50), FewDraws(1, 1, 8.2, 50), LoneAncestor(1, 20), FiltersApart(3, 20, 5.24, 3), FiltersApart(1, 20, math.Inf(1), 3), OneBatch(500), PriorOfDecay(0.01, 48000, 1./480), SmallFilters(50, 20, 200), ErrorsUnknown(3, 20), ScansLeftOut(1), ScansLeftOut(2), OptimisedRuns([]string{"linear"}), OptimisedRuns([]string{"linear", "ctr"}), MergedRuns([]string{"linear", "ctr"}), UnmovedRuns([]string{"linear"}), UnmovedRuns([]string{"linear", "ctr"}), EnsembleBetter(Better{8, "0.25", "0.4", 0.15, 0.02, 7000, 1000, false}), EnsembleBetter(Better{1, "0.25", "0.4", 0.152, 0.0213, 50, 1000, true}),
		NoSkill(Class), NoSkill(Mean),
		Underconfident(Confidence{7000, 0.893, 0.9491, false, 1000, false}), Underconfident(Confidence{7000, 0.893, 0.9491, false, 1000, true}),
		Overconfident(Confidence{7000, 0.9491, 0.893, false, 1000, false}), Overconfident(Confidence{7000, 0.9491, 0.893, false, 1000, true}),
		Overconfident(Confidence{7000, 0.9491, 0.893, true, 1000, true}), Miscalibrated(0.083, 0.0312, 199),
		IntervalsNarrow(Coverage{0.712, 1200, 1000, false, "given"}), IntervalsNarrow(Coverage{0.712, 1200, 1000, true, "learned"}),
		IntervalsNarrow(Coverage{0.712, 1200, 1000, true, "predicted"}),
		IntervalsWide(Coverage{0.9815, 1200, 1000, false, "given"}), IntervalsWide(Coverage{0.9815, 1200, 1000, false, "predicted"}),
		IntervalsWide(Coverage{0.9815, 1200, 1000, true, "given"}), IntervalsWide(Coverage{0.9815, 1200, 1000, true, "learned"}),
		IntervalsWide(Coverage{0.9815, 1200, 1000, true, "predicted"}),
		SingleAncestor(1, 1), SingleAncestor(3, 3), SingleAncestor(1, 3),
	)
}

// Every kind has a function that makes it, and words that a person has read: those of testdata/words.txt, which
// go test ./internal/finding -update writes anew.
func TestWords(t *testing.T) {
	const file = "testdata/words.txt"
	var b strings.Builder
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
		if f.Words() == f.raw() {
			t.Errorf("%s has no words: %s", f.Kind, f.raw())
		}
	}
	for kind := range kinds {
		if !made[kind] {
			t.Errorf("no function makes a %s", kind)
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("words have changed: read them, and run this test with -update\n%s", b.String())
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
	found := []Finding{AsIs(), Merged(Population{}), IslandsStill([]int{0}, 0.1, "")}
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
	}
	var back Finding
	text, err := json.Marshal(ChainsEnd(2, math.NaN(), math.Inf(1), 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &back); err != nil || !math.IsNaN(float64(back.Numbers["lowest"])) || !math.IsInf(float64(back.Numbers["highest"]), 1) {
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
