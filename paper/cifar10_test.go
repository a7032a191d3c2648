package paper

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/smc"
)

// The cells are those that the page names: the network of the preset, its last epoch, and the same images held out by all.
func TestCIFARCells(t *testing.T) {
	preset, err := starling.Preset("cifar10-resnet20")
	if err != nil {
		t.Fatal(err)
	}
	run := 0
	for _, c := range CIFAR10.Cells {
		if c.NotRun != "" {
			continue
		}
		run++
		if CIFAR10.Protocol(c, false) == same || !strings.HasPrefix(CIFAR10.Protocol(c, false), reducedBy) {
			t.Errorf("%s is not said to be reduced", c.Name)
		}
		if c.Kind == Together {
			if len(c.Needs) != 3 || c.Needs[0].Later != 0 || c.Needs[1].Later != 1 || c.Needs[2].Later != 2 {
				t.Errorf("%s needs %+v", c.Name, c.Needs)
			}
			continue
		}
		spec, err := specOf(c, 4, false, "", "data")
		if err != nil {
			t.Fatal(err)
		}
		reference := strings.HasPrefix(c.Name, cifarReference)
		if !reference && !reflect.DeepEqual(spec.Model.Layers, preset.Model.Layers) {
			t.Errorf("%s: layers %v", c.Name, spec.Model.Layers)
		}
		if (spec.Data.Augment == nil) != reference || spec.Data.Standardise != "channels" || spec.Data.Seed == nil || *spec.Data.Seed != 1 {
			t.Errorf("%s: data %+v", c.Name, spec.Data)
		}
		if (spec.Model.Init != "") != (c.Needs != nil) {
			t.Errorf("%s begins at %q, and needs %+v", c.Name, spec.Model.Init, c.Needs)
		}
		if m := spec.MAP; m != nil && (m.Keep != method.KeepLastEpoch || m.Batch != 128 || m.Restarts != 1 || m.Patience != 0) {
			t.Errorf("%s: %+v", c.Name, m)
		}
		switch m := spec.Method.(type) {
		case method.SWAG:
			if spec.MAP.Epochs != 0 || m.Draws != 30 || m.Snapshots != 10 || m.Warmup != 1 || m.Rate != .001 || m.Diagonal != (c.Name == "swag-diagonal") {
				t.Errorf("%s: %+v after %d epochs", c.Name, m, spec.MAP.Epochs)
			}
		case method.SMC:
			move, weight := m.Move.(mcmc.Epoch), m.Weight.(smc.Bootstrap)
			if spec.MAP != nil || m.Particles != 4 || m.Start != method.Place(method.FromInit{}) || move.Batch != 500 || move.Step != 2e-5 || !m.Trace.Unlearning || m.Trace.Every != 2 ||
				(weight.Temperature.Both == 1) != (c.Name == "untempered") {
				t.Errorf("%s: %+v", c.Name, m)
			}
		}
	}
	if run != 13 {
		t.Errorf("%d cells are run, want three rates, two networks, an ensemble of each, and six that begin at one", run)
	}
	if spec, err := specOf(CIFAR10.cell(t, cifarNetwork), 1, true, "", ""); err != nil || spec.MAP.Epochs != 2 || spec.Data.Split.Train != .04 || spec.Data.Split.Validate != .01 {
		t.Errorf("reduced: %+v %v", spec.Data, err)
	}
}

// The reference's network has the parameters that its authors' code gives: convolutions with biases, and three numbers a channel of each of
// 21 normalisations.
func TestReferenceNet(t *testing.T) {
	spec, err := specOf(CIFAR10.cell(t, cifarReference), 1, false, "", "")
	if err != nil {
		t.Fatal(err)
	}
	conv := func(in, out, kernel int) int { return in*out*kernel*kernel + out + 3*out }
	want := conv(3, 16, 3) + 6*conv(16, 16, 3) + conv(16, 32, 3) + 5*conv(32, 32, 3) + conv(16, 32, 1) + conv(32, 64, 3) + 5*conv(64, 64, 3) + conv(32, 64, 1) + 64*10 + 10
	net, err := nn.New([]int{3, 32, 32}, spec.Model.Layers, spec.Model.Likelihood)
	if err != nil {
		t.Fatal(err)
	}
	if got := net.Parameters(); got != want {
		t.Errorf("%d parameters, want %d", got, want)
	}
	if spec.Prior.Family.(bnn.NormalPrior).Variance != .2 {
		t.Errorf("prior %+v", spec.Prior)
	}
}

// The column sums of the published figures are right, and stand in the rows of their data. They were added up apart, from the paper's own
// tables.
func TestCIFARPublished(t *testing.T) {
	got := map[string][3]float64{}
	for _, c := range CIFAR10.Cells {
		set := "cifar10"
		for _, other := range []string{"cifar100", "stl10"} {
			if strings.HasPrefix(c.Name, other+"-") {
				set = other
			}
		}
		for name, f := range c.Published {
			key := set
			if strings.HasPrefix(name, "members") {
				key += " members"
			}
			sums := got[key]
			for k, score := range scored {
				if strings.HasSuffix(name, score) {
					sums[k] += f.centre()
				}
			}
			got[key] = sums
		}
	}
	for key, want := range map[string][3]float64{
		"cifar10":          {545.61, 2.2776, .37},
		"cifar100":         {430.0, 9.1196, .9579},
		"cifar10 members":  {1089.33, 4.6867, .7264},
		"cifar100 members": {855.95, 18.8727, 1.9549},
		"stl10":            {360.33, 7.6052, .9933},
	} {
		for k := range want {
			if !(math.Abs(got[key][k]-want[k]) <= 1e-6) {
				t.Errorf("%s: %s adds up to %v, want %v", key, scored[k], got[key][k], want[k])
			}
		}
	}
}
