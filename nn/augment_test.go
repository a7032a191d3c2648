package nn

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/rng"
)

// augmented is a small network for images, n images of bytes or floats with channels that are standardised, and particles.
func augmented(t *testing.T, n, particles int, floats bool) (*Net, *data.Set, []float64) {
	t.Helper()
	net := mustNet(t, []int{3, 9, 8}, []Layer{Conv{Filters: 3, Kernel: [2]int{3, 3}, Pad: [2]int{1, 1}}, ReLU, MaxPool{Size: [2]int{2, 2}}, Dense{Units: 4}}, Categorical{})
	r := rand.New(rand.NewPCG(uint64(n), 3))
	set := testSet(net, n, true, r)
	if floats {
		for _, v := range set.U8 {
			set.F32 = append(set.F32, float32(v)/255)
		}
		set.U8 = nil
	}
	set.Channels = &data.Standard{Mean: []float64{0.49, 0.48, 0.2}, SD: []float64{0.25, 0, 0.26}, To: 1}
	return net, set, testTheta(net, particles, r)
}

// training joins a network and images that are augmented.
func training(t *testing.T, net *Net, set *data.Set, a *data.Augment, threads int) Training {
	t.Helper()
	m, err := NewTraining(net, &data.Problem{Train: set, Augment: a}, pool.New(threads))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// seen is what a training step computes: log-likelihoods and gradients.
func seen(t *testing.T, m Training, view View, rows []int32, theta []float64) []float64 {
	t.Helper()
	j := len(theta) / m.Dim()
	out := make([]float64, j+len(theta))
	if err := m.LogLikSeen(t.Context(), view, rows, theta, out[:j], out[j:]); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestChannelsAreTaken: a network sees (v − mean)/sd of each channel, written here in float64, of bytes and of floats; a channel without
// deviation is 0.
func TestChannelsAreTaken(t *testing.T) {
	for _, floats := range []bool{false, true} {
		net, set, theta := augmented(t, 70, 1, floats)
		other := *set
		other.U8, other.F32, other.Channels = nil, make([]float32, set.Len()*set.Features()), nil
		x := make([]float64, set.Features())
		for i := range set.Len() {
			set.Row(i, x)
			for f, v := range x {
				if c := f / 72; set.Channels.SD[c] > 0 {
					other.F32[i*len(x)+f] = float32((v - set.Channels.Mean[c]) / set.Channels.SD[c])
				}
			}
		}
		got := seen(t, training(t, net, set, nil, 2), View{}, nil, theta)
		want := seen(t, training(t, net, &other, nil, 2), View{}, nil, theta)
		for i, v := range want {
			if !(math.Abs(got[i]-v) <= 1e-4*(1+math.Abs(v))) {
				t.Fatalf("floats %v: value %d is %v, of inputs in float64 %v", floats, i, got[i], v)
			}
		}
		without := *set
		without.Channels = nil
		if plain := seen(t, training(t, net, &without, nil, 2), View{}, nil, theta); slices.Equal(plain, got) {
			t.Error("channels change nothing")
		}
	}
}

// TestAugmentedIsOfChangedImages: what a training step computes has the bits of the same step on images that were changed beforehand, one by
// one, by the draw of their seed, restart, epoch and index. So it is for every batch, in any order, and all threads and kernels; zeros at the
// border are black before they are standardised.
func TestAugmentedIsOfChangedImages(t *testing.T) {
	augment, view := &data.Augment{Crop: 3, Flip: true}, View{Seed: 7, Restart: 2, Epoch: 5}
	for _, floats := range []bool{false, true} {
		for _, n := range []int{1, 16, 77, 300} {
			net, set, theta := augmented(t, 300, 3, floats)
			changed, size := *set, set.Features()
			changed.U8, changed.F32 = slices.Clone(set.U8), slices.Clone(set.F32)
			for i := range set.Len() {
				c := augment.Draw(rng.Key{Seed: 7, Purpose: rng.Augment, Iteration: 5, Particle: 2, Island: i}.Stream())
				if floats {
					data.ChangeImage(c, set.F32[i*size:][:size], changed.F32[i*size:][:size], 9, 8)
				} else {
					data.ChangeImage(c, set.U8[i*size:][:size], changed.U8[i*size:][:size], 9, 8)
				}
			}
			rows := make([]int32, 300)
			rng.Key{Seed: 3, Purpose: rng.Batch}.Stream().Perm(rows)
			rows = rows[:n]
			want := seen(t, training(t, net, &changed, nil, 1), view, rows, theta)
			if slices.Equal(want, seen(t, training(t, net, set, nil, 1), view, rows, theta)) {
				t.Fatal("changes change nothing")
			}
			for _, kernel := range lanes.Kernels() {
				restore, err := lanes.SetKernel(kernel)
				if err != nil {
					t.Fatal(err)
				}
				for _, threads := range []int{1, 2, 5} {
					if got := seen(t, training(t, net, set, augment, threads), view, rows, theta); !slices.Equal(got, want) {
						t.Errorf("floats %v, %d images, %s, %d threads: other bits than those of images changed beforehand", floats, n, kernel, threads)
					}
				}
				restore()
			}
		}
	}
}

// TestAugmentedByView: another seed, restart, epoch or example is another change, and a seed of a trajectory names one change of an example.
func TestAugmentedByView(t *testing.T) {
	net, set, theta := augmented(t, 100, 1, false)
	copy(set.U8[8*set.Features():9*set.Features()], set.U8[7*set.Features():]) // examples 7 and 8 differ in their index alone
	set.Labels[8] = set.Labels[7]
	m := training(t, net, set, &data.Augment{Crop: 4, Flip: true}, 2)
	one := seen(t, m, View{1, 2, 3}, []int32{7}, theta)
	for what, other := range map[string][]float64{
		"seed": seen(t, m, View{2, 2, 3}, []int32{7}, theta), "restart": seen(t, m, View{1, 3, 3}, []int32{7}, theta),
		"epoch": seen(t, m, View{1, 2, 4}, []int32{7}, theta), "example": seen(t, m, View{1, 2, 3}, []int32{8}, theta),
	} {
		if slices.Equal(other, one) {
			t.Errorf("another %s is the same change", what)
		}
	}
	of := func(seed uint64, rows ...int32) float64 {
		ll, grad := make([]float64, 1), make([]float64, len(theta))
		if err := m.LogLikAugmented(t.Context(), seed, rows, theta, ll, grad); err != nil {
			t.Fatal(err)
		}
		return ll[0]
	}
	if alone, both := of(9, 7), of(9, 8, 7); !(math.Abs(both-of(9, 8)-alone) <= 1e-6*math.Abs(both)) || alone == of(10, 7) {
		t.Errorf("by seeds: %v alone, %v with another example, %v by another seed", alone, both, of(10, 7))
	}
}

// TestAugmentedElsewhereNot: log-likelihoods, gradients and outputs of a model have the same bits with and without augmentation, also on memory
// that a training step has used.
func TestAugmentedElsewhereNot(t *testing.T) {
	net, set, theta := augmented(t, 130, 2, false)
	plain, m := training(t, net, set, nil, 2), training(t, net, set, &data.Augment{Crop: 4, Flip: true}, 2)
	if plain.Augments() || !m.Augments() || !m.At(nil).Augments() {
		t.Error("which model augments")
	}
	all := func(m Training) (ll, grad []float64, out []float32) {
		ll, grad, out = make([]float64, 2), make([]float64, len(theta)), make([]float32, 2*130*4)
		if err := m.LogLik(t.Context(), nil, theta, ll, grad); err != nil {
			t.Fatal(err)
		}
		if err := m.Outputs(t.Context(), nil, theta, out); err != nil {
			t.Fatal(err)
		}
		return ll, grad, out
	}
	seen(t, m, View{Epoch: 1}, nil, theta)
	ll, grad, out := all(m)
	wantLL, wantGrad, wantOut := all(plain)
	if !slices.Equal(ll, wantLL) || !slices.Equal(grad, wantGrad) || !slices.Equal(out, wantOut) {
		t.Error("augmentation changes what is no training step")
	}
	if !slices.Equal(seen(t, plain, View{Epoch: 1}, nil, theta)[:2], wantLL) {
		t.Error("a training step without augmentation is another log-likelihood")
	}
}

// TestAugmentedAllocatesNothing: a training step with augmentation allocates as often as one without.
func TestAugmentedAllocatesNothing(t *testing.T) {
	for _, floats := range []bool{false, true} {
		net, set, theta := augmented(t, 128, 1, floats)
		ll, grad := make([]float64, 1), make([]float64, len(theta))
		var allocs [2]float64
		for i, augment := range []*data.Augment{nil, {Crop: 4, Flip: true}} {
			m := training(t, net, set, augment, 1)
			allocs[i] = testing.AllocsPerRun(20, func() {
				if err := m.LogLikSeen(t.Context(), View{Epoch: 1}, nil, theta, ll, grad); err != nil {
					t.Fatal(err)
				}
			})
		}
		if allocs[1] > allocs[0] {
			t.Errorf("floats %v: %v allocations a step, %v without augmentation", floats, allocs[1], allocs[0])
		}
	}
}

// BenchmarkAugment times the changes of 16 images of CIFAR-10's size.
func BenchmarkAugment(b *testing.B) {
	all, scratch := make([]uint8, 16*3072), []uint8(nil)
	var examples [lanes.Lanes]int
	for i := range examples {
		examples[i] = i
	}
	var start [lanes.Lanes]int
	augment, view := &data.Augment{Crop: 4, Flip: true}, &View{}
	for b.Loop() {
		view.Epoch++
		inputs(all, nil, []int{3, 32, 32}, &examples, augment, view, &scratch, &start)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(16*b.N), "ns/image")
}
