package paper

import "fmt"

// The paper updates the last layer of GPT-2 by rank 50 on tiny Shakespeare (its appendix A.1). Here a network of characters is trained on
// 85 % of the text (AdamW), and its last layer gets an update of rank 8 from 20,000 positions of the 5 % behind them. The other layers stay, so
// that the update is learned from their outputs (shakespeareFeatures).

const shakespeareSubstitute = "a network of 149,073 parameters that predicts characters, an update of rank 8"

// shakespeareNetwork is the cell that trains the network. The others begin at it.
const shakespeareNetwork = "shakespeare-network"

// shakespeareSearch finds the update: each restart begins at the trained network, B = 0, and at an A of its own.
const shakespeareSearch = "optimiser: adam, rate: 0.003, batch: 128, epochs: 20, patience: 5"

// shakespeareRecipe is a method on the update.
type shakespeareRecipe struct {
	name     string
	anchored bool
	search   int // restarts; 0: none
	method   string
	reduced  []string
}

// shakespeareFew are the changes of a search for the reduced protocol.
var shakespeareFew = []string{"map.epochs=1", "data.split.train=0.02"}

var shakespeareRecipes = []shakespeareRecipe{
	{"map", false, 4, "map", append([]string{"map.restarts=1"}, shakespeareFew...)},
	{"ensemble", false, 10, "{ensemble: {members: 10}}", append([]string{"map.restarts=2", "method.ensemble.members=2"}, shakespeareFew...)},
	shakespeareChains(1), shakespeareChains(8),
	// Chains of longer trajectories, which begin at the trained network.
	{"chains", false, 0, "{mcmc: {chains: 8, start: init, epochs: 200, keep: 80, move: {hmc: {steps: 10}}, trace: {every: 5}}}",
		[]string{"method.mcmc.chains=2", "method.mcmc.epochs=100", "method.mcmc.keep=2", "data.split.train=0.02"}},
}

// shakespeareChains is S-HMC on P times ten chains, around the best of four restarts.
func shakespeareChains(p int) shakespeareRecipe {
	return shakespeareRecipe{fmt.Sprint("hmc-p", p), true, 4, fmt.Sprintf("{mcmc: {chains: %d, start: prior, epochs: 25, keep: last, move: {hmc: {steps: 1}}, trace: {every: 5}}}", 10*p),
		append([]string{"map.restarts=1", "method.mcmc.chains=4", "method.mcmc.epochs=5"}, shakespeareFew...)}
}

func shakespeareCells() []Cell {
	cells := []Cell{{
		Name: shakespeareNetwork, Substitute: shakespeareSubstitute, Reduced: []string{"map.epochs=1", "data.split={train: 0.02}"},
		Config: func(Place) Config {
			return Config{Text: []byte(`data: {set: tinyshakespeare}
model:
  layers: [{embed: {tokens: 65, width: 16}}, {dense: 256}, relu, {dense: 65}]
  likelihood: categorical
prior: {normal: {fan_in: 2}}
map: {restarts: 1, optimiser: adamw, schedule: cosine, rate: 0.001, batch: 256, epochs: 3}
method: map
`)}
		},
	}}
	for _, r := range shakespeareRecipes {
		cells = append(cells, Cell{
			Name: "shakespeare-" + r.name, Substitute: shakespeareSubstitute, Needs: []Need{{Cell: shakespeareNetwork}}, Reduced: r.reduced, Prepare: shakespeareFeatures,
			Config: func(at Place) Config { return Config{Text: r.text(at)} },
		})
	}
	return cells
}

// text is the config of the recipe. Of the 5 % of the text its split takes 20,000 positions.
func (r shakespeareRecipe) text(at Place) []byte {
	prior, search := "normal: {fan_in: 1}", ""
	if r.anchored {
		prior += ", anchor: {s: 0.1}"
	}
	if r.search > 0 {
		search = fmt.Sprintf("map: {restarts: %d, %s}\n", r.search, shakespeareSearch)
	}
	file := func(name string) string { return fmt.Sprintf("%q", featuresFile(at, name)) }
	part := func(name string) string {
		return fmt.Sprintf("%s: {inputs: %s, targets: %s}", name, file(name+".npy"), file(name+"-labels.npy"))
	}
	return fmt.Appendf(nil, `data:
  %s
  %s
  %s
  split: {train: 0.35883}
model:
  input: [256]
  init: %s
  layers: [{lora: {units: 65, rank: 8, alpha: 8}}]
  likelihood: categorical
prior: {%s}
%smethod: %s
`, part("train"), part("validate"), part("test"), file(headFile), prior, search, r.method)
}
