package bnn

import (
	"math"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
)

// faults runs the checks of a prior and of its parts, as package config does.
func faults(p PriorSettings) string {
	all := config.NewFaults()
	p.Check(all)
	if c, ok := p.Family.(config.Checker); ok {
		c.Check(all.In("normal"))
	}
	if p.Anchor != nil {
		p.Anchor.Check(all.In("anchor"))
	}
	var lines []string
	for _, f := range all.All() {
		lines = append(lines, f.Path+": "+f.Message)
	}
	return strings.Join(lines, "; ")
}

func TestPriorSettingsCheck(t *testing.T) {
	left := Anchor{}
	left.Defaults() // as of {anchor: {}}
	for _, c := range []struct {
		prior PriorSettings
		want  string
	}{
		{PriorSettings{}, ""},
		{PriorSettings{Family: NormalPrior{Variance: 0.1}}, ""},
		{PriorSettings{Family: NormalPrior{FanIn: 2}, Anchor: &Anchor{S: 1}}, ""},
		{PriorSettings{Family: NormalPrior{FanIn: 2}, Anchor: &Anchor{}}, ""},
		{PriorSettings{Family: NormalPrior{}}, "normal: want one of fan_in, variance"},
		{PriorSettings{Family: NormalPrior{Variance: 1, FanIn: 2}}, "normal: has fan_in and variance: want one of them"},
		{PriorSettings{Family: NormalPrior{Variance: -1}}, "normal.variance: want a number above 0, have -1"},
		{PriorSettings{Family: NormalPrior{Variance: math.NaN()}}, "normal.variance: want a number above 0, have NaN"},
		{PriorSettings{Family: NormalPrior{FanIn: math.Inf(1)}}, "normal.fan_in: want a number above 0, have +Inf"},
		{PriorSettings{Family: NormalPrior{FanIn: 2}, Anchor: &left}, "anchor: needs s, from 0 (the MAP itself) to 1 (no shrinking), as in {s: 0.1}"},
		{PriorSettings{Family: NormalPrior{FanIn: 2}, Anchor: &Anchor{S: 1.5}}, "anchor.s: want 0 to 1, have 1.5"},
		{PriorSettings{Family: NormalPrior{FanIn: 2}, Anchor: &Anchor{S: -0.1}}, "anchor.s: want 0 to 1, have -0.1"},
		{PriorSettings{Anchor: &Anchor{S: 0.5}}, "anchor: scales a prior, and there is none: want normal beside it"},
		{PriorSettings{Family: flatFamily{}, Anchor: &Anchor{S: 0.5}}, "anchor: needs a normal prior, this one is not"},
	} {
		if got := faults(c.prior); got != c.want {
			t.Errorf("%+v: %q, want %q", c.prior, got, c.want)
		}
	}
}

// flat is a prior that is not normal, of the family flatFamily.
type flat struct{ mcmc.Prior }

type flatFamily struct{}

func (flatFamily) Prior([]nn.Tensor) (mcmc.Prior, error) { return flat{}, nil }
func (flatFamily) Gaussian() bool                        { return false }

// An s that is left out is told from a written one, even 0: what is written is written over the defaults.
func TestAnchorDefaults(t *testing.T) {
	a := Anchor{}
	if a.Defaults(); !math.IsNaN(a.S) {
		t.Errorf("s left out is %v", a.S)
	}
	a = Anchor{S: 0.1}
	if a.Defaults(); a.S != 0.1 {
		t.Errorf("s = 0.1 became %v", a.S)
	}
}

// Settings build the priors that their names say; in every family Gaussian tells the truth.
func TestPriorSettingsBuild(t *testing.T) {
	tensors := []nn.Tensor{{Name: "0.weight", Shape: []int{3, 4}, Size: 12, FanIn: 4}, {Name: "log_sd", Shape: []int{1}, Offset: 12, Size: 1}}
	theta := make([]float64, 13)
	theta[2] = 7
	for _, c := range []struct {
		settings     PriorSettings
		mean, sd     float64 // of component 2
		atMAP, point bool
	}{
		{PriorSettings{Family: NormalPrior{Variance: 0.25}}, 0, 0.5, false, false},
		{PriorSettings{Family: NormalPrior{FanIn: 2}}, 0, math.Sqrt(0.5), false, false},
		{PriorSettings{Family: NormalPrior{Variance: 4}, Anchor: &Anchor{S: 0.25}}, 7, 1, true, false},
		{PriorSettings{Family: NormalPrior{Variance: 2}, Anchor: &Anchor{S: 0.5}}, 0, 1, false, false},
		{PriorSettings{Family: NormalPrior{Variance: 2}, Anchor: &Anchor{S: 0}}, 7, 0, true, true},
	} {
		p, err := c.settings.Family.Prior(tensors)
		if err != nil {
			t.Fatal(err)
		}
		a := c.settings.Anchor
		if a.AtMAP() != c.atMAP || a.Point() != c.point {
			t.Errorf("%+v: at the MAP %v, a point %v", c.settings, a.AtMAP(), a.Point())
		}
		p, err = a.Apply(p, theta)
		if c.point {
			if err == nil || !strings.Contains(err.Error(), "the posterior is the MAP alone") {
				t.Errorf("s = 0: %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		g := p.(mcmc.GaussianPrior)
		if g.Dim() != 13 || g.Mean(2) != c.mean || !(math.Abs(g.SD(2)-c.sd) <= 1e-15) {
			t.Errorf("%+v: component 2 of %d is N(%v, %v²), want N(%v, %v²)", c.settings, g.Dim(), g.Mean(2), g.SD(2), c.mean, c.sd)
		}
	}
	if _, err := (&Anchor{S: 0.5}).Apply(flat{}, nil); err == nil || !strings.Contains(err.Error(), "cannot be anchored") {
		t.Errorf("a prior that is not normal: %v", err)
	}
	for _, row := range Priors {
		family := row.Part
		if row.Name == "normal" {
			family = NormalPrior{Variance: 1}
		}
		p, err := family.Prior(tensors)
		if err != nil {
			t.Fatal(err)
		}
		_, gaussian := p.(mcmc.GaussianPrior)
		if _, err := (&Anchor{S: 1}).Apply(p, nil); gaussian != family.Gaussian() || (err == nil) != family.Gaussian() {
			t.Errorf("%s: Gaussian is %v, of a %T (%v)", row.Name, family.Gaussian(), p, err)
		}
		if Priors.Name(family) != row.Name {
			t.Errorf("%s has the name %s", row.Name, Priors.Name(family))
		}
	}
}
