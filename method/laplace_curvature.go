package method

import (
	"context"
	"fmt"
	"io"

	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/runs"
)

// curvature is the only part of the phase of Laplace. It makes a pass over the examples, then factorises a matrix of the form in each
// step, and in the last one chooses the factor of the prior's precision. All is in the coordinates u = Λ^½(θ − θ*), in which the prior's
// precision is 1 and P is S H S + τI, S = Λ^−½.
type curvature struct {
	Laplace
	ground
	job    *Job
	shared []float64 // ψ
	mean   []float64 // of the prior of θ
	form   form

	curved
}

// curved is what a curvature has found beside its form.
type curved struct {
	Steps    int
	LogLik   float64   // log p(D|θ*)
	Gradient []float64 // of the log-posterior at θ* for τ = 0: that of the log-likelihood, times S
	Factor   float64   // τ
	Evidence float64   // log p(D), approximately, at believed()
	Scores   []float64 // by which τ was chosen: the validation NLL, or the evidence, of each of factors; empty: τ is 1
}

var (
	_ runs.Part = (*curvature)(nil)
	_ worker    = (*curvature)(nil)
)

func newCurvature(m Laplace, job *Job) (*curvature, error) {
	c := &curvature{Laplace: m, job: job, ground: ground{model: job.Model, threads: job.Pool}}
	var err error
	if c.mean, c.sd, err = gaussianOf(job.Prior, job.Net.Dim()); err != nil {
		return nil, err
	}
	if c.at, c.shared = job.divide(job.whole()); c.shared != nil {
		c.model = job.Model.At(c.shared)
	}
	c.form, err = structureOf(m.Structure).form(c.ground)
	return c, err
}

// Done reports whether all steps are made.
func (c *curvature) Done() bool { return c.Steps == c.steps() }

// K is the number of steps made.
func (c *curvature) K() int { return c.Steps }

// steps are the pass, those of the form, and the choice of τ.
func (c *curvature) steps() int { return 2 + c.form.cuts() }

// spent counts the pass as a gradient for each output, and one of the log-posterior.
func (c *curvature) spent() eval.Work {
	w := eval.Work{Gradients: min(c.Steps, 1) * (1 + c.job.Net.Outputs()) * c.job.Model.Examples()}
	if c.Done() && c.Precision == PrecisionValidation {
		w.Validation = len(factors) * c.Draws * c.job.Data.Validate.Len()
	}
	return w
}

// Step makes a step. It leaves no line in the trace.
func (c *curvature) Step(ctx context.Context) (runs.Line, error) {
	var err error
	switch last := c.steps() - 1; c.Steps {
	case 0:
		err = c.pass(ctx)
	case last:
		err = c.choose(ctx)
	default:
		err = c.form.cut(c.Steps - 1)
	}
	if err != nil {
		return runs.Line{}, fmt.Errorf("Laplace: %w", err)
	}
	c.Steps++
	return runs.Line{}, nil
}

// pass computes the log-likelihood, its gradient and the curvature at θ*.
func (c *curvature) pass(ctx context.Context) error {
	var ll [1]float64
	g := make([]float64, len(c.at))
	if err := c.model.LogLik(ctx, nil, c.at, ll[:], g); err != nil {
		return err
	}
	if ll[0]-ll[0] != 0 {
		return fmt.Errorf("the log-likelihood of the trained network is %v: a network that fits the examples is needed", ll[0])
	}
	if err := c.form.measure(ctx); err != nil {
		return err
	}
	for i, s := range c.sd {
		g[i] *= s
	}
	c.LogLik, c.Gradient = ll[0], g
	return nil
}

const curvatureKind = "method.Curvature/1"

// WriteTo packs the state. Errors are those of w.
func (c *curvature) WriteTo(w io.Writer) (int64, error) {
	e := ckpt.NewEncoder(curvatureKind)
	e.Ints("steps", c.Steps)
	e.Float64s("gradient", c.Gradient)
	e.Float64s("figures", []float64{c.LogLik, c.Factor, c.Evidence})
	e.Float64s("scores", c.Scores)
	c.form.save(e)
	return e.WriteTo(w)
}

// UnmarshalBinary is the inverse of WriteTo. It refuses a state of another network or structure.
func (c *curvature) UnmarshalBinary(b []byte) error {
	d, err := ckpt.NewDecoder(b, curvatureKind)
	if err != nil {
		return err
	}
	var s curved
	d.Ints("steps", &s.Steps)
	s.Gradient = d.Float64s("gradient")
	figures := d.Float64s("figures")
	s.Scores = d.Float64s("scores")
	if s.Steps < 0 || s.Steps > c.steps() {
		d.Fail("a curvature of %d steps, %d are made", s.Steps, c.steps())
	}
	if want := min(s.Steps, 1) * len(c.at); len(s.Gradient) != want || len(figures) != 3 {
		d.Fail("a gradient of %d numbers and %d figures, want %d and 3", len(s.Gradient), len(figures), want)
	}
	c.form.restore(d, s.Steps)
	if err := d.Err(); err != nil {
		return err
	}
	s.LogLik, s.Factor, s.Evidence = figures[0], figures[1], figures[2]
	c.curved = s
	return nil
}
