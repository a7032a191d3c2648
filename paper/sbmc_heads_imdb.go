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

// imdbChains is S-HMC on P times ten chains, of so many moves.
func imdbChains(p, moves int) imdbRecipe {
	return imdbRecipe{fmt.Sprint("hmc-p", p), true, 8, fmt.Sprintf("{mcmc: {chains: %d, start: prior, epochs: %d, keep: last, move: {hmc: {steps: 1}}}}", 10*p, moves),
		append(imdbFew[:len(imdbFew):len(imdbFew)], "method.mcmc.chains=4", "method.mcmc.epochs=4")}
}

// imdbIslands is S-SMC with P islands of ten particles, and so many moves a temperature.
func imdbIslands(p, moves int) imdbRecipe {
	return imdbRecipe{fmt.Sprint("smc-p", p), true, 8, fmt.Sprintf("{smc: {islands: %d, particles: 10, combine: equal, path: {tempering: {ess: 0.5}}, "+
		"move: {hmc: {steps: 1, mutations: %d}}, resample: {scheme: multinomial, when: always}}}", p, moves),
		append(imdbFew[:len(imdbFew):len(imdbFew)], "method.smc.particles=4")}
}

// imdbCells are the rows of Tables 9 and 10, and those without the ReLU of the paper, which drops the negative half of the inputs.
func imdbCells() (cells []Cell) {
	type row struct {
		prefix, layers, variance, s string
		recipes                     []imdbRecipe
	}
	const relu, plain = "[relu, {dense: 2}]", "[{dense: 2}]"
	both := func(chain, m int) (all []imdbRecipe) { // moves of a chain, and of a temperature
		for _, p := range []int{1, 8} {
			all = append(all, imdbIslands(p, m), imdbChains(p, chain))
		}
		return all
	}
	for _, r := range []row{
		{"imdb-v40-", relu, "0.025", "", imdbPoints},
		{"imdb-v40-s10-", relu, "0.025", "0.1", both(25, 1)},
		{"imdb-v1-", relu, "1", "", imdbPoints},
		{"imdb-v1-s35-", relu, "1", "0.35", both(26, 1)},
		{"imdb-v1-s25-", relu, "1", "0.25", both(26, 2)},
		{"imdb-v1-s10-", relu, "1", "0.1", both(26, 2)},
		{"imdb-plain-v1-", plain, "1", "", imdbPoints},
		{"imdb-plain-v1-s10-", plain, "1", "0.1", both(26, 2)[2:]}, // eight islands alone
	} {
		for _, m := range r.recipes {
			name := r.prefix + m.name
			cells = append(cells, Cell{
				Name: name, Substitute: imdbSubstitute, Prepare: imdbThere, Published: publishedOf(imdbPublished, name), Reduced: m.reduced,
				Config: func(at Place) Config { return Config{Text: m.text(at, r.layers, r.variance, r.s)} },
			})
		}
	}
	return cells
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
