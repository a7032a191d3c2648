package bnn

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/finding"
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
	for _, c := range []struct {
		prior PriorSettings
		want  string
	}{
		{PriorSettings{}, ""},
		{PriorSettings{Family: NormalPrior{Variance: 0.1}}, ""},
		{PriorSettings{Family: NormalPrior{FanIn: 2}, Anchor: &Anchor{S: 1}}, ""},
		{PriorSettings{Family: NormalPrior{FanIn: 2}, Anchor: &Anchor{}}, ""},
		{PriorSettings{Family: NormalPrior{}}, "normal: want one of decay, fan_in, variance"},
		{PriorSettings{Family: NormalPrior{Variance: 1, FanIn: 2}}, "normal: has fan_in and variance: want one of them"},
		{PriorSettings{Family: NormalPrior{Variance: -2}}, "normal.variance: want a number above 0, have -2"},
		{PriorSettings{Family: NormalPrior{Variance: math.NaN()}}, "normal.variance: want a number above 0, have NaN"},
		{PriorSettings{Family: NormalPrior{FanIn: math.Inf(1)}}, "normal.fan_in: want a number above 0, have +Inf"},
		{PriorSettings{Family: NormalPrior{FanIn: 2}, Anchor: &Anchor{S: 1.5}}, "anchor.s: want 0 to 1, have 1.5"},
		{PriorSettings{Family: NormalPrior{FanIn: 2}, Anchor: &Anchor{S: -0.1}}, "anchor.s: want 0 to 1, have -0.1"},
		{PriorSettings{Family: NormalPrior{FanIn: 2}, Anchor: &Anchor{S: math.NaN()}}, "anchor.s: want 0 to 1, have NaN"},
		{PriorSettings{Anchor: &Anchor{S: 0.5}}, "anchor: scales a prior, and there is none: want normal beside it"},
		{PriorSettings{Family: flatFamily{}, Anchor: &Anchor{S: 0.5}}, "anchor: needs a normal prior with a given width, and this one has none: leave anchor out, or take a variance, as in {normal: {variance: 1}}"},
	} {
		if got := faults(c.prior); got != c.want {
			t.Errorf("%+v: %q, want %q", c.prior, got, c.want)
		}
	}
}

// flat is a prior that is not normal, of the family flatFamily.
type flat struct{ mcmc.Prior }

type flatFamily struct{}

func (flatFamily) Prior([]nn.Tensor, int) (mcmc.Prior, error) { return flat{}, nil }
func (flatFamily) Gaussian() bool                             { return false }
func (flatFamily) Findings(int) []finding.Finding             { return nil }
func (flatFamily) Widths(*Ensemble) ([]Width, error)          { return nil, nil }
func (flatFamily) Wide() string                               { return "" }

// TestWrittenSettings: a config must write the anchor's s, and a 0 is refused where it was written. A Go program's 0 is 0.
func TestWrittenSettings(t *testing.T) {
	for text, want := range map[string]string{
		"{normal: {variance: 1}, anchor: {s: 0}}": "",
		"{normal: {variance: 1}, anchor: {}}":     "p.yaml:1:33: anchor: needs s",
		"{normal: {variance: 1}, anchor: {s: }}":  "p.yaml:1:37: anchor: needs s",
		"{normal: {variance: 1}, anchor: {s: 2}}": "p.yaml:1:37: anchor.s: want 0 to 1, have 2",
		"{normal: {}}":                                  "p.yaml:1:10: normal: want one of decay, fan_in, variance",
		"{normal: {variance: 0}}":                       "p.yaml:1:21: normal.variance: want a number above 0 or learned, have 0",
		"{normal: {variance: -1}}":                      "p.yaml:1:21: normal.variance: want a number above 0 or learned, have -1",
		"{normal: {variance: learned}}":                 "",
		"{normal: {fan_in: 1, variance: learned}}":      "p.yaml:1:11: normal: has fan_in and variance: want one of them",
		"{learned: {}}":                                 "",
		"{learned: {shape: 0}}":                         "p.yaml:1:19: learned.shape: want a number above 0, have 0",
		"{learned: {rate: -2}}":                         "p.yaml:1:18: learned.rate: want a number above 0, have -2",
		"{normal: {variance: learned}, anchor: {s: 1}}": "p.yaml:1:40: anchor: needs a normal prior with a given width, and this one has none: leave anchor out, or take a variance, as in {normal: {variance: 1}}",
		"{normal: {decay: -1}}":                         "p.yaml:1:18: normal.decay: want a number above 0, have -1",
		"{normal: {decay: 1, variance: 2}}":             "p.yaml:1:11: normal: has decay and variance: want one of them",
		"{normal: {fan_in: 0}}":                         "p.yaml:1:19: normal.fan_in: want a number above 0, have 0",
		"{normal: {fan_in: 2}, anchor: {s: 0, t: 1}}":   `p.yaml:1:38: anchor: unknown key "t" (known: s, per)`,
	} {
		_, _, err := config.Parse[PriorSettings]("p.yaml", []byte(text), nil, Priors)
		if got := fmt.Sprint(err); got != want && (err != nil || want != "") {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	_, _, err := config.Parse[PriorSettings]("p.yaml", []byte("{normal: {fan_in: 2}}"), []string{"normal.fan_in=null", "normal.variance=0"}, Priors)
	if want := "--set normal.variance=0: normal.variance: want a number above 0 or learned, have 0"; err == nil || err.Error() != want {
		t.Errorf("by --set: %v, want %s", err, want)
	}
	p := PriorSettings{Family: NormalPrior{Variance: 1}, Anchor: &Anchor{}}
	if config.Complete(&p, Priors); p.Anchor.S != 0 || config.Check(p, Priors) != nil {
		t.Errorf("a Go program's s of 0 became %v: %v", p.Anchor.S, config.Check(p, Priors))
	}
}

// Settings build the priors that their names say; in every family Gaussian tells the truth.
func TestPriorSettingsBuild(t *testing.T) {
	tensors := []nn.Tensor{{Name: "0.weight", Shape: []int{3, 4}, Size: 12, FanIn: 4}, {Name: "log_sd", Shape: []int{1}, Offset: 12, Size: 1, Kind: nn.Own}}
	theta := make([]float64, 13)
	theta[2] = 7
	for _, c := range []struct {
		settings     PriorSettings
		mean, sd     float64 // of component 2
		atMAP, point bool
	}{
		{PriorSettings{Family: NormalPrior{Variance: 0.25}}, 0, 0.5, false, false},
		{PriorSettings{Family: NormalPrior{FanIn: 2}}, 0, math.Sqrt(0.5), false, false},
		{PriorSettings{Family: NormalPrior{Decay: 0.005}}, 0, 2, false, false}, // 1/(0.005 · 50)
		{PriorSettings{Family: NormalPrior{Variance: 4}, Anchor: &Anchor{S: 0.25}}, 7, 1, true, false},
		{PriorSettings{Family: NormalPrior{Variance: 2}, Anchor: &Anchor{S: 0.5}}, 0, 1, false, false},
		{PriorSettings{Family: NormalPrior{Variance: 2}, Anchor: &Anchor{S: 0}}, 7, 0, true, true},
	} {
		p, err := c.settings.Family.Prior(tensors, 50)
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
		switch row.Name {
		case "normal":
			family = NormalPrior{Variance: 1}
		case "learned":
			family = usual
		}
		p, err := family.Prior(tensors, 50)
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
