package method

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/dense"
	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
)

// widths is a prior of independent normals with any means and widths, of which Laplace asks for nothing else.
type widths struct {
	mcmc.Prior
	mean, sd []float64
}

func (w widths) Mean(i int) float64 { return w.mean[i] }
func (w widths) SD(i int) float64   { return w.sd[i] }

// headJob is a job of a network without hidden layers and model.init, on some inputs and targets.
func headJob(t *testing.T, x [][]float64, y []float64, outputs int, bias bool, lik nn.Likelihood) *Job {
	t.Helper()
	d := len(x[0])
	set := &data.Set{Name: "linear", Shape: []int{d}}
	for _, row := range x {
		for _, v := range row {
			set.F32 = append(set.F32, float32(v))
		}
	}
	for _, v := range y {
		if lik.Regression() {
			set.Values, set.Outputs = append(set.Values, float32(v)), outputs
		} else {
			set.Labels, set.Classes = append(set.Labels, int32(v)), outputs
		}
	}
	net, err := nn.New([]int{d}, []nn.Layer{nn.Dense{Units: outputs, NoBias: !bias}}, lik)
	if err != nil {
		t.Fatal(err)
	}
	j := &Job{Seed: 3, Net: net, Pool: pool.New(2), Run: without(t), Data: &data.Problem{Name: "linear", Train: set, Test: set}}
	if j.Model, err = nn.NewTraining(net, j.Data, j.Pool); err != nil {
		t.Fatal(err)
	}
	return j
}

// randomLinear is such a job on n random examples, with random parameters as model.init.
func randomLinear(t *testing.T, n, outputs int, lik nn.Likelihood) *Job {
	t.Helper()
	s := rng.Key{Seed: 5, Purpose: rng.Synthetic}.Stream()
	x, y := make([][]float64, n), []float64(nil)
	for i := range x {
		x[i] = make([]float64, 3)
		s.Normals(x[i])
		if !lik.Regression() {
			y = append(y, float64(s.IntN(outputs)))
			continue
		}
		for range outputs {
			y = append(y, s.Normal())
		}
	}
	j := headJob(t, x, y, outputs, true, lik)
	j.Init = make([]float64, j.Net.Dim())
	s.Normals(j.Init)
	p := widths{mean: make([]float64, j.Net.Dim())}
	for _, v := range j.Net.Random() { // the bias has another width
		for range v.Size {
			p.sd = append(p.sd, map[nn.Kind]float64{nn.Weights: 0.7, nn.Biases: 2, nn.Own: 1}[v.Kind])
		}
	}
	j.Prior = p
	return j
}

func curve(t *testing.T, j *Job, m Laplace) *curvature {
	t.Helper()
	m.Defaults()
	m.Precision = cmp.Or(m.Precision, PrecisionPrior)
	c, err := newCurvature(m, j)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := runs.RunPart(t.Context(), c, nil); err != nil {
		t.Fatal(err)
	}
	return c
}

// covariance is P⁻¹, by what draw makes of each unit vector.
func (c *curvature) covariance() []float64 {
	d := len(c.at)
	rows, cov := make([]float64, d*d), make([]float64, d*d)
	for i := range d {
		unit := make([]float64, d)
		unit[i] = 1
		c.form.draw(c.Factor, unit, rows[i*d:(i+1)*d])
	}
	for i := range d {
		for j := range d {
			for k := range d {
				cov[i*d+j] += float64(rows[k*d+i] * rows[k*d+j])
			}
			cov[i*d+j] *= c.sd[i] * c.sd[j]
		}
	}
	return cov
}

