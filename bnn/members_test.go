package bnn

import (
	"bytes"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/safetensors"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/nn"
)

// An ensemble whose parameters lie in files predicts and is written as the one in memory, whatever the cut into files; a bfloat16
// posterior comes back as it was written.
func TestMembers(t *testing.T) {
	net := convNet(t)
	for _, format := range []safetensors.Format{safetensors.Float32, safetensors.BFloat16} {
		islands := numbered(net, 2, 19)
		for p := range islands {
			for i, x := range islands[p].Theta {
				y, _ := format.Round(math.Sin(float64(i) + x))
				islands[p].Theta[i] = float64(y)
			}
			islands[p].Format = format
			islands[p].LogWeights = make([]float64, 19)
			islands[p].LogWeights[5+p] = math.Inf(-1)
		}
		memory := combine(t, net, islands, Equal{})
		for p := range islands {
			theta, d := islands[p].Theta, net.Dim()
			islands[p].Theta = nil
			for _, cut := range [][2]int{{0, 4}, {4, 5}, {5, 19}} {
				var file bytes.Buffer
				if err := WriteShard(&file, net, theta[cut[0]*d:cut[1]*d], format, p, cut[0]); err != nil {
					t.Fatal(err)
				}
				one, err := OpenShard(bytes.NewReader(file.Bytes()), int64(file.Len()), net)
				if err != nil {
					t.Fatal(err)
				}
				islands[p].Members = JoinMembers(islands[p].Members, one)
			}
		}
		files := combine(t, net, islands, Equal{})
		if files.Members == nil || len(files.Theta) > 0 || files.Members.Size() != 38 {
			t.Fatal("parameters are in memory")
		}
		set := &data.Set{Shape: []int{1, 6, 6}, F32: make([]float32, 36*7)}
		for i := range set.F32 {
			set.F32[i] = float32(i%11) / 7
		}
		a, err := memory.Predict(t.Context(), set, nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := files.Predict(t.Context(), set, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(a.Probs, b.Probs) || !slices.Equal(a.Energy, b.Energy) {
			t.Error("predictions differ")
		}
		var one, two bytes.Buffer
		if err := WritePosterior(&one, memory); err != nil {
			t.Fatal(err)
		}
		if err := WritePosterior(&two, files); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(one.Bytes(), two.Bytes()) {
			t.Error("files differ")
		}
		back, err := ReadPosterior(one.Bytes(), net)
		if err != nil || !slices.Equal(back.Theta, memory.Theta) || back.Format != format {
			t.Errorf("%v: read back as %v, %v", format, back.Format, err)
		}
	}
}

// Members that are not finite are refused.
func TestMembersOfNaN(t *testing.T) {
	net := convNet(t)
	theta := make([]float64, 3*net.Dim())
	theta[net.Dim()+1] = math.NaN()
	var file bytes.Buffer
	if err := WriteShard(&file, net, theta, safetensors.Float32, 0, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenShard(bytes.NewReader(file.Bytes()), int64(file.Len()), net); err == nil || err.Error() != "posterior: parameter 1 of particle 1 is NaN" {
		t.Errorf("%v", err)
	}
}

// A prediction takes no more memory for many members in a file than for those of two passes of the network.
func TestMembersAreReadAFewAtATime(t *testing.T) {
	if testkit.Race {
		t.Skip("under the race detector a sync.Pool forgets at random what was put into it")
	}
	net, err := nn.New([]int{20}, []nn.Layer{nn.Dense{Units: 300}, nn.ReLU, nn.Dense{Units: 3}}, nn.Categorical{})
	if err != nil {
		t.Fatal(err)
	}
	const few, many = 2 * together, 40 * together
	set := &data.Set{Shape: []int{20}, F32: make([]float32, 20*30)}
	file := posteriorFile(t, net, many)
	whole, err := safetensors.Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	var e *Ensemble
	opening := allocated(func() {
		if e, err = OpenPosterior(whole, net); err != nil {
			t.Fatal(err)
		}
	})
	predicting := func(m int) int64 {
		some := *e
		some.LogWeights = e.Last(m)
		return allocated(func() {
			if _, err := some.Predict(t.Context(), set, pool.New(2)); err != nil {
				t.Fatal(err)
			}
		})
	}
	predicting(few)                             // the network's own memory, which it keeps
	read := 4 * int64(net.Dim()) * (many - few) // bytes
	if more := predicting(many) - predicting(few); e.Members == nil || opening > read/10 || more > read/10 {
		t.Errorf("to open a file of %d bytes takes %d bytes; to predict with %d members takes %d bytes more than with %d", len(file), opening, many, more, few)
	}
}

// posteriorFile is a posterior of so many members that it is not read whole.
func posteriorFile(t *testing.T, net *nn.Net, members int) []byte {
	t.Helper()
	if members*net.Dim() <= inMemory {
		t.Fatalf("%d members are read whole", members)
	}
	var file bytes.Buffer
	if err := WritePosterior(&file, combine(t, net, numbered(net, 1, members), Equal{})); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// allocated is the number of bytes that f allocates.
func allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}
