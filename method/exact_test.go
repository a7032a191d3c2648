package method

import (
	"math"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/dense"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/nn"
)

// conjugate is a job on a linear network with bias, whose posterior is N(mean, Λ⁻¹) with Λ = I + ΦᵀΦ/τ², for rows Φ and noise τ.
type conjugate struct {
	job     *Job
	mean    []float64
	lambda  []float64 // Λ, row-major
	root    []float64 // its Cholesky factor
	queries [][]float64
}

// newConjugate draws n examples of features that have a correlation of .36, and validation examples, of which there are fewer.
func newConjugate(t testing.TB, seed uint64, n, features int) *conjugate {
	t.Helper()
	const noise = 0.5
	s := rng.Key{Seed: seed, Purpose: rng.Synthetic}.Stream()
	d := features + 1
	weights := make([]float64, d)
	s.Normals(weights)
	var rows [][]float64
	var y []float64
	draw := func(n int) *data.Set {
		set := &data.Set{Name: "linear", Shape: []int{features}, Outputs: 1}
		rows, y = nil, nil
		for range n {
			row, value, common := make([]float64, d), 0.5*s.Normal(), 0.6*s.Normal()
			row[features] = 1
			for i := range features {
				set.F32 = append(set.F32, float32(common+0.8*s.Normal()))
				row[i] = float64(set.F32[len(set.F32)-1])
			}
			for i, x := range row {
				value += 0.7 * weights[i] * x
			}
			set.Values = append(set.Values, float32(value))
			rows, y = append(rows, row), append(y, float64(set.Values[len(y)]))
		}
		return set
	}
	validate := draw(max(5, n/4))
	draw(40)
	c := &conjugate{queries: rows, mean: make([]float64, d), lambda: make([]float64, d*d)}
	train := draw(n)
	net, err := nn.New([]int{features}, []nn.Layer{nn.Dense{Units: 1}}, nn.Gaussian{SD: noise})
	if err != nil {
		t.Fatal(err)
	}
	c.job = table(t, net, train.F32, train.Values, 1)
	c.job.Data.Validate, c.job.Seed = validate, seed
	for i := range d {
		c.lambda[i*d+i] = 1
		for k, row := range rows {
			c.mean[i] += row[i] * y[k] / (noise * noise)
			for j := range d {
				c.lambda[i*d+j] += row[i] * row[j] / (noise * noise)
			}
		}
	}
	c.root = append(c.root, c.lambda...)
	if !dense.Cholesky(c.root, d) {
		t.Fatal("the precision has no Cholesky factor")
	}
	dense.Solve(c.root, c.mean)
	return c
}

// form is vᵀΛv.
func (c *conjugate) form(v []float64) (sum float64) {
	out := make([]float64, len(v))
	dense.MulVec(out, c.lambda, v)
	for i, x := range out {
		sum += x * v[i]
	}
	return sum
}

// gap is KL(q‖posterior) = log Z − ELBO at m and ρ, less that of the best q: m the posterior's mean, and σ_i² = 1/Λ_ii.
func (c *conjugate) gap(at []float64) (sum float64) {
	d := len(c.mean)
	from := make([]float64, d)
	for i := range d {
		from[i] = at[i] - c.mean[i]
		u := c.lambda[i*d+i] * softplus(at[d+i]) * softplus(at[d+i])
		sum += 0.5 * (u - 1 - math.Log(u))
	}
	return sum + 0.5*c.form(from)
}

// predicted compares the predictions of q with exact ones: the mean over the queries of their standard deviation by that of the best
// q, and the largest error of a mean in standard deviations of the posterior.
func (c *conjugate) predicted(at []float64) (ratio, off float64) {
	d := len(c.mean)
	for _, x := range c.queries {
		q, best, from := 0.0, 0.0, 0.0
		for i := range d {
			sigma := softplus(at[d+i])
			q += x[i] * x[i] * sigma * sigma
			best += x[i] * x[i] / c.lambda[i*d+i]
			from += x[i] * (at[i] - c.mean[i])
		}
		z := append([]float64(nil), x...)
		dense.Forward(c.root, z)
		exact := 0.0
		for _, v := range z {
			exact += v * v
		}
		ratio += math.Sqrt(q/best) / float64(len(c.queries))
		off = max(off, math.Abs(from)/math.Sqrt(exact))
	}
	return ratio, off
}