// For a gaussian likelihood and a linear network Laplace at the posterior's mean is the posterior: covariance, evidence, and no way left to
// the maximum. At another network the covariance is the same, and the rise to the maximum is what the evidence lacks. Inputs, targets and
// sums of the network are float32.
func TestLaplaceIsConjugate(t *testing.T) {
	tested := 0
	for _, g := range golden.Read(t, "../../smc/testdata/conjugate.json") {
		var in struct {
			X              [][]float64
			Y              []float64
			Sigma2, Lambda float64
			PriorVar       float64   `json:"prior_var"`
			PriorMean      []float64 `json:"prior_mean"`
		}
		var want struct {
			Mean, Cov []any
			LogZ      float64
			LogDet    float64 `json:"log_det_cov"`
			Var       []float64
		}
		if json.Unmarshal(g.Inputs, &in) != nil || in.Lambda != 1 || json.Unmarshal(g.Expected, &want) != nil {
			continue
		}
		tested++
		d := len(in.X[0])
		j := headJob(t, in.X, in.Y, 1, false, nn.Gaussian{SD: math.Sqrt(in.Sigma2)})
		j.Prior = widths{mean: in.PriorMean, sd: slices.Repeat([]float64{math.Sqrt(in.PriorVar)}, d)}
		for _, m := range want.Mean {
			j.Init = append(j.Init, m.(float64))
		}
		for _, structure := range []string{"full", "kron"} {
			c := curve(t, j, Laplace{Structure: structure})
			cov := c.covariance()
			for i, v := range want.Var {
				if !golden.Near(cov[i*d+i], v, 1e-5, 0) {
					t.Errorf("%s, %s: variance %d is %v, want %v", g.Name, structure, i, cov[i*d+i], v)
				}
				for k, v := range want.Cov {
					if got, want := cov[i*d+k], v.([]any); k < d && !golden.Near(got, want[i].(float64), 1e-5, 1e-5*math.Sqrt(cov[i*d+i]*cov[k*d+k])) {
						t.Errorf("%s, %s: covariance %d, %d is %v, want %v", g.Name, structure, i, k, got, want[i])
					}
				}
			}
			if !golden.Near(c.Evidence, want.LogZ, 1e-6, 1e-4) {
				t.Errorf("%s, %s: log evidence %v, want %v", g.Name, structure, c.Evidence, want.LogZ)
			}
			if rise, way := c.away(); rise > 1e-6 || way > 1e-3 {
				t.Errorf("%s, %s: the maximum is %v nats and %v sd away", g.Name, structure, rise, way)
			}
			off := *j
			off.Init = slices.Clone(j.Init)
			for i := range off.Init {
				off.Init[i] += 0.3 * math.Sin(float64(i+1))
			}
			o := curve(t, &off, Laplace{Structure: structure})
			if rise, _ := o.away(); !golden.Near(o.Evidence+rise, want.LogZ, 1e-5, 1e-4) || rise < 0.01 {
				t.Errorf("%s, %s: log evidence %v and a rise of %v, want %v together", g.Name, structure, o.Evidence, rise, want.LogZ)
			}
		}
	}
	if tested != 4 {
		t.Errorf("%d golden cases, want 4", tested)
	}
}

// A gaussian linear head has one G for all examples, so that kron is full, whatever the widths of weights and bias. For classes it is not,
// and diagonal is the diagonal of full for both.
func TestLaplaceStructuresAgree(t *testing.T) {
	for _, c := range []struct {
		lik    nn.Likelihood
		kron   bool
		inches float64
	}{{nn.Gaussian{SD: 0.6}, true, 1e-5}, {nn.Categorical{}, false, 0.01}} {
		j := randomLinear(t, 40, 3, c.lik)
		full, kron, diagonal := curve(t, j, Laplace{Structure: "full"}), curve(t, j, Laplace{Structure: "kron"}), curve(t, j, Laplace{Structure: "diagonal"})
		a, b, far, d := full.covariance(), kron.covariance(), 0.0, j.Net.Dim()
		for i := range d {
			for k := range d {
				far = max(far, math.Abs(a[i*d+k]-b[i*d+k])/math.Sqrt(a[i*d+i]*a[k*d+k]))
			}
			h := full.form.(*fullForm).h[i*d+i]
			if got := diagonal.form.(*diagonalForm).h[i]; !golden.Near(got, h, 1e-5, 1e-9) {
				t.Errorf("%s: diagonal %d is %v, want %v", c.lik, i, got, h)
			}
		}
		if c.kron != (far < c.inches) {
			t.Errorf("%s: kron and full differ by %v of the widths", c.lik, far)
		}
		if c.kron && !golden.Near(kron.Evidence, full.Evidence, 1e-6, 1e-4) {
			t.Errorf("%s: log evidence %v and %v", c.lik, kron.Evidence, full.Evidence)
		}
	}
}

