package lanes

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// logSD draws outputs s: within the bounds of log σ, at these and beside them, near 0 and where e^x is 1 + x, and where Exp and Log change
// their power of 2.
func logSD(r *rand.Rand) float32 {
	edge := func(x float64) float32 { // within three neighbours
		v := float32(x)
		for range r.IntN(4) {
			v = math.Nextafter32(v, float32(1000*r.NormFloat64()))
		}
		return v
	}
	switch r.IntN(8) {
	case 0:
		return edge([2]float64{LowestLogSD, HighestLogSD}[r.IntN(2)])
	case 1:
		return float32(math.Ldexp(r.NormFloat64(), -r.IntN(60)))
	case 2:
		return float32(math.Ldexp(1+r.Float64(), -30) * float64(1-2*r.IntN(2)))
	case 3:
		return edge(math.Ln2 / 4 * float64(r.IntN(161)-80))
	}
	return float32(28*r.Float64() - 14)
}

// samePredicted compares the kernels with Go, bit by bit, with and without a gradient.
func samePredicted(t *testing.T, z, y []float32, floor float64) {
	t.Helper()
	var ll, dz []float32
	for _, kernel := range append([]string{"go"}, Kernels()...) {
		restore := setKernel(t, kernel)
		l, value, d := make([]float32, Lanes), make([]float32, Lanes), make([]float32, len(z))
		PredictedNormal(z, y, floor, l, d)
		PredictedNormal(z, y, floor, value, nil)
		restore()
		if ll == nil {
			ll, dz = l, d
		}
		sameBits(t, kernel+", without a gradient", value, ll)
		sameBits(t, kernel+", log-likelihood", l, ll)
		sameBits(t, kernel+", gradient", d, dz)
	}
}

// Every kernel has the bits of Go for all kinds of values, also for those that are not finite.
func TestPredictedNormalEverywhere(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 18))
	inf := math.Inf(1)
	odd := []float64{math.NaN(), inf, -inf, math.Copysign(0, -1), 0, 1e-45, -1e-45, math.MaxFloat32, -math.MaxFloat32}
	value := func(common float32) float32 {
		if r.IntN(20) == 0 {
			return float32(odd[r.IntN(len(odd))])
		}
		return common
	}
	for _, floor := range []float64{0, 1e-6, .003, .8, 1, 1e6, 1e100} {
		for range 500 {
			k := 1 + r.IntN(3)
			z, y := make([]float32, 2*k*Lanes), make([]float32, k*Lanes)
			for i := range y {
				z[i] = value(float32(math.Ldexp(r.NormFloat64(), r.IntN(40)-20)))
				y[i] = value(float32(math.Ldexp(r.NormFloat64(), r.IntN(40)-20)))
				z[len(y)+i] = value(logSD(r))
			}
			samePredicted(t, z, y, floor)
		}
	}
}

// Results in float32 hide the last bits of 1/σ² and log σ, unless a result nearly cancels out. So in one half of the calls y − m is σ
// up to 2^-48, and ∂/∂s is some last bits of (y − m)²/σ² − 1. In the others it makes the log-likelihood of two outputs some last bits: the
// first output has a density of 1, or as much above as a wide second one needs.
func TestPredictedNormalLastBits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 19))
	calls := 20_000
	if testing.Short() {
		calls = 5_000
	}
	const m, s = Lanes, 3 * Lanes // the second output
	z, y := make([]float32, 4*Lanes), make([]float32, 2*Lanes)
	for _, floor := range []float64{0, .01} {
		for call := range calls {
			for l := range Lanes {
				z[s+l] = logSD(r)
				logSD, prec, _ := PredictedScale(z[s+l], floor)
				z[2*Lanes+l] = float32(-halfLog2Pi - max(0, logSD+halfLog2Pi+0.5))
				first, _, _ := PredictedScale(z[2*Lanes+l], floor)
				square := 1.0
				if call%2 == 1 {
					square = max(0, -2*(first+logSD+2*halfLog2Pi))
				}
				d := math.Sqrt(square / prec)
				y[m+l] = float32(d)
				z[m+l] = float32(float64(y[m+l]) - d)
			}
			samePredicted(t, z, y, floor)
		}
	}
}

// What samples of results miss, the text of the assembly shows: it fuses nothing, which in a polynomial would change one result in a million,
// and it has the constants of the Go code to the last bit.
func TestPredictedNormalText(t *testing.T) {
	read := func(file string) string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	assembly := read("predicted_amd64.s")
	if at := regexp.MustCompile(`VFN?M(ADD|SUB)\w*`).FindString(assembly); at != "" {
		t.Errorf("the assembly has %s: want products that are rounded", at)
	}
	code := regexp.MustCompile(`(?m)^\texp(Over|Under)flow.*$`).ReplaceAllString(read("float64.go")+read("predicted.go"), "")
	constants := regexp.MustCompile(`-?\d\d?\.\d{10,}(e[-+]\d+)?`).FindAllString(code, -1)
	if len(constants) != 16 {
		t.Errorf("%d constants, want those of ln 2, of e^x, of the logarithm, the bound and ½ log 2π: %v", len(constants), constants)
	}
	for _, c := range append(constants, fmt.Sprint(log2E)) {
		x, err := strconv.ParseFloat(c, 64)
		if err != nil {
			t.Fatal(err)
		}
		if bits := fmt.Sprintf("$0x%016x", math.Float64bits(x)); strings.Count(assembly, bits) != 8 {
			t.Errorf("the assembly has %s, which is %s, %d times, want one for each lane", c, bits, strings.Count(assembly, bits))
		}
	}
}

func TestPredictedNormalPanics(t *testing.T) {
	floats := func(vectors int) []float32 { return make([]float32, vectors*Lanes) }
	for name, call := range map[string]func(){
		"outputs":   func() { PredictedNormal(floats(3), floats(1), 0, floats(1), nil) },
		"groups":    func() { PredictedNormal(floats(4), floats(2), 0, floats(2), nil) },
		"gradient":  func() { PredictedNormal(floats(4), floats(2), 0, floats(1), floats(2)) },
		"below":     func() { PredictedNormal(floats(4), floats(2), -1, floats(1), nil) },
		"no number": func() { PredictedNormal(floats(4), floats(2), math.NaN(), floats(1), nil) },
		"infinite":  func() { PredictedNormal(floats(4), floats(2), math.Inf(1), floats(1), nil) },
	} {
		func() {
			defer func() {
				if r, ok := recover().(string); !ok || !strings.HasPrefix(r, "lanes: PredictedNormal: ") {
					t.Errorf("%s: recovered %v", name, r)
				}
			}()
			call()
		}()
	}
}
