package starling

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/starling-smc/starling/decide"
)

// TestCalibrateAsConfig: a decision has the same bytes, whether a run had the examples and the settings in its config, or only the examples, or
// neither, on any number of threads.
func TestCalibrateAsConfig(t *testing.T) {
	g := grow(t)
	arrays, known := g.arrays(t)
	for name, x := range map[string]struct {
		decide   string
		spec     func(sets ...string) Spec
		examples []string // settings
		c        Calibration
	}{
		"table": {
			"{temperature: true, sets: {rate: 0.8}, abstain: {at: {coverage: 0.8}}}",
			func(sets ...string) Spec { return g.spec(t, sets...) },
			[]string{"data.csv.calibrate=" + g.fresh}, Calibration{Data: g.fresh},
		},
		"classifier": {
			"{sets: {score: aps, rate: 0.7, by_class: true}, abstain: {by: classifier, at: f1}}",
			func(sets ...string) Spec { return g.spec(t, sets...) },
			[]string{"data.csv.calibrate=" + g.fresh, "data.calibrate_groups={far: " + g.far + "}"}, Calibration{Data: g.fresh, OOD: []string{g.far}},
		},
		"arrays": {
			"{temperature: true, sets: {rate: 0.8}, abstain: {by: confidence, at: {pass: 0.75}}}",
			func(sets ...string) Spec { return trees(t, append([]string{arrays}, sets...)...) },
			[]string{"data.calibrate={inputs: " + known.Data + ", targets: " + known.Labels + "}"}, known,
		},
		"numbers": {
			"{temperature: true, sets: {rate: 0.8}, abstain: {at: {risk: 0.5}, tolerance: 0.5}}",
			func(sets ...string) Spec { return regression(t, "both", sets...) },
			[]string{"data.csv.calibrate=testdata/wave.csv"}, Calibration{Data: "testdata/wave.csv"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, dir := kept(t, x.spec(append(x.examples, "decide="+x.decide)...))
			want := read(t, dir, decisionFile)
			for _, learnt := range []string{`"decide"`, `"weights"`, `"from"`} {
				if !bytes.Contains(want, []byte(learnt)) {
					t.Fatalf("nothing was learnt: %s", want)
				}
			}
			_, had := kept(t, x.spec(x.examples...))
			_, bare := kept(t, x.spec())
			x.c.Decide = deciders(t, x.decide)
			same := func(what, dir string, c Calibration, o Options) {
				calibrate(t, dir, c, o)
				if got := read(t, dir, decisionFile); !bytes.Equal(got, want) {
					t.Errorf("%s: %s\nwant\n%s", what, got, want)
				}
			}
			for _, threads := range []int{1, 2, 7} {
				same(fmt.Sprint("named, threads ", threads), bare, x.c, Options{Threads: threads})
			}
			same("its own", had, Calibration{Decide: x.c.Decide}, Options{})
			same("again", dir, Calibration{}, Options{})
			if name == "table" {
				x.c.Decide = &decide.Settings{Temperature: true, Sets: &decide.Sets{Rate: 0.8}, Abstain: &decide.Abstain{At: decide.Coverage(0.8)}}
				same("settings built in Go", bare, x.c, Options{})
			}
		})
	}
}

// TestCalibrateSeen: examples that the run has seen are told.
func TestCalibrateSeen(t *testing.T) {
	g := grow(t)
	_, dir := kept(t, g.spec(t))
	found := calibrate(t, dir, Calibration{Data: g.own}, Options{})
	if said := strings.Join(notes(found), "\n"); !strings.Contains(said, "of 50 calibration examples 40 train, 5 validate and 5 are for the test, too") {
		t.Errorf("found %s", said)
	}
}
