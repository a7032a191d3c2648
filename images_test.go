package starling

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"testing"
)

// imagesOf writes n images [3, 6, 6] of two classes, as bytes, and as numbers that scale makes of them, and their labels.
func imagesOf(t *testing.T, dir, part string, n int, scale func(channel int, v float64) float64) {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(n), 8))
	shape := []int{n, 3, 6, 6}
	pixels, numbers, labels := []byte(nil), []float64(nil), []byte{0, 0, 8, 1, 0, 0, 0, byte(n)}
	for i := range n {
		labels = append(labels, byte(i%2))
		for c := range 3 {
			for p := range 36 {
				v := byte(min(255, max(0, 80+30*float64(c)+float64(10+10*c)*r.NormFloat64()+float64(40*(i%2)*(p%6)/5))))
				pixels, numbers = append(pixels, v), append(numbers, scale(c, float64(v)/255))
			}
		}
	}
	header := []byte{0, 0, 8, 4, 0, 0, 0, byte(n), 0, 0, 0, 3, 0, 0, 0, 6, 0, 0, 0, 6}
	save(t, filepath.Join(dir, part+"-bytes.idx"), append(header, pixels...))
	save(t, filepath.Join(dir, part+"-numbers.npy"), npy(t, shape, numbers...))
	save(t, filepath.Join(dir, part+"-labels.idx"), labels)
}

// TestChannelsByTwoRoads: a run on bytes whose channels are standardised is that on numbers that a user has standardised before, by means and
// deviations of the training images in float64: the same scores, and the same predictions on a file that is read later, up to float32.
func TestChannelsByTwoRoads(t *testing.T) {
	dir := t.TempDir()
	imagesOf(t, dir, "train", 90, func(_ int, v float64) float64 { return v })
	var sum, square [3]float64
	imagesOf(t, dir, "train", 90, func(c int, v float64) float64 {
		sum[c], square[c] = sum[c]+v/(90*36), square[c]+v*v/(90*36)
		return v
	})
	scale := func(c int, v float64) float64 { return (v - sum[c]) / math.Sqrt(square[c]-sum[c]*sum[c]) }
	for part, n := range map[string]int{"train": 90, "test": 40, "validate": 30, "later": 25} {
		imagesOf(t, dir, part, n, scale)
	}
	var scores [2]float64
	var said [2][][]string
	for k, form := range []string{"bytes.idx", "numbers.npy"} {
		parts := ""
		for _, part := range []string{"train", "test", "validate"} {
			parts += fmt.Sprintf("%[2]s: {inputs: %[1]s/%[2]s-%[3]s, targets: %[1]s/%[2]s-labels.idx}, ", dir, part, form)
		}
		spec, err := ParseSpec("images.yaml", fmt.Appendf(nil, `
name: images
data: {%s standardise: %s}
model: {layers: [{conv: {filters: 2, kernel: 3, pad: 1}}, relu, {maxpool: 2}, {dense: 2}], likelihood: categorical}
prior: {normal: {variance: 0.2}}
map: {restarts: 2, epochs: 4}
method: ensemble
`, parts, map[string]string{"bytes.idx": "channels", "numbers.npy": "none"}[form]))
		if err != nil {
			t.Fatal(err)
		}
		_, folder := kept(t, spec)
		run, err := OpenRun(folder)
		if err != nil {
			t.Fatal(err)
		}
		a, err := run.Evaluate(t.Context(), On{Data: filepath.Join(dir, "later-"+form), Labels: filepath.Join(dir, "later-labels.idx")}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		scores[k] = float64(a.Metrics.NLL)
		var out bytes.Buffer
		if _, err := run.Predictor(Options{}).To(t.Context(), filepath.Join(dir, "later-"+form), &out); err != nil {
			t.Fatal(err)
		}
		if said[k], err = csv.NewReader(&out).ReadAll(); err != nil {
			t.Fatal(err)
		}
	}
	if !(math.Abs(scores[0]-scores[1]) <= 1e-4) {
		t.Errorf("NLL %v of bytes, %v of numbers that were standardised before", scores[0], scores[1])
	}
	for i, row := range said[0] {
		for j, v := range row[:4] { // row, class and probabilities
			a, err := strconv.ParseFloat(v, 64)
			b, _ := strconv.ParseFloat(said[1][i][j], 64)
			if i > 0 && (err != nil || !(math.Abs(a-b) <= 1e-4)) {
				t.Errorf("row %d, %s: %s of bytes, %s of numbers", i, said[0][0][j], v, said[1][i][j])
			}
		}
	}
}
