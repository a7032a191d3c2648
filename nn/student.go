package nn

import (
	"math"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/rng"
)

// Student is Σ_k log t_ν(y_k; output_k, σ): targets whose noise has heavy tails, so that a few that are far off do not move the others
// (Lange, Little, Taylor 1989, "Robust statistical modeling using the t distribution"). With r = (y − m)/σ and q = r²/ν
//
//	log p(y) = log Γ((ν+1)/2) − log Γ(ν/2) − ½ log νπ − log σ − ½ (ν+1) log(1 + q)
//	∂/∂m = (ν+1)/ν · r / (σ (1 + q))        ∂/∂log σ = (ν+1) q/(1 + q) − 1
//	∂/∂ν = ½ (ψ((ν+1)/2) − ψ(ν/2) − 1/ν − log(1 + q) + (ν+1)/ν · q/(1 + q))
//
// σ is a scale, as a Gaussian's SD: the standard deviation is σ √(ν/(ν−2)). ν is above 2, so that there is one. If it is Learned,
// log(ν − 2) is one more parameter, in a tensor named log_df before log_sd. Its prior is N(0, 1), as that of log σ: ν is 3 at the median, and
// within 2.1 and 9 with 95 %.
type Student struct {
	DF    float64 `yaml:"df" words:"learned=-1"`              // degrees of freedom: a number above 2, or one learned parameter. The fewer, the heavier the tails
	SD    float64 `yaml:"sd" words:"learned=-1,predicted=-2"` // scale of the targets around the outputs, as sd of gaussian: a number, one learned parameter, or a second output of each
	Floor float64 `yaml:"floor,omitempty"`                    // no predicted scale is below it, as floor of gaussian
}

// scaled has the same scale without the tails. What does not ask for the density is its answer.
func (l Student) scaled() Gaussian { return Gaussian{SD: l.SD, Floor: l.Floor} }

// Check implements config.Checker.
func (l Student) Check(f *config.Faults) {
	f.If(l.DF != Learned && !(l.DF > 2 && l.DF <= 1e6), "df", "want a number above 2, at most 1e6, or learned; have %v", l.DF)
	l.scaled().Check(f)
}

// Examples implements config.Exampler.
func (Student) Examples() []string { return []string{"{df: learned, sd: learned}"} }

// String implements Likelihood.
func (Student) String() string { return "student" }

// Classes implements Likelihood.
func (Student) Classes(int) int { return 0 }

// Regression implements Likelihood.
func (Student) Regression() bool { return true }

// Parameters implements Likelihood.
func (l Student) Parameters() []string {
	if l.DF == Learned {
		return append([]string{"log_df"}, l.scaled().Parameters()...)
	}
	return l.scaled().Parameters()
}

// Noise implements Likelihood.
func (l Student) Noise() string { return l.scaled().Noise() }

// Targets implements Likelihood.
func (l Student) Targets(outputs int) int { return l.scaled().Targets(outputs) }

// Predicts implements Likelihood.
func (l Student) Predicts(z []float32, own, mean, scale []float64) (df float64) {
	l.scaled().Predicts(z, own, mean, scale)
	return l.degrees(own)
}

// degrees is ν for the likelihood's own parameters.
func (l Student) degrees(own []float64) float64 {
	if l.DF != Learned {
		return l.DF
	}
	return 2 + rng.Exp(own[0])
}

// Guess implements Likelihood: a normal one with the standard deviation of the values, unless the scale is given.
func (l Student) Guess(train *data.Set) float64 { return l.scaled().Guess(train) }

func (l Student) scales(outputs int) int { return l.scaled().scales(outputs) }

func (l Student) checkOutputs(outputs int) error { return l.scaled().checkOutputs(outputs) }

func (l Student) checkTargets(set *data.Set, outputs int) error {
	return l.scaled().checkTargets(set, outputs)
}

func (l Student) mismatch(p *data.Problem, outputs int) (field, message string) {
	if s := p.Schema; s != nil && s.Targets != nil && s.Targets.Log {
		return "likelihood", "a Student-t of logarithms gives amounts an infinite mean (data.target: log): want gaussian, or leave data.target out"
	}
	return l.scaled().mismatch(p, outputs)
}

func (l Student) loadTargets(t *tape, set *data.Set) { l.scaled().loadTargets(t, set) }

func (Student) summed() bool { return true }

func (Student) finish(float64, []float64, []float64, int, int) {}

