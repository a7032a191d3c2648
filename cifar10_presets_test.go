package starling

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/nn"
)

// The presets on CIFAR-10 have one network, nn.ResNet20, and the same data. The second begins where the first ends: at its file, with the same images held out.
func TestResNet20Presets(t *testing.T) {
	trained, refined := preset(t, "cifar10-resnet20"), preset(t, "cifar10-resnet20-sghmc")
	if d := cmp.Diff(nn.ResNet20(10), trained.Model.Layers); d != "" {
		t.Errorf("layers (-want +got):\n%s", d)
	}
	if d := cmp.Diff(trained.Model.Architecture, refined.Model.Architecture) + cmp.Diff(trained.Data, refined.Data); d != "" || trained.Seed != refined.Seed {
		t.Errorf("the two differ:\n%s", d)
	}
	if m := trained.MAP; m.Keep != method.KeepLastEpoch || m.Patience != 0 || m.Epochs != 200 || refined.Model.Init != "runs/cifar10-resnet20/map.safetensors" {
		t.Errorf("%+v, and the other begins at %q", m, refined.Model.Init)
	}
}
