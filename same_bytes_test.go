package starling

import (
	"fmt"
	"testing"

	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/testkit"
)

// TestSameBytes runs every small run under all kernels and on 1, 2 and 7 threads: ensembles, metrics and the trace without its
// seconds have the same bytes. The long test takes all pairs.
func TestSameBytes(t *testing.T) {
	long := testkit.Long(t, 1)
	for name, spec := range small(t) {
		t.Run(name, func(t *testing.T) {
			want, from := "", ""
			for i, kernel := range lanes.Kernels() {
				restore, err := lanes.SetKernel(kernel)
				if err != nil {
					t.Fatal(err)
				}
				for _, threads := range threadsOf(i, long) {
					got, here := fingerprint(t, fitted(t, spec, Options{Threads: threads})), fmt.Sprintf("%s, %d threads", kernel, threads)
					if want == "" {
						want, from = got, here
					}
					if got != want {
						t.Errorf("%s:\n%s\n%s:\n%s", from, want, here, got)
					}
				}
				restore()
			}
		})
	}
}

// threadsOf deals numbers of threads out to the kernels, so that each kernel has one and each number is used. All is for all of them.
func threadsOf(kernel int, all bool) (counts []int) {
	kernels := len(lanes.Kernels())
	for i, n := range []int{1, 2, 7} {
		if all || i%kernels == kernel || kernel >= 3 && i == 1 {
			counts = append(counts, n)
		}
	}
	return counts
}

// TestSeedMatters shows that what TestSameBytes compares can differ.
func TestSeedMatters(t *testing.T) {
	a, b := trees(t), trees(t, "seed=4")
	if fingerprint(t, fitted(t, a, Options{})) == fingerprint(t, fitted(t, b, Options{})) {
		t.Error("two seeds gave the same bytes")
	}
}

// TestSamplerSeed: where only the sampler is random, another seed gives another posterior; so it is with the search.
func TestSamplerSeed(t *testing.T) {
	const method = "method={mcmc: {chains: 1, start: prior, epochs: 2, keep: last, move: {pcn: {}}}}"
	spec := func(seed string) Spec {
		return preset(t, "mnist7", "model.layers=[{dense: 8}]", method, "map=null", "seed="+seed)
	}
	a, b := fitted(t, spec("1"), Options{}), fitted(t, spec("2"), Options{})
	if a.Posterior.Theta[0] == b.Posterior.Theta[0] {
		t.Error("seeds 1 and 2 give the same posterior")
	}
	if a.Restarts != nil {
		t.Error("point estimates that nobody asked for")
	}
	search := func(seed string) float32 {
		s := preset(t, "mnist7", "model.layers=[{dense: 8}]", method, "map={restarts: 1, epochs: 1}", "seed="+seed)
		return fitted(t, s, Options{}).Restarts.Theta[0]
	}
	if search("1") == search("2") {
		t.Error("seeds 1 and 2 give the same point estimates")
	}
}