// logLik computes in float64, in one order, so that the bits are the same on every machine. It adds the gradients of the own parameters to
// their sums.
func (l Student) logLik(t *tape, g int, z, ll, dz []float32) {
	n, valid := t.prog.outputs*lanes.Lanes, lanes.Lanes
	if g == t.groups-1 {
		valid = t.valid
	}
	targets := l.Targets(t.prog.outputs) * lanes.Lanes
	own := make([]float64, len(t.prog.summed))
	for b := range t.batch {
		for k, p := range t.prog.summed {
			own[k] = float64(t.weights(p, b)[0])
		}
		of := newTails(l.degrees(own))
		var d []float32
		if dz != nil {
			d = dz[b*n:][:n]
		}
		byDF, byScale := l.particle(&of, own, z[b*n:][:n], t.target[g*targets:][:targets], ll[b*lanes.Lanes:][:lanes.Lanes], d, valid)
		if dz == nil {
			continue
		}
		gradients := []float64{byScale}
		if l.DF == Learned {
			gradients = []float64{float64(byDF * (of.df - 2)), byScale}
		}
		for k, p := range t.prog.summed {
			if !t.learns(p) {
				continue
			}
			w := float32(1)
			if p.role == RoleLearned {
				w = t.share(b)
			}
			t.gradients(p, b)[0] += float32(w * float32(gradients[k]))
		}
	}
}

// particle is logLik of one particle: z [outputs][16], y [targets][16]. It returns the sums over the first valid lanes of ∂/∂ν and ∂/∂log σ.
func (l Student) particle(of *tails, own []float64, z, y, ll, dz []float32, valid int) (byDF, byScale float64) {
	logSD, prec, slope := 0.0, 1.0, 0.0
	switch l.SD {
	case Predicted:
	case Learned:
		logSD = own[len(own)-1]
		prec = rng.Exp(-2 * logSD)
	default:
		logSD, prec = rng.Log(l.SD), 1/float64(l.SD*l.SD)
	}
	for lane := range lanes.Lanes {
		sum := 0.0
		for m := lane; m < len(y); m += lanes.Lanes {
			s := m + len(y)
			if l.SD == Predicted {
				logSD, prec, slope = lanes.PredictedScale(z[s], l.Floor)
			}
			r := float64(y[m]) - float64(z[m])
			q := float64(float64(r*r)*prec) / of.df
			more := rng.Log(1 + q)
			sum += of.constant - logSD - float64(0.5*(of.df+1)*more)
			if dz == nil {
				continue
			}
			weight := (of.df + 1) / (of.df * (1 + q)) // (ν+1)/ν/(1+q); 0 where q is infinite
			pull := (of.df + 1) - (of.df+1)/(1+q)     // (ν+1) q/(1+q)
			dz[m] = float32(float64(r*prec) * weight)
			if l.SD == Predicted {
				dz[s] = float32(float64(pull-1) * slope)
				if slope == 0 {
					dz[s] = 0
				}
			}
			if lane < valid {
				byScale += pull - 1
				byDF += float64(0.5 * (of.change - more + pull/of.df))
			}
		}
		ll[lane] = float32(sum)
	}
	return byDF, byScale
}

// tails is what the density of a Student-t has of ν alone.
type tails struct {
	df       float64
	constant float64 // log Γ((ν+1)/2) − log Γ(ν/2) − ½ log νπ
	change   float64 // ψ((ν+1)/2) − ψ(ν/2) − 1/ν, twice the derivative of the constant
}

func newTails(df float64) tails {
	half := float64(0.5 * df)
	return tails{
		df:       df,
		constant: rng.LogGamma(half+0.5) - rng.LogGamma(half) - float64(0.5*rng.Log(df*math.Pi)),
		change:   digamma(half+0.5) - digamma(half) - 1/df,
	}
}

// digamma is ψ(x), the derivative of log Γ, for x > 0: from 10 on by its asymptotic series, whose first term that is left out is below 1e-15;
// a smaller x is moved there by ψ(x) = ψ(x+1) − 1/x.
func digamma(x float64) float64 {
	before := 0.0
	for ; x < 10; x++ {
		before -= 1 / x
	}
	z := 1 / float64(x*x)
	sum := 0.0
	for _, c := range [...]float64{-1.0 / 12, 691.0 / 32760, -1.0 / 132, 1.0 / 240, -1.0 / 252, 1.0 / 120, -1.0 / 12} {
		sum = float64(sum*z) + c
	}
	return before + rng.Log(x) - 0.5/x + float64(sum*z)
}
