package nn

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/starling-smc/starling/internal/pool"
)

// BenchmarkFactors reports the time of the factors of whole networks on one thread: the head of 2,048 features, of which A has
// 50,000·2,049²/2 multiply-adds, and LeNet-5.
func BenchmarkFactors(b *testing.B) {
	for _, c := range []struct {
		name   string
		input  []int
		layers []Layer
		n      int
	}{
		{"head 2048 to 10", []int{2048}, []Layer{Dense{Units: 10}}, 50_000},
		{"LeNet-5", []int{1, 28, 28}, lenet5, 1200},
	} {
		b.Run(c.name, func(b *testing.B) {
			net := mustNet(b, c.input, c.layers, Categorical{})
			r := rand.New(rand.NewPCG(1, 2))
			m, err := NewModel(net, testSet(net, c.n, true, r), pool.New(1))
			if err != nil {
				b.Fatal(err)
			}
			theta := testTheta(net, 1, r)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.Factors(context.Background(), theta); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
