package eval

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/nn"
)

// TestThreshold: the class of a row is decided by the threshold, for either class, where its probability is at least the threshold; the
// probabilities are those without one.
func TestThreshold(t *testing.T) {
	p := problem(t, testkit.Table(300, "no", "yes"), true, false)
	e := ensemble(t, network(t, 2, nn.Categorical{}), 1, 3, bnn.Equal{})
	in := saved(t, "in.csv", testkit.Table(60, "no", "yes"))
	plain := predicted(t, &Predictor{Posterior: e, Schema: p.Schema}, in)
	for _, text := range []string{"yes=0.2", "no=0.7"} {
		predictor := &Predictor{Posterior: e, Schema: p.Schema}
		threshold, err := ParseThreshold(text, predictor.Classes())
		if err != nil {
			t.Fatal(err)
		}
		predictor.Threshold = threshold
		differ := 0
		for i, row := range predicted(t, predictor, in)[1:] {
			was := plain[i+1]
			class, at, _ := strings.Cut(text, "=")
			probability := was[2]
			if class == "yes" {
				probability = was[3]
			}
			want := map[string]string{"yes": "no", "no": "yes"}[class]
			if parsed(t, probability) >= parsed(t, at) {
				want = class
			}
			if row[1] != want || strings.Join(row[2:], ",") != strings.Join(was[2:], ",") {
				t.Errorf("%s: %v, want %s; without: %v", text, row, want, was)
			}
			if row[1] != was[1] {
				differ++
			}
		}
		if differ == 0 {
			t.Errorf("%s: no class differs", text)
		}
	}
	if c := (&Threshold{1, .2}).class([]float64{math.NaN(), math.NaN()}); c != -1 {
		t.Errorf("NaN is class %d", c)
	}
	for text, want := range map[string]string{"yes": `"yes": want a class and a probability, as in yes=0.2`, "yes=2": `"2": want a probability above 0 and below 1`,
		"yes=NaN": "want a probability", "yse=0.2": `"yse" is no class of the run: want no or yes: did you mean "yes"?`} {
		if _, err := ParseThreshold(text, []string{"no", "yes"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for n, want := range map[int]string{0: "predicts numbers", 3: "the run has 3"} {
		if _, err := ParseThreshold("a=0.2", make([]string, n)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d classes: %v", n, err)
		}
	}
	if got, err := ParseThreshold("a=b=0.25", []string{"a", "a=b"}); err != nil || *got != (Threshold{1, .25}) {
		t.Errorf("a name with an equals sign: %+v, %v", got, err)
	}
}

func parsed(t *testing.T, text string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}
