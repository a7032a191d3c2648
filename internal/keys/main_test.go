package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const root = "../.."

// TestFresh: what the command embeds and the page are as the comments in the source say.
func TestFresh(t *testing.T) {
	text, page, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string][]byte{meaningsFile: text, pageFile: page} {
		if got, err := os.ReadFile(filepath.Join(root, file)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not as the comments of the fields and %s say: run go generate ./spec (%v)", file, partsFile, err)
		}
	}
}

// TestPage: rows with a type, a default and a meaning, by hand.
func TestPage(t *testing.T) {
	_, page, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| `method.mcmc.epochs` | whole number | `1600` | full-batch gradients of a chain; default 1600 |",
		"| `method.mcmc.move.hmc.accept` | number | `0.75` |",
		"| `method.smc.move.hmc.accept` | number | `0.9` |",
		"| `method.smc.move.hmc` | block | – | Hamiltonian Monte Carlo with accept/reject |",
		"| `model.layers.N.dense.bias` | true or false | `true` | whether a bias is added |",
		"| `model.layers.N.dense.units` | whole number | – | number of outputs |",
		"| `prior.anchor.s` | number | must be given | from 0, the anchor alone, to 1, the prior without it |",
		"| `map.optimiser` | optimiser | `sgd` | makes the steps; default: sgd. One of `sgd`, `adam`, `adamw` |",
		"| `seed` | whole number | `0` |",
		"| `method.smcmc.particles` | whole number |",
	} {
		if !strings.Contains(string(page), "\n"+want) {
			t.Errorf("the page has no line %q", want)
		}
	}
}

// TestEveryKeyMeansSomething: no line is without a meaning, and none speaks to Go programs, except of what is theirs alone.
func TestEveryKeyMeansSomething(t *testing.T) {
	_, page, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(page)) {
		if strings.HasPrefix(line, "| `") && strings.HasSuffix(line, "|  |\n") {
			t.Errorf("no meaning: %s", line)
		}
		for _, word := range []string{"in Go", "nil", " Settings", "LearnedVariance", "Unadjusted", "MiniBatch", "(Travel)"} {
			if strings.HasPrefix(line, "| `") && strings.Contains(line, word) {
				t.Errorf("%q in %s", word, line)
			}
		}
	}
}

func TestComments(t *testing.T) {
	for text, want := range map[string]string{
		"Every is the number of moves.": "the number of moves",
		"of Adam; default .01":          "of Adam; default .01",
		"a number (in Go: −1), or none": "a number, or none", "its seed (nil: that of the run)": "its seed",
	} {
		if got := whatIs("Every", text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	got := partLines("## Filter method\n\n| name | settings | what it is |\n|---|---|---|\n| `kalman` | – | the exact answer. More |\n")
	if len(got) != 1 || got["filtermethod kalman"] != "the exact answer" {
		t.Errorf("%q", got)
	}
}