// Draws have the covariance of q, of every structure, with a false failure in 10⁶ runs: of n = 40,000 draws of 12 parameters each of the
// 78 entries of the covariance and of the 12 means is within 6 standard errors, which are √((c_ii c_jj + c_ij²)/n) and √(c_ii/n). whiten is
// the transpose of draw.
func TestLaplaceDraws(t *testing.T) {
	const n = 40000
	for _, structure := range structureNames() {
		j := randomLinear(t, 30, 3, nn.Categorical{})
		c := curve(t, j, Laplace{Structure: structure, Draws: n, Predict: PredictDraws})
		e, err := c.ensemble(c.Factor)
		if err != nil {
			t.Fatal(err)
		}
		want, d := c.covariance(), j.Net.Dim()
		got, mean := make([]float64, d*d), make([]float64, d)
		for k := range n {
			theta := e.Theta[k*d : (k+1)*d]
			for i := range d {
				x := float64(theta[i]) - c.at[i]
				mean[i] += x / n
				for l := range d {
					got[i*d+l] += x * (float64(theta[l]) - c.at[l]) / n
				}
			}
		}
		for i := range d {
			if math.Abs(mean[i]) > 6*math.Sqrt(want[i*d+i]/n) {
				t.Errorf("%s: mean %d is off by %v", structure, i, mean[i])
			}
			for l := range d {
				if off := got[i*d+l] - want[i*d+l]; math.Abs(off) > 6*math.Sqrt((want[i*d+i]*want[l*d+l]+want[i*d+l]*want[i*d+l])/n) {
					t.Errorf("%s: covariance %d, %d is %v, want %v", structure, i, l, got[i*d+l], want[i*d+l])
				}
			}
		}
		s := rng.Key{Seed: 9, Purpose: rng.Synthetic}.Stream()
		x, y, rx, ry := make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d)
		s.Normals(x)
		s.Normals(y)
		c.form.draw(0.3, x, rx)
		c.form.whiten(0.3, y, ry)
		if a, b := dot(rx, y), dot(x, ry); !golden.Near(a, b, 1e-12, 1e-12) {
			t.Errorf("%s: yᵀ R x is %v, and (Rᵀ y)ᵀ x %v", structure, a, b)
		}
	}
}

func dot(x, y []float64) (sum float64) {
	for i := range x {
		sum += float64(x[i] * y[i])
	}
	return sum
}

// The precision that draw, whiten and logDet stand for is N·A⊗G + τΛ, which is made here entry by entry from the factors. Those are sums in
// float32, so an eigenvalue of 0 may be one below it by as much, which is mended.
func TestLaplaceKronByDefinition(t *testing.T) {
	updated := newJob(t, 2)
	layers := []nn.Layer{nn.Dense{Units: 4}, nn.Tanh, nn.LoRA{Units: updated.Net.Outputs(), Rank: 2, Alpha: 3}}
	net, err := nn.New(updated.Net.Input(), layers, updated.Net.Likelihood())
	if err != nil {
		t.Fatal(err)
	}
	fixed := make([]float64, 4*net.Outputs()+net.Outputs()) // W and b
	for i := range fixed {
		fixed[i] = 0.3 * math.Sin(float64(i))
	}
	if updated.Net, err = net.With(fixed); err != nil {
		t.Fatal(err)
	}
	if updated.Model, err = nn.NewTraining(updated.Net, updated.Data, updated.Pool); err != nil {
		t.Fatal(err)
	}
	for name, j := range map[string]*Job{"dense": newJob(t, 2), "lora": updated} {
		t.Run(name, func(t *testing.T) { kronByDefinition(t, j) })
	}
}

func kronByDefinition(t *testing.T, j *Job) {
	j.Init = make([]float64, j.Net.Dim())
	for i := range j.Init {
		j.Init[i] = 0.4 * math.Cos(float64(i))
	}
	p := widths{mean: make([]float64, j.Net.Dim())}
	for k, v := range j.Net.Random() {
		for range v.Size {
			p.sd = append(p.sd, 0.5+0.3*float64(k))
		}
	}
	j.Prior = p
	c := curve(t, j, Laplace{})
	factors, err := j.Model.Factors(t.Context(), j.Init)
	if err != nil {
		t.Fatal(err)
	}
	const tau = 0.7
	d, n := j.Net.Dim(), float64(j.Model.Examples())
	precision := make([]float64, d*d)
	for i, s := range p.sd {
		precision[i*d+i] = tau / (s * s)
	}
	for _, f := range factors {
		out, in := f.Weight.Shape[0], f.Weight.Shape[1]
		inputs := in
		if f.Bias != nil {
			inputs++
		}
		at := func(o, i int) int {
			if i == in {
				return f.Bias.Offset + o
			}
			return f.Weight.Offset + o*in + i
		}
		for o := range out {
			for i := range inputs {
				for o2 := range out {
					for i2 := range inputs {
						precision[at(o, i)*d+at(o2, i2)] += n * f.A[i*inputs+i2] * f.G[o*out+o2]
					}
				}
			}
		}
	}
	c.Factor = tau
	cov := c.covariance()
	for i := range d {
		for k := range d {
			sum := 0.0
			for l := range d {
				sum += precision[i*d+l] * cov[l*d+k]
			}
			if want := map[bool]float64{true: 1}[i == k]; math.Abs(sum-want) > 1e-5 {
				t.Fatalf("P P⁻¹ is %v at %d, %d", sum, i, k)
			}
		}
	}
	if !dense.Cholesky(precision, d) {
		t.Fatal("P is not positive definite")
	}
	want := dense.LogDet(precision, d)
	for _, s := range p.sd {
		want += 2 * math.Log(s)
	}
	if got := c.form.logDet(tau); !golden.Near(got, want, 1e-6, 1e-5) {
		t.Errorf("log|S P S| is %v, want %v", got, want)
	}
}

