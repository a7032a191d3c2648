package method

import (
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/smc"
)

// TestMemoryOfVGG16: the weights of VGG16 for 32×32 have sums by lane of 0.94 GB a thread. What does not fit is refused with what would.
func TestMemoryOfVGG16(t *testing.T) {
	var layers []nn.Layer
	for _, stage := range [][]int{{64, 64}, {128, 128}, {256, 256, 256}, {512, 512, 512}, {512, 512, 512}} {
		for _, filters := range stage {
			layers = append(layers, nn.Conv{Filters: filters, Kernel: [2]int{3, 3}, Pad: [2]int{1, 1}}, nn.ReLU)
		}
		layers = append(layers, nn.MaxPool{Size: [2]int{2, 2}})
	}
	job := newJob(t, 1)
	var err error
	if job.Net, err = nn.New([]int{3, 32, 32}, append(layers, nn.Dense{Units: 10}), nn.Categorical{}); err != nil {
		t.Fatal(err)
	}
	if d := job.Net.Dim(); d != 14_710_464+4_224+5_130 {
		t.Fatalf("VGG16 has %d parameters", d)
	}
	if mb := float64(job.Net.Scratch(5)) / 1e6; !(mb > 941 && mb < 1600) {
		t.Errorf("a thread takes %.0f MB", mb)
	}
	m := SMC{Particles: 5, Islands: 1, Path: smc.Schedule[smc.Full]{Iterations: 3}, Move: mcmc.SGHMC{Batch: 100}}
	for limit, want := range map[int64]string{
		16 << 30: "",
		4 << 30:  "method.smc.particles: the run needs about",
		1 << 30:  "method.smc.particles: the run needs about",
	} {
		said := strings.Join(faults(func(f *config.Faults) { job.CheckMemory(m, limit, f) }), "\n")
		if !strings.HasPrefix(said, want) || want == "" && said != "" || want != "" && !strings.Contains(said, "; with particles: 2, the least, it needs about 4") {
			t.Errorf("in %d bytes: %q", limit, said)
		}
	}
}
