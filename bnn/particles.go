package bnn

import (
	"context"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/uq"
)

// Particles calls visit for every example i of a set with what each particle by itself predicts for it: values[v][j] is number
// v of particle j, in the ensemble's order. For a regression the numbers are the means of the target values. For classes there is
// one, the probability of the class that the ensemble answers. Several examples are visited at the same time; values is valid
// until visit returns. Targets of the set are ignored. p may be nil. An error says that the set does not fit the network, or is
// that of ctx.
//
// Memory does not grow with the number of examples: ParticlesBytes.
func (e *Ensemble) Particles(ctx context.Context, set *data.Set, p *nn.Pool, visit func(i int, values [][]float64)) error {
	predicts := e.means
	if !e.Net.Likelihood().Regression() {
		probabilities, err := e.probabilities()
		if err != nil {
			return err
		}
		weights, _ := exponentials([][]float64{e.LogWeights})
		predicts = func(of func(j int) []float32) [][]float64 {
			return [][]float64{answers(of, probabilities, weights[0], e.Net.Classes())}
		}
	}
	model, err := nn.NewModel(e.Net, set, p)
	if err != nil {
		return err
	}
	k, all := e.Net.Outputs(), make([]int, e.Size())
	for j := range all {
		all[j] = j
	}
	return e.blocks(ctx, model, all, func(first, n int, out []float32) {
		p.Run(n, func(i int) {
			visit(first+i, predicts(func(j int) []float32 { return out[(j*n+i)*k:][:k] }))
		})
	})
}

// means returns the mean of each target value in each particle's likelihood, for the particles' outputs of one example.
func (e *Ensemble) means(of func(j int) []float32) [][]float64 {
	values, mean, sd := make([][]float64, e.Net.Targets()), make([]float64, e.Net.Targets()), make([]float64, e.Net.Targets())
	for c := range values {
		values[c] = make([]float64, e.Size())
	}
	for j := range e.Size() {
		e.Net.Likelihood().Predicts(of(j), e.own(j), mean, sd)
		for c, m := range mean {
			values[c][j] = m
		}
	}
	return values
}

// answers returns each particle's probability of the class that is the most probable one under the weights of all.
func answers(of func(j int) []float32, probabilities func(*uq.Member, []float32), weights []float64, classes int) []float64 {
	particle, mixture := uq.NewMember(1, classes), uq.NewMixture(1, classes)
	each := make([]float64, 0, len(weights)*classes)
	for j, w := range weights {
		probabilities(particle, of(j))
		mixture.Add(w, particle)
		each = append(each, particle.Probs...)
	}
	answer := max(0, uq.Argmax(mixture.Predictive().Probs))
	values := make([]float64, len(weights))
	for j := range values {
		values[j] = each[j*classes+answer]
	}
	return values
}

const tile = 64 // examples that a network evaluates together

// atATime is the number of examples whose outputs of all particles are in memory at the same time.
func atATime(particles, outputs, examples int) int {
	return min(examples, max(held/(particles*outputs*tile), 1)*tile)
}

// ParticlesBytes is the memory that Particles takes for the outputs of some particles, beside the network's model.
func ParticlesBytes(particles, outputs, examples int) int64 {
	return 4 * int64(atATime(particles, outputs, examples)) * int64(particles) * int64(outputs)
}

// blocks calls visit with the outputs of the given particles for the n examples from first on, a block of examples after
// another: out[(a·n+i)·K+c] is output c of particles[a] for example first+i.
func (e *Ensemble) blocks(ctx context.Context, model *nn.Model, particles []int, visit func(first, n int, out []float32)) error {
	examples, k := model.Examples(), e.Net.Outputs()
	block := atATime(len(particles), k, examples)
	all, own := make([]float32, len(particles)*block*k), new(wide)
	for first := 0; first < examples; first += block {
		rows := span(first, min(first+block, examples))
		out := all[:len(particles)*len(rows)*k]
		done := 0
		for model, group := range e.passes(model, particles, e.most()) {
			size := len(group) * len(rows) * k
			if err := e.outputs(ctx, model, rows, group, own, out[done:done+size]); err != nil {
				return err
			}
			done += size
		}
		visit(first, len(rows), out)
	}
	return ctx.Err()
}