// A draw of a linear network predicts the same by its tangent, at the trained network, as by itself.
func TestLaplaceLinearised(t *testing.T) {
	for _, lik := range []nn.Likelihood{nn.Categorical{}, nn.Gaussian{SD: 0.5}} {
		j := randomLinear(t, 50, 3, lik)
		ofNetworks, err := curve(t, j, Laplace{Predict: PredictDraws}).ensemble(1)
		if err != nil {
			t.Fatal(err)
		}
		ofTangents, err := curve(t, j, Laplace{}).ensemble(1)
		if err != nil {
			t.Fatal(err)
		}
		if ofTangents.Centre == nil || ofNetworks.Centre != nil || !slices.Equal(ofTangents.Theta, ofNetworks.Theta) {
			t.Fatal("the ensembles are of other kinds, or have other draws")
		}
		for i, x := range j.Init {
			if ofTangents.Centre[i] != float32(x) {
				t.Fatalf("%s: parameter %d of the centre is %v, of the network %v", lik, i, ofTangents.Centre[i], x)
			}
		}
		a, b := particles(t, ofNetworks, j), particles(t, ofTangents, j)
		wantNear(t, lik.String(), b, a, 1e-5)
		if spread := slices.Max(a) - slices.Min(a); spread < 0.1 {
			t.Errorf("%s: the draws are too close together to tell", lik)
		}
	}
}

