package bnn

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/safetensors"
	"github.com/starling-smc/starling/nn"
)

// linearisedOf is partlyRandom about a centre: all random, or the layer of the name.
func linearisedOf(t *testing.T, random string, particles int) *Ensemble {
	t.Helper()
	net := partlyNet(t, cmp.Or(random, "a"), 2, nn.Gaussian{SD: 1})
	e := partlyRandom(t, net, particles)
	if random == "" {
		e = joined(e)
	}
	s := rng.Key{Seed: 4, Purpose: rng.Synthetic}.Stream()
	centre := make([]float64, e.Net.Dim())
	s.Normals(centre)
	e.Centre = narrow(nil, centre)
	return e
}

// predictions are the means of the particles for each example.
func predictions(t *testing.T, e *Ensemble, set *data.Set, threads int) (all []float64) {
	t.Helper()
	each := make([][]float64, set.Len())
	err := e.Particles(t.Context(), set, pool.New(threads), func(i int, values [][]float64) {
		for _, v := range values {
			each[i] = append(each[i], v...)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(each...)
}

// A linearised ensemble predicts f(θ*) + J(θ − θ*): J by differences of networks as they are, at steps of 1/256 to both sides. The tolerance is
// what float32 and the third derivative leave of it. So does one whose particles share layers, of which only the random one has a tangent.
func TestLinearised(t *testing.T) {
	_, set := inputs(70)
	for _, random := range []string{"", "a", "b"} {
		e := linearisedOf(t, random, 20)
		got := predictions(t, e, set, 2)
		const h = 1. / 256
		at := func(step float64) []float64 {
			networks := *e
			networks.Centre, networks.Theta = nil, slices.Clone(e.Theta)
			for i, x := range e.Theta {
				c := e.Centre[i%len(e.Centre)]
				networks.Theta[i] = c + float32(step)*(x-c)
			}
			return predictions(t, &networks, set, 1)
		}
		up, down, centre, bent := at(h), at(-h), at(0), at(1)
		far := 0.0
		for i, x := range got {
			want := centre[i] + (up[i]-down[i])/(2*h)
			if math.Abs(x-want) > 1e-3*(1+math.Abs(want)) {
				t.Fatalf("%q: prediction %d is %v, want %v", random, i, x, want)
			}
			far = max(far, math.Abs(x-bent[i]))
		}
		if linear := random == "b"; linear != (far < 1e-4) {
			t.Errorf("%q: by its tangent a network predicts what is off by up to %v", random, far)
		}
		if !slices.Equal(got, predictions(t, e, set, 1)) {
			t.Errorf("%q: threads change predictions", random)
		}
	}
}

// A linearised ensemble comes back from its file as it was, from memory and from shards, in both formats, and its checksum knows the centre.
func TestLinearisedFiles(t *testing.T) {
	_, set := inputs(10)
	for _, random := range []string{"", "a"} {
		for _, format := range []safetensors.Format{safetensors.Float32, safetensors.BFloat16} {
			e := linearisedOf(t, random, 20)
			e.Format = format
			for i, x := range e.Theta {
				e.Theta[i], _ = format.Round(float64(x))
			}
			want := predictions(t, e, set, 1)
			var file bytes.Buffer
			if err := WritePosterior(&file, e); err != nil {
				t.Fatal(err)
			}
			back, err := ReadPosterior(file.Bytes(), e.Net)
			if err != nil || !slices.Equal(back.Centre, e.Centre) || !slices.Equal(predictions(t, back, set, 1), want) {
				t.Fatalf("%q, %v: the ensemble comes back as another: %v", random, format, err)
			}
			stored := *e
			one := Island{Theta: widen(nil, e.Theta), Format: format}
			if err := one.Store(e.Net); err != nil {
				t.Fatal(err)
			}
			stored.Theta, stored.Members = nil, one.Members
			if !slices.Equal(predictions(t, &stored, set, 1), want) {
				t.Errorf("%q, %v: members in files predict something else", random, format)
			}
			sums := map[string]bool{}
			other, plain := *e, *e
			other.Centre, plain.Centre = slices.Clone(e.Centre), nil
			other.Centre[3]++
			for _, e := range []*Ensemble{e, back, &stored, &other, &plain} {
				sum, err := e.Sum()
				if err != nil {
					t.Fatal(err)
				}
				sums[sum] = true
			}
			if len(sums) != 3 {
				t.Errorf("%q, %v: %d checksums, want 3", random, format, len(sums))
			}
		}
	}
}

// What a file says of a centre must be whole.
func TestLinearisedFilesRefused(t *testing.T) {
	e := linearisedOf(t, "", 4)
	metadata, tensors, err := posterior(e)
	if err != nil {
		t.Fatal(err)
	}
	centre := slices.IndexFunc(tensors, func(a safetensors.Tensor) bool { return strings.HasPrefix(a.Name, ofCentre) })
	with := func(change func(a *safetensors.Tensor)) []safetensors.Tensor {
		all := slices.Clone(tensors)
		change(&all[centre])
		return all
	}
	for what, c := range map[string]struct {
		metadata map[string]string
		tensors  []safetensors.Tensor
		want     string
	}{
		"another kind": {map[string]string{predicts: "squared"}, tensors, "the metadata say predict: squared, and this program knows linearised alone"},
		"no kind":      {nil, tensors, "tensor centre/frozen.weight in the file is not in the network"},
		"no centre":    {metadata, slices.Delete(slices.Clone(tensors), centre, centre+1), "tensor centre/frozen.weight is not in the file"},
		"shape":        {metadata, with(func(a *safetensors.Tensor) { a.Shape = []int{9} }), "tensor centre/frozen.weight is F32 [9] in the file, want F32 [3 3]"},
		"type":         {metadata, with(func(a *safetensors.Tensor) { a.DType = "I32" }), "tensor centre/frozen.weight is I32 [3 3] in the file, want F32 [3 3]"},
		"NaN": {metadata, with(func(a *safetensors.Tensor) {
			a.Data = safetensors.Float32.Append(nil, []float32{0, 0, float32(math.NaN()), 0, 0, 0, 0, 0, 0})
		}), "centre/frozen.weight[0, 2] is NaN"},
	} {
		var file bytes.Buffer
		if err := safetensors.WriteWith(&file, c.metadata, c.tensors); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadPosterior(file.Bytes(), e.Net); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", what, err, c.want)
		}
	}
}
