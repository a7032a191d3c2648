package nn

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/arrays"
	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/regular"
)

// half is a number of 16 bits near x, below 2 in magnitude.
func half(x float64) data.Float16 {
	h := data.Float16(math.Min(math.Abs(x), 1.9) * 512) // for the bits, any will do
	if x < 0 {
		h |= 0x8000
	}
	return h | 0x3000
}

// written is a set whose n inputs of p features are in a file of numbers of 16 or of 32 bits, and the file.
func written(t testing.TB, of *data.Set, halves []data.Float16) (*data.Set, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.npy")
	raw := arrays.NPYBegin("<f4", []int{of.Len(), of.Features()})
	if halves != nil {
		raw = arrays.NPYBegin("<f2", []int{of.Len(), of.Features()})
		for _, h := range halves {
			raw = binary.LittleEndian.AppendUint16(raw, uint16(h))
		}
	} else {
		for _, v := range of.F32 {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
		}
	}
	if err := os.WriteFile(path, raw, 0o666); err != nil {
		t.Fatal(err)
	}
	a, err := data.StoreArray(path)
	if err != nil {
		t.Fatal(err)
	}
	s := *of
	s.F32, s.F16, s.Stored = nil, nil, a.Stored
	if a.Stored == nil { // where the system maps no files
		s.F32, _ = a.Values.([]float32)
		s.F16, _ = a.Values.([]data.Float16)
	}
	return &s, path
}

// TestStoredBits: log-likelihoods, gradients and outputs have the bits of inputs in memory as float32 numbers, standardised before, whether
// inputs are of 16 bits or 32, in memory or in a file, and whichever rows of it a set has; on every kernel and any number of threads.
func TestStoredBits(t *testing.T) {
	const n, p, particles = 300, 45, 3
	r := rand.New(rand.NewPCG(4, 2))
	net := mustNet(t, []int{p}, []Layer{Dense{Units: 7}, Tanh, Dense{Units: 3}}, Categorical{})
	theta := testTheta(net, particles, r)
	single := testSet(net, n, false, r)
	halves, widened := make([]data.Float16, n*p), *single
	widened.F32 = make([]float32, n*p)
	for i := range halves {
		halves[i] = half(r.NormFloat64())
		widened.F32[i] = halves[i].Float32()
	}
	inHalves := widened
	inHalves.F32, inHalves.F16 = nil, halves
	singleFile, _ := written(t, single, nil)
	halfFile, _ := written(t, single, halves)
	standard := data.FitStandard(single, 1)
	standard.SD[3] = 0
	var some, rows []int32
	for range 170 {
		some = append(some, int32(r.IntN(n)))
	}
	for range 90 {
		rows = append(rows, int32(r.IntN(len(some))))
	}
	for name, c := range map[string]struct{ set, same *data.Set }{
		"float32 in a file": {singleFile, single}, "float16 in memory": {&inHalves, &widened}, "float16 in a file": {halfFile, &widened},
	} {
		for _, standardised := range []bool{false, true} {
			set, same := c.set, c.same
			if standardised {
				var errs [2]error
				set, errs[0] = standard.Apply(set)
				same, errs[1] = standard.Apply(same)
				if err := errors.Join(errs[:]...); err != nil {
					t.Fatal(err)
				}
				if set.Inputs == nil || same.Inputs != nil {
					t.Fatal("what is to be standardised when it is loaded was before")
				}
			}
			want := bitsOfModel(t, net, same.Select("", some), pool.New(1), theta, rows)
			for _, kernel := range lanes.Kernels() {
				restore, err := lanes.SetKernel(kernel)
				if err != nil {
					t.Fatal(err)
				}
				for _, threads := range []int{1, 3} {
					got := bitsOfModel(t, net, set.Select("", some), pool.New(threads), theta, rows)
					if !slices.Equal(got, want) {
						t.Errorf("%s, standardised: %v, kernel %s, %d threads: other bits", name, standardised, kernel, threads)
					}
				}
				restore()
			}
		}
	}
}

// bitsOfModel are log-likelihoods and gradients of all examples and of some rows, and outputs.
func bitsOfModel(t *testing.T, net *Net, set *data.Set, p *Pool, theta []float64, rows []int32) (bits []uint64) {
	t.Helper()
	m, err := NewModel(net, set, p)
	if err != nil {
		t.Fatal(err)
	}
	for _, rows := range [][]int32{nil, rows} {
		ll, grad := make([]float64, len(theta)/net.dim), make([]float64, len(theta))
		if err := m.LogLik(context.Background(), rows, theta, ll, grad); err != nil {
			t.Fatal(err)
		}
		for _, v := range slices.Concat(ll, grad) {
			bits = append(bits, math.Float64bits(v))
		}
	}
	out := make([]float32, len(theta)/net.dim*set.Len()*net.Outputs())
	if err := m.Outputs(context.Background(), nil, theta, out); err != nil {
		t.Fatal(err)
	}
	for _, v := range out {
		bits = append(bits, uint64(math.Float32bits(v)))
	}
	return bits
}

