package paper

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/starling-smc/starling"
)

// The paper's IMDb has all 50,000 reviews as embeddings of all-mpnet-base-v2, 768 numbers each. Here 12,000 of them are embeddings of
// all-MiniLM-L6-v2, 384 numbers of length 1 together: docs/results/sbmc-heads.md says how they are made.

const imdbSubstitute = "another encoder, 6,000 rows"

// The folder of the embeddings in the folder of data, and its files. Foreign inputs are in files emb_ood_GROUP.npy.
const imdbFolder = "imdb"

var imdbParts = []string{"emb_train", "emb_train_labels", "emb_test", "emb_test_labels"}

// imdbThere says which file of the embeddings is missing.
func imdbThere(_ context.Context, at Place, _ starling.Options) error {
	names := slices.Clone(imdbParts)
	for _, group := range imdbGroups {
		names = append(names, "emb_ood_"+group)
	}
	for _, name := range names {
		file := imdbFile(at.Data, name)
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return &starling.DataError{Err: fmt.Errorf("%s is missing, embeddings of film reviews that nobody offers for download: make them by the script "+
				"in docs/results/sbmc-heads.md, section “The embeddings”, and name the folder that holds %s by --data-dir", file, imdbFolder)}
		} else if err != nil {
			return &starling.DataError{Err: err}
		}
	}
	return nil
}

func imdbFile(dataDir, name string) string { return filepath.Join(dataDir, imdbFolder, name+".npy") }

// imdbSearch suits inputs of length 1, whose gradients are small: the usual search (sgd, rate .03) is still on its way after 300 epochs. By
// the NLL on the validation rows it is as good as smaller rates and batches, and it takes the fewest steps: docs/results/sbmc-heads.md.
const imdbSearch = "optimiser: adam, rate: 0.03, batch: 512, epochs: 300, patience: 30"

// imdbRecipe is a method on a head with a prior variance. The anchored ones have a prior around the best of eight restarts.
type imdbRecipe struct {
	name     string
	anchored bool
	restarts int
	method   string
	reduced  []string
}

var (
	imdbFew    = []string{"map.restarts=2", "map.epochs=3"}
	imdbMAP    = imdbRecipe{"map", false, 8, "map", imdbFew}
	imdbPoints = []imdbRecipe{
		imdbMAP,
		{"laplace", false, 8, "{laplace: {draws: 10}}", imdbFew},
		{"ensemble", false, 10, "{ensemble: {members: 10}}", []string{"map.epochs=3", "map.restarts=2", "method.ensemble.members=2"}},
		// Chains as those of preset mnist7-chains.
		{"chains", false, 8, "{mcmc: {chains: 8, start: map, epochs: 1600, keep: 80, move: {hmc: {length: auto}}}}",
			append(imdbFew[:len(imdbFew):len(imdbFew)], "method.mcmc.chains=2", "method.mcmc.epochs=500", "method.mcmc.keep=4")},
	}
)

// imdbTogether is S-HMC on eight islands of ten chains, of so many moves. Alone, a chain of so few moves finds no step.
func imdbTogether(moves int) imdbRecipe {
	return imdbRecipe{"hmc-p8", true, 8, fmt.Sprintf("{mcmc: {chains: 80, together: 10, start: prior, epochs: %d, keep: last, move: {hmc: {steps: 1}}}}", moves),
		append(imdbFew[:len(imdbFew):len(imdbFew)], "method.mcmc.chains=16", "method.mcmc.together=2", "method.mcmc.epochs=4")}
}

// imdbIslands is S-SMC with eight islands of ten particles, and so many moves a temperature.
func imdbIslands(moves int) imdbRecipe {
	return imdbRecipe{"smc-p8", true, 8, fmt.Sprintf("{smc: {islands: 8, particles: 10, combine: equal, path: {tempering: {ess: 0.5}}, "+
		"move: {hmc: {steps: 1, mutations: %d}}, resample: {scheme: multinomial, when: always}}}", moves),
		append(imdbFew[:len(imdbFew):len(imdbFew)], "method.smc.particles=4")}
}

