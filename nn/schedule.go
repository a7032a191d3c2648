package nn

import (
	"cmp"
	"math"

	"github.com/starling-smc/starling/internal/config"
)

// Schedule changes the rate of an optimiser from epoch to epoch.
type Schedule interface {
	// Share is the rate of an epoch as a share of the given one, 0 to 1. Epochs are counted from 0, and there are at most of
	// them.
	Share(epoch, of int) float64
}

// Rising is a Schedule with a setting warmup: its rate rises before it falls.
type Rising interface {
	Rises() int // epochs of the rise
}

// Schedules lists the schedules by their names in a config.
var Schedules = config.Table[Schedule]{
	{Name: "constant", Part: Constant{}},
	{Name: "step", Part: StepDecay{}},
	{Name: "cosine", Part: Cosine{}},
}

// Constant is the same rate for all epochs.
type Constant struct{}

// Share is 1.
func (Constant) Share(int, int) float64 { return 1 }

// StepDecay multiplies the rate by a factor after every so many epochs, as PyTorch's StepLR: factor^⌊epoch/every⌋.
type StepDecay struct {
	Every  int     `yaml:"every,omitempty,nonzero"`  // epochs; default a third of all, rounded up
	Factor float64 `yaml:"factor,omitempty,nonzero"` // above 0 and below 1; default 0.1
}

// Share implements Schedule.
func (s StepDecay) Share(epoch, of int) float64 {
	return power(cmp.Or(s.Factor, 0.1), epoch/cmp.Or(s.Every, max(1, (of+2)/3)))
}

// Check implements config.Checker.
func (s StepDecay) Check(f *config.Faults) {
	f.AtLeast("every", s.Every, 0)
	f.If(!(s.Factor >= 0 && s.Factor < 1), "factor", "want a number above 0, below 1, have %.12g", s.Factor)
}

// Cosine lowers the rate along half a cosine, from 1 towards 0 after the last epoch (Loshchilov & Hutter 2017, without restarts;
// PyTorch's CosineAnnealingLR): (1 + cos(π·epoch/of))/2. With a warm-up of n epochs the rate first rises along a line that would begin at
// 0 before the first epoch (Goyal et al. 2017, section 2.2), and the cosine is that of the other epochs:
//
//	(epoch + 1)/(n + 1)                         epoch < n
//	(1 + cos(π·(epoch − n)/(of − n)))/2         epoch ≥ n
//
// If early stopping ends the descent, the rate has not come down.
type Cosine struct {
	Warmup int `yaml:"warmup,omitempty"` // n, epochs of a linear rise before the fall: 1/(n+1), 2/(n+1), … of the rate, and the whole rate in the epoch after them; default 0
}

// Rises implements Rising.
func (c Cosine) Rises() int { return c.Warmup }

// Check implements config.Checker.
func (c Cosine) Check(f *config.Faults) { f.AtLeast("warmup", c.Warmup, 0) }

// Share implements Schedule.
func (c Cosine) Share(epoch, of int) float64 {
	if epoch >= of {
		return 0
	}
	if epoch < c.Warmup {
		return float64(epoch+1) / float64(c.Warmup+1)
	}
	return 0.5 * (1 + sine(float64(math.Pi*(0.5-float64(epoch-c.Warmup)/float64(of-c.Warmup)))))
}

// sine is sin x for |x| ≤ π/2, by its series, which has the same bits on every platform. The error is below 2e-16.
func sine(x float64) float64 {
	square, sum := float64(x*x), 0.0
	for n := 23.0; n >= 3; n -= 2 {
		sum = float64(-square/(n*(n-1))) * (1 + sum)
	}
	return x + float64(x*sum)
}
