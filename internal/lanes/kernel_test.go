package lanes

import (
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// eachKernel runs f with every implementation that this processor has.
func eachKernel(t *testing.T, f func(t *testing.T)) {
	for _, name := range Kernels() {
		t.Run(name, func(t *testing.T) {
			defer setKernel(t, name)()
			f(t)
		})
	}
}

func setKernel(t testing.TB, name string) (restore func()) {
	restore, err := SetKernel(name)
	if err != nil {
		t.Fatal(err)
	}
	return restore
}

// guarded is a buffer between guard words and, where the system allows it, between pages that fault when they are touched.
type guarded[T comparable] struct {
	words  []T
	all    []T // the whole of region
	region []byte
	guard  T
}

var regions = map[int][][]byte{} // free ones by size

// guard copies words to a buffer whose end is off elements before a page that faults, or, for an odd off, whose start
// is that far behind one. check must follow.
func guard[T comparable](words []T, off int, mark T) *guarded[T] {
	page := os.Getpagesize()
	width := int(unsafe.Sizeof(mark))
	size := (width*(len(words)+off) + page) / page * page
	var region []byte
	if free := regions[size]; len(free) > 0 {
		region, regions[size] = free[len(free)-1], free[:len(free)-1]
	} else {
		region = fenced(size, page)
	}
	all := unsafe.Slice((*T)(unsafe.Pointer(&region[0])), size/width)
	for i := range all {
		all[i] = mark
	}
	start := len(all) - len(words) - off
	if off%2 == 1 {
		start = off
	}
	g := &guarded[T]{all[start:][:len(words):len(words)], all, region, mark}
	copy(g.words, words)
	return g
}

// check fails if a guard word has changed; words is a copy of the buffer from then on.
func (g *guarded[T]) check(t testing.TB, name string) {
	t.Helper()
	before := 0
	if len(g.words) > 0 && g.all != nil {
		before = int(uintptr(unsafe.Pointer(&g.words[0]))-uintptr(unsafe.Pointer(&g.all[0]))) / int(unsafe.Sizeof(g.guard))
	}
	for i, v := range g.all { // none when it was checked before
		if (i < before || i >= before+len(g.words)) && v != g.guard {
			t.Fatalf("%s: wrote to element %d of %d", name, i-before, len(g.words))
		}
	}
	g.words, g.all = slices.Clone(g.words), nil
	if size := len(g.region); size > 0 {
		regions[size], g.region = append(regions[size], g.region), nil
	}
}

// sameBits fails unless have and want have the same bits, or are both NaN.
func sameBits(t testing.TB, name string, have, want []float32) {
	t.Helper()
	if len(have) != len(want) {
		t.Fatalf("%s: %d elements, want %d", name, len(have), len(want))
	}
	for i := range have {
		h, w := have[i], want[i]
		if math.Float32bits(h) != math.Float32bits(w) && !(h != h && w != w) {
			t.Fatalf("%s: element %d is %v (%#x), want %v (%#x)", name, i, h, math.Float32bits(h), w, math.Float32bits(w))
		}
	}
}

// numbers fills a slice with normal numbers; with odd > 0, one in odd is a special value instead.
func numbers(r *rand.Rand, n, odd int) []float32 {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	special := []float32{nan, inf, -inf, float32(math.Copysign(0, -1)), 0, 1e-45, -3e-39, 1e-30, -1e-25, math.MaxFloat32, -1e38}
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64())
		if odd > 0 && r.IntN(odd) == 0 {
			v[i] = special[r.IntN(len(special))]
		}
	}
	return v
}

func TestSetKernelRefusesUnknown(t *testing.T) {
	former := Kernel()
	if _, err := SetKernel("mmx"); err == nil || !strings.Contains(err.Error(), "mmx") {
		t.Errorf("error is %v", err)
	}
	if Kernel() != former {
		t.Errorf("kernel changed to %s", Kernel())
	}
}

// The environment is read at start-up, so this test runs itself with other values.
func TestKernelFromEnvironment(t *testing.T) {
	if want := os.Getenv("LANES_TEST_KERNEL"); want != "" {
		if failed := KernelError() != nil; failed != (want == "error") || !failed && Kernel() != want {
			t.Fatalf("kernel %s, error %v, want %s", Kernel(), KernelError(), want)
		}
		return
	}
	for value, want := range map[string]string{"go": "go", Kernels()[0]: Kernels()[0], "": Kernels()[0], "mmx": "error"} {
		c := exec.Command(os.Args[0], "-test.run=^TestKernelFromEnvironment$")
		c.Env = append(os.Environ(), kernelVariable+"="+value, "LANES_TEST_KERNEL="+want)
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%s=%s: %v\n%s", kernelVariable, value, err, out)
		}
	}
}