// imdbCells are the rows of Tables 9, 10 and 17 to 20, those without the ReLU of the paper, which drops the negative half of the inputs, and those of
// Tables 5 and 6.
func imdbCells() (cells []Cell) {
	const relu, plain = "[relu, {dense: 2}]", "[{dense: 2}]"
	both := func(chain, m int) []imdbRecipe { return []imdbRecipe{imdbIslands(m), imdbTogether(chain)} } // moves of a chain, and of a temperature
	for _, r := range []struct {
		prefix, layers, variance, s string
		recipes                     []imdbRecipe
	}{
		{"v40-", relu, "0.025", "", imdbPoints},
		{"v40-s10-", relu, "0.025", "0.1", both(25, 1)},
		{"v1-", relu, "1", "", imdbPoints},
		{"v1-s35-", relu, "1", "0.35", both(26, 1)},
		{"v1-s25-", relu, "1", "0.25", both(26, 2)},
		{"v1-s10-", relu, "1", "0.1", both(26, 2)},
		{"plain-v1-", plain, "1", "", imdbPoints},
		{"plain-v1-s10-", plain, "1", "0.1", both(26, 2)},
	} {
		over := r.s != "" && r.layers == relu
		for _, p := range []int{1, 2, 4} {
			for _, m := range r.recipes {
				if over {
					cells = append(cells, part(fmt.Sprint(onIMDb, r.prefix, strings.TrimSuffix(m.name, "8"), p), onIMDb+r.prefix+m.name, p, p, ""))
				}
			}
		}
		for _, m := range r.recipes {
			cells = append(cells, Cell{Name: onIMDb + r.prefix + m.name, Reduced: m.reduced, Config: func(at Place) Config {
				return Config{Text: m.text(at, r.layers, r.variance, r.s)}
			}})
		}
		if over {
			cells = append(cells, part(onIMDb+r.prefix+"smc-p8-evidence", onIMDb+r.prefix+"smc-p8", 8, 8, "combine: evidence\n"))
		}
	}
	cells = append(cells, imdbAnswers()...)
	for i := range cells {
		cells[i].Substitute, cells[i].Prepare = imdbSubstitute, imdbThere
	}
	return cells
}

// imdbAnswers are the rows of Tables 5 and 6: as decidedCells, but for the examples that teach, since IMDb has none beside those to test. They are a
// half of these and of each foreign group.
func imdbAnswers() (cells []Cell) {
	for _, v := range []struct{ prior, anchor string }{{"v40-", "s10-"}, {"v1-", "s35-"}} {
		for _, of := range []struct {
			name, run string
			islands   int
		}{
			{"map", "map", 0}, {"ensemble", "ensemble", 0}, {v.anchor + "smc-p1", v.anchor + "smc-p8", 1}, {v.anchor + "smc-p8", v.anchor + "smc-p8", 8},
			{v.anchor + "hmc-p1", v.anchor + "hmc-p8", 1}, {v.anchor + "hmc-p8", v.anchor + "hmc-p8", 8},
		} {
			cells = append(cells, part(onAnswers+onIMDb+v.prior+of.name+"-f1", onIMDb+v.prior+of.run, of.islands, of.islands,
				"half: true\ndecide: {abstain: {by: classifier, at: f1}}\n"))
		}
	}
	return cells
}

// Errors of IMDb's tables.
var (
	misprintA6 = Misprint{"A6", "IMDb's tables call this ECE. One of .37 to .44 is impossible with their accuracies and NLLs, but not the same of another confidence: " +
		"of the probability that a review is positive, beside whether the answer is right. So it stands there, and no ECE of IMDb is published"}
	misprintA7 = Misprint{"A7", "the text gives this pair for v = .1, and Table 10 has it for v = 1. The row of the MAP in Table 10 prints one zero too few"}
)

// imdbMisprints are the figures of IMDb's cells that have a mark.
func imdbMisprints() map[string]map[string][]string {
	all := map[string]map[string][]string{}
	for name, f := range figuresOf(headsPrinted) {
		if f[eceClass1] != nil {
			all[name] = map[string][]string{"A6": {eceClass1}}
		}
	}
	all["imdb-v1-map"]["A7"] = []string{"epistemic_meta_json"}
	all["imdb-v1-s10-smc-p8"]["A7"] = []string{"accuracy", "nll"}
	return all
}

// text is the config of the recipe; s is the anchor's.
func (m imdbRecipe) text(at Place, layers, variance, s string) []byte {
	file := func(name string) string { return fmt.Sprintf("%q", imdbFile(at.Data, name)) }
	var groups []string
	for _, group := range imdbGroups {
		groups = append(groups, fmt.Sprintf("%s: %s", group, file("emb_ood_"+group)))
	}
	prior := fmt.Sprintf("normal: {variance: %s}", variance)
	if m.anchored {
		prior += fmt.Sprintf(", anchor: {s: %s}", s)
	}
	return fmt.Appendf(nil, `data:
  train: {inputs: %s, targets: %s}
  test: {inputs: %s, targets: %s}
  groups: {%s}
  split: {validate: 0.1}
model: {input: [384], layers: %s, likelihood: categorical}
prior: {%s}
map: {restarts: %d, %s}
method: %s
`, file(imdbParts[0]), file(imdbParts[1]), file(imdbParts[2]), file(imdbParts[3]), strings.Join(groups, ", "), layers, prior, m.restarts, imdbSearch, m.method)
}