// TestStoredFileShrinks: a model of a file that becomes shorter returns an error that names it, whatever the kernel, the size of numbers, and
// the number of threads.
func TestStoredFileShrinks(t *testing.T) {
	if !regular.Maps {
		return
	}
	const n, p = 2000, 100
	r := rand.New(rand.NewPCG(7, 7))
	net, err := Random{LastLayer}.Network([]int{p}, []Layer{Dense{Units: 5}, Tanh, Dense{Units: 3}}, Categorical{})
	if err != nil {
		t.Fatal(err)
	}
	set, theta := testSet(net, n, false, r), testTheta(net, 2, r)
	halves := make([]data.Float16, n*p)
	for _, kernel := range lanes.Kernels() {
		for _, of := range [][]data.Float16{nil, halves} {
			for _, threads := range []int{1, 3} {
				stored, path := written(t, set, of)
				restore, err := lanes.SetKernel(kernel)
				if err != nil {
					t.Fatal(err)
				}
				m, err := NewModel(net, stored, pool.New(threads))
				if err != nil {
					t.Fatal(err)
				}
				name := fmt.Sprintf("%s, float16: %v, %d threads", kernel, of != nil, threads)
				ll, grad := make([]float64, 2), make([]float64, len(theta))
				out, psi := make([]float32, 2*n*net.Outputs()), make([]float64, net.Learned())
				calls := map[string]func() error{
					"LogLik":          func() error { return m.LogLik(t.Context(), nil, theta, ll, grad) },
					"Outputs":         func() error { return m.Outputs(t.Context(), nil, theta, out) },
					"LearnedGradient": func() error { return m.LearnedGradient(t.Context(), nil, theta, []float64{.5, .5}, psi) },
				}
				for what, call := range calls {
					if err := call(); err != nil {
						t.Fatalf("%s: %s: %v", name, what, err)
					}
				}
				if err := os.Truncate(path, 8192); err != nil {
					t.Fatal(err)
				}
				var changed *regular.ChangedError
				for what, call := range calls {
					if err := call(); !errors.As(err, &changed) || changed.Name != path {
						t.Errorf("%s: %s: %v", name, what, err)
					}
				}
				restore()
			}
		}
	}
}

// TestBeyond31Bits: a file may have more than 2³¹ values. Its rows are where they are: those beyond have the outputs of the same rows in memory.
func TestBeyond31Bits(t *testing.T) {
	if !regular.Maps {
		return
	}
	const n, p = 1 << 20, 2050
	path := filepath.Join(t.TempDir(), "x.npy")
	begin := arrays.NPYBegin("<f2", []int{n, p})
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows := []int32{0, n - 1, n - 7, 3}
	r := rand.New(rand.NewPCG(3, 1))
	few := &data.Set{Name: "few", Shape: []int{p}}
	_, err = file.Write(begin)
	err = errors.Join(err, file.Truncate(int64(len(begin))+2*n*p)) // a hole: it takes no room on the disk
	for _, row := range rows {
		var raw []byte
		for range p {
			h := half(r.NormFloat64())
			few.F16, raw = append(few.F16, h), binary.LittleEndian.AppendUint16(raw, uint16(h))
		}
		_, failed := file.WriteAt(raw, int64(len(begin))+2*p*int64(row))
		err = errors.Join(err, failed)
	}
	if err != nil {
		t.Fatal(err)
	}
	a, err := data.StoreArray(path)
	if err != nil {
		t.Fatal(err)
	}
	net := mustNet(t, []int{p}, []Layer{Dense{Units: 3}}, Categorical{})
	theta := testTheta(net, 2, r)
	outputs := func(set *data.Set, rows []int32) []float32 {
		m, err := NewModel(net, set, pool.New(1))
		if err != nil {
			t.Fatal(err)
		}
		out := make([]float32, 2*len(rows)*net.Outputs())
		if err := m.Outputs(t.Context(), rows, theta, out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	got, want := outputs(&data.Set{Name: "many", Shape: []int{p}, Stored: a.Stored}, rows), outputs(few, []int32{0, 1, 2, 3})
	if !slices.Equal(got, want) {
		t.Errorf("outputs %v, of the rows in memory %v", got, want)
	}
}

// TestCurvatureOfCutFile: a file that becomes shorter ends a curvature, a forward derivative and a look at its tokens with an error.
func TestCurvatureOfCutFile(t *testing.T) {
	if !regular.Maps {
		return
	}
	const n, p = 40000, 4
	path := filepath.Join(t.TempDir(), "x.npy")
	begin := arrays.NPYBegin("<f4", []int{n, p})
	if err := os.WriteFile(path, append(begin, make([]byte, 4*n*p)...), 0o666); err != nil {
		t.Fatal(err)
	}
	a, err := data.StoreArray(path)
	if err != nil {
		t.Fatal(err)
	}
	set := &data.Set{Name: "x", Shape: []int{p}, Stored: a.Stored, Labels: make([]int32, n), Classes: 2}
	net, tokens := mustNet(t, []int{p}, []Layer{Dense{Units: 2}}, Categorical{}), mustNet(t, []int{p}, []Layer{Embed{Tokens: 3, Width: 2}, Dense{Units: 2}}, Categorical{})
	m, err := NewModel(net, set, pool.New(2))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, int64(len(begin))); err != nil {
		t.Fatal(err)
	}
	theta, d := make([]float64, net.dim), net.dim
	_, factors := m.Factors(t.Context(), theta)
	_, embed := NewModel(tokens, set, pool.New(2))
	for what, err := range map[string]error{
		"factors": factors, "embed": embed, "matrix": m.GaussNewton(t.Context(), theta, make([]float64, d*d)), "diagonal": m.GaussNewtonDiagonal(t.Context(), theta, make([]float64, d)),
		"tangents": m.Tangents(t.Context(), nil, theta, theta, make([]float32, n*2)),
	} {
		if !errors.As(err, new(*regular.ChangedError)) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
