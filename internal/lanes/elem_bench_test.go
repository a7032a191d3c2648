package lanes

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// BenchmarkElementwise reports ns a vector of 16 lanes, in the first-level cache unless noted.
func BenchmarkElementwise(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	const n = 64 // vectors
	floats := func(vectors int) []float32 {
		v := Make(vectors * Lanes)
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		return v
	}
	x, y, z := floats(n), floats(n), floats(n)
	target, label := Make(n*Lanes), make([]int32, n*Lanes)
	for i := range target {
		target[i], label[i] = float32(r.IntN(2)), int32(r.IntN(10))
	}
	masks := make([]uint16, n)
	for i := range masks {
		masks[i] = uint16(r.Uint32())
	}
	const classes, pixels, features = 10, 144, 784
	logits, dlogits := floats(8*classes), floats(8*classes)
	planes, rows := floats(6*pixels), Make(6*Lanes)
	doubles, singles := make([]float64, n*Lanes), floats(n)
	bytes, examples := make([]uint8, Lanes*features), floats(features)
	halves := make([]Float16, len(examples))
	standard := &Standard{Mean: make([]float64, features), SD: slices.Repeat([]float64{1.25}, features), To: 1}
	var row [Lanes]int
	for i := range row {
		row[i] = i * features
	}
	at := make([]int32, features)
	for i := range at {
		at[i] = int32(i * Lanes)
	}
	wide := floats(features)
	var taps []int32
	for o := range pixels / 4 {
		for _, t := range []int{0, 1, 12, 13} {
			taps = append(taps, int32((o/6*24+o%6*2+t)*Lanes))
		}
	}
	load, err := NewLoad(at)
	if err != nil {
		b.Fatal(err)
	}
	windows, err := NewWindows(taps, 4)
	if err != nil {
		b.Fatal(err)
	}
	arg := make([]int32, pixels/4*Lanes)
	sums := make([]float64, 8)
	norm := Norm{Rows: 16, Cols: 16, X: 18 * Lanes, Y: 17 * Lanes}
	var sumByLane [Lanes]float32
	var sumsByLane Sums

	for _, c := range []struct {
		name    string
		vectors int
		call    func()
	}{
		{"ReLU", n, func() { ReLU(x, y) }},
		{"ReLUBackward", n, func() { ReLUBackward(x, y, z) }},
		{"Scale", n, func() { Scale(x, 0.25, y) }},
		{"Drop", n, func() { Drop(x, masks, 1.25, y) }},
		{"Tanh", n, func() { Tanh(x, y) }},
		{"TanhWithDerivative", n, func() { TanhWithDerivative(x, y, z) }},
		{"GELU", n, func() { GELU(x, y) }},
		{"GELUWithDerivative", n, func() { GELUWithDerivative(x, y, z) }},
		{"Swish", n, func() { Swish(x, y) }},
		{"SwishWithDerivative", n, func() { SwishWithDerivative(x, y, z) }},
		{"MultiplyDerivative", n, func() { MultiplyDerivative(x, y, z) }},
		{"Bernoulli", n, func() { Bernoulli(x, target[:n/4*Lanes], y, z) }},
		{"BernoulliValue", n, func() { Bernoulli(x, target[:n/4*Lanes], y, nil) }},
		{"Categorical10", 8 * classes, func() { Categorical(logits, label[:4*Lanes], classes, y[:8*Lanes], dlogits) }},
		{"PredictedNormal", 8, func() { PredictedNormal(x[:16*Lanes], y[:8*Lanes], 0, z[:Lanes], dlogits[:16*Lanes]) }},
		{"PredictedNormalValue", 8, func() { PredictedNormal(x[:16*Lanes], y[:8*Lanes], 0, z[:Lanes], nil) }},
		{"PredictedNormalFloor", 8, func() { PredictedNormal(x[:16*Lanes], y[:8*Lanes], 0.01, z[:Lanes], dlogits[:16*Lanes]) }},
		{"LaneSums", n, func() { LaneSums(x, n/8, 16, sums) }},
		{"SumRows", 6 * pixels, func() { SumRows(planes, 6, pixels, pixels*Lanes, rows) }},
		{"Norm.Squares", norm.Rows * norm.Cols, func() { norm.Squares(planes, &sumByLane) }},
		{"Norm.Apply", norm.Rows * norm.Cols, func() { norm.Apply(planes, wide) }},
		{"Norm.Sums", norm.Rows * norm.Cols, func() { norm.Sums(planes, wide, &sumsByLane) }},
		{"Norm.Backward", norm.Rows * norm.Cols, func() { norm.Backward(planes, wide, &sumByLane, planes[len(planes)/2:]) }},
		{"Float32s", n, func() { Float32s(singles, doubles) }},
		{"AddFloat64s", n, func() { AddFloat64s(doubles, singles) }},
		{"Load.U8", features, func() { load.U8(bytes, &row, AsIs, wide) }},
		{"Load.F32", features, func() { load.F32(examples, &row, AsIs, wide) }},
		{"Load.F16", features, func() { load.F16(halves, &row, AsIs, wide) }},
		{"Load.Standardise", features, func() { load.Standardise(standard, wide) }},
		{"Transpose", n, func() { Transpose(x, n, y, n) }},
		{"Transpose30", 30, func() { Transpose(x[:30*Lanes], 30, y, 32) }},
		{"Windows.Max2x2", pixels, func() { windows.Max(planes, wide, arg) }},
		{"Windows.MaxBackward2x2", pixels, func() { windows.MaxBackward(wide, arg, planes) }},
		{"Windows.Sum2x2", pixels, func() { windows.Sum(planes, 0.25, wide) }},
	} {
		for _, kernel := range Kernels() {
			b.Run(fmt.Sprintf("%s/%s", c.name, kernel), func(b *testing.B) {
				defer setKernel(b, kernel)()
				const calls = 20
				best := time.Hour // of many: others use the machine too
				for b.Loop() {
					start := time.Now()
					for range calls {
						c.call()
					}
					best = min(best, time.Since(start))
				}
				b.ReportMetric(float64(best.Nanoseconds())/float64(calls*c.vectors), "ns/vector")
			})
		}
	}
}
