package method

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/nn"
)

// TestPyTorchEpochs: from the same weights and in the same order of batches, an epoch of a restart and then one of a trajectory of
// SWAG lead where PyTorch's SGD in float64 leads, to 1e-5 of the parameters' root mean square. It needs a Python with torch, the
// one that STARLING_PYTHON names, or python3.
func TestPyTorchEpochs(t *testing.T) {
	python := os.Getenv("STARLING_PYTHON")
	if python == "" {
		python = "python3"
	}
	if out, err := exec.Command(python, "-c", "import torch, numpy").CombinedOutput(); err != nil {
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		t.Skipf("%s: Python has no torch: not run (%v, %s)", python, err, lines[len(lines)-1])
	}
	const variance, member = 0.1, 0
	net, problem := mnist7(t)
	problem.Validate = nil
	job := &Job{Seed: 4, Net: net, Prior: prior(t, net, variance), Data: problem, Search: &Search{Restarts: 1, Epochs: 1}, Pool: pool.New(2), Run: without(t)}
	job.Search.Complete(0, false, nil)
	var err error
	if job.Model, err = nn.NewTraining(net, job.Data, job.Pool); err != nil {
		t.Fatal(err)
	}
	if err := job.search(t.Context(), newOutcome()); err != nil {
		t.Fatal(err)
	}
	m := SWAG{Averaging: Averaging{Snapshots: 1}, Diagonal: true}.Settle(Around{}, unheard()).(SWAG)
	m.Warmup = 0

	dir, n := t.TempDir(), problem.Train.Len()
	start, x := make([]float64, net.Dim()), make([]float32, 0, n*784)
	job.Prior.Sample(rng.Key{Seed: 4, Purpose: rng.Start, Particle: member}.Stream(), start)
	row := make([]float64, 784)
	for i := range n {
		problem.Train.Row(i, row)
		for _, v := range row {
			x = append(x, float32(v))
		}
	}
	for name, content := range map[string]any{
		"x.f32": x, "y.i32": problem.Train.Labels, "theta.f64": start,
		"order1.i32":   data.Order(n, rng.Key{Seed: 4, Purpose: rng.Batch, Iteration: 1, Particle: member}),
		"order2.i32":   data.Order(n, rng.Key{Seed: 4, Purpose: rng.Batch, Iteration: 2, Particle: member}),
		"settings.f64": []float64{variance, float64(job.Search.Batch), job.Search.Rate, m.Rate, m.Momentum},
	} {
		var b bytes.Buffer
		if err := binary.Write(&b, binary.LittleEndian, content); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command(python, "testdata/epochs.py", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, got := range map[string][]float64{"restart.f64": job.Points.Best(), "snapshot.f64": averages(t, job, m)[0].Mean} {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		want := make([]float64, net.Dim())
		if err := binary.Read(bytes.NewReader(content), binary.LittleEndian, want); err != nil {
			t.Fatal(err)
		}
		apart, size, moved := 0.0, 0.0, 0.0
		for i := range want {
			apart += (got[i] - want[i]) * (got[i] - want[i])
			size += want[i] * want[i]
			moved += (start[i] - want[i]) * (start[i] - want[i])
		}
		if !(apart <= 1e-10*size) || !(moved > 1e-4*size) {
			t.Errorf("%s: %.2g apart, relative to the parameters, which moved by %.2g", name, math.Sqrt(apart/size), math.Sqrt(moved/size))
		}
		t.Logf("%s: relative difference %.2g, relative distance from the start %.2g", name, math.Sqrt(apart/size), math.Sqrt(moved/size))
	}
}