// particles is what each particle predicts for each example.
func particles(t *testing.T, e *bnn.Ensemble, j *Job) []float64 {
	t.Helper()
	all := make([][]float64, j.Data.Test.Len())
	err := e.Particles(t.Context(), j.Data.Test, j.Pool, func(i int, values [][]float64) {
		for _, v := range values {
			all[i] = append(all[i], v...)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(all...)
}

// The factor of the prior's precision: τ times the precision is a prior of 1/√τ of the width, in evidence and draws. The evidence that was
// chosen is above those of its neighbours, and the factor of lowest validation NLL is the one that the scores say.
func TestLaplacePrecision(t *testing.T) {
	j := newJob(t, 2)
	j.Data.Validate = blobs(2, 30)
	j.Init = make([]float64, j.Net.Dim())
	for i := range j.Init {
		j.Init[i] = 0.4 * math.Cos(float64(i))
	}
	for _, structure := range structureNames() {
		wide := curve(t, j, Laplace{Structure: structure})
		narrow := *j
		narrow.Prior = prior(t, j.Net, 0.5/4)
		if a, b := wide.evidence(4), curve(t, &narrow, Laplace{Structure: structure}).Evidence; !golden.Near(a, b, 1e-9, 1e-9) {
			t.Errorf("%s: log evidence %v at a factor of 4, %v at a quarter of the variance", structure, a, b)
		}
		best := curve(t, j, Laplace{Structure: structure, Precision: PrecisionEvidence})
		if best.Factor == 1 || best.evidence(best.Factor*1.05) > best.Evidence || best.evidence(best.Factor/1.05) > best.Evidence {
			t.Errorf("%s: log evidence %v at %v is no maximum", structure, best.Evidence, best.Factor)
		}
		judged := curve(t, j, Laplace{Structure: structure, Precision: PrecisionValidation})
		at := slices.Index(factors, judged.Factor)
		if at < 0 {
			t.Fatalf("%s: %v is none of the factors", structure, judged.Factor)
		}
		e, err := judged.ensemble(judged.Factor)
		if err != nil {
			t.Fatal(err)
		}
		nll, _, err := eval.Validation(t.Context(), e, j.Data.Validate, j.Data, j.Pool)
		if err != nil || judged.Scores[at] != float64(nll) {
			t.Errorf("%s: a validation NLL of %v counts as %v (%v)", structure, nll, judged.Scores[at], err)
		}
		if judged.Scores[at] != slices.Min(judged.Scores) || judged.spent().Validation != len(factors)*10*30 {
			t.Errorf("%s: validation chooses %v of %v", structure, judged.Factor, judged.Scores)
		}
	}
	if !golden.Near(factors[0], 1e-4, 1e-12, 0) || factors[8] != 1 || !golden.Near(factors[16], 1e4, 1e-12, 0) || len(factors) != 17 {
		t.Errorf("the factors are %v", factors)
	}
}

// Saved and restored after any step, and on any number of threads, a curvature ends with the same bytes and draws.
func TestLaplaceResumes(t *testing.T) {
	for name, role := range roles {
		for _, structure := range structureNames() {
			m := Laplace{Structure: structure, Precision: PrecisionValidation}
			m.Defaults()
			fresh := func(threads int) *curvature {
				j := partly(t, threads, role)
				j.Init = make([]float64, j.Net.Parameters())
				for i := range j.Init {
					j.Init[i] = 0.4 * math.Cos(float64(i))
				}
				if err := j.freeze(false); err != nil {
					t.Fatal(err)
				}
				c, err := newCurvature(m, j)
				if err != nil {
					t.Fatal(err)
				}
				return c
			}
			whole := fresh(1)
			want, err := runs.RunPart(t.Context(), whole, nil)
			if err != nil {
				t.Fatal(err)
			}
			e, err := whole.ensemble(whole.Factor)
			if err != nil {
				t.Fatal(err)
			}
			last := 0.0
			for c := fresh(3); !c.Done(); {
				if _, err := c.Step(t.Context()); err != nil {
					t.Fatal(err)
				}
				if c.share() <= last || c.Done() != (c.share() == 1) {
					t.Errorf("%s, %s: %v of the work is done after %v", name, structure, c.share(), last)
				}
				last = c.share()
				again := fresh(2)
				if err := again.UnmarshalBinary(packed(t, c)); err != nil {
					t.Fatal(err)
				}
				for !again.Done() {
					if _, err := again.Step(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				f, err := again.ensemble(again.Factor)
				if err != nil || !bytes.Equal(packed(t, again), want) || !slices.Equal(f.Theta, e.Theta) {
					t.Fatalf("%s, %s: restored after step %d, it ends with another state (%v)", name, structure, c.K(), err)
				}
			}
			other := newJob(t, 1)
			other.become(t, roles["all"])
			if name != "all" {
				other.Init = make([]float64, other.Net.Parameters())
				if c, err := newCurvature(m, other); err != nil || c.UnmarshalBinary(want) == nil {
					t.Errorf("%s, %s: takes the state of another network (%v)", name, structure, err)
				}
			}
		}
	}
}

// What no Gaussian can be made of is refused, with the layer's name and what to do.
func TestLaplaceRefuses(t *testing.T) {
	j := newJob(t, 1)
	j.Init = make([]float64, j.Net.Dim())
	uneven := widths{mean: make([]float64, j.Net.Dim()), sd: slices.Repeat([]float64{1}, j.Net.Dim())}
	uneven.sd[j.Net.Random()[2].Offset+4] = 2
	broken := func(structure string, spoil func(f form)) error {
		c := curve(t, j, Laplace{Structure: structure})
		c.Steps--
		spoil(c.form)
		_, err := c.Step(t.Context())
		return err
	}
	at := j.Net.Random()[2].Offset
	for what, c := range map[string]struct {
		err  error
		want string
	}{
		"widths":          {second(newCurvature(Laplace{Structure: "kron"}, func() *Job { k := *j; k.Prior = uneven; return &k }())), "the widths of the prior of layer 2.weight are no product"},
		"a learned prior": {second(newCurvature(Laplace{Structure: "kron"}, func() *Job { k := *j; k.Prior = flat{}; return &k }())), "want prior: {normal: {variance: 1}}"},
		"kron":            {broken("kron", func(f form) { f.(*kronForm).blocks[1].values[0] = -1 }), "the curvature of layer 2.weight is not positive definite with 1 times"},
		"diagonal":        {broken("diagonal", func(f form) { f.(*diagonalForm).h[at] = -2 }), "the curvature of layer 2.weight is not positive definite"},
		"full":            {broken("full", func(f form) { full := f.(*fullForm); full.h[at*(j.Net.Dim()+1)], full.tau = -2, 0 }), "the curvature of layer 2.weight is not positive definite"},
		"no numbers":      {broken("kron", func(f form) { f.(*kronForm).blocks[0].tri.Off[2] = math.NaN() }), "the curvature of layer 0.weight is not positive definite"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", what, c.err, c.want)
		}
	}
}

// flat is a prior that is no product of normals.
type flat struct{ mcmc.Prior }

func second[T any](_ T, err error) error { return err }
