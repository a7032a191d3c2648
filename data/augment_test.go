package data

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/rng"
)

// TestChangeImage: a change is an image with zeros on all sides, of which a window is taken, and then turned: written as PyTorch's RandomCrop
// and RandomHorizontalFlip state it, for every shift and for bytes and floats alike. What was in the result before is gone.
func TestChangeImage(t *testing.T) {
	const channels, height, width = 2, 5, 4
	image := make([]uint8, channels*height*width)
	for i := range image {
		image[i] = uint8(i + 1)
	}
	floats := make([]float32, len(image))
	for i, v := range image {
		floats[i] = float32(v)
	}
	const crop = 3
	for down := range 2*crop + 1 {
		for right := range 2*crop + 1 {
			for _, flipped := range []bool{false, true} {
				padded := map[[3]int]uint8{} // of height + 2·crop rows and width + 2·crop columns
				for c := range channels {
					for y := range height {
						for x := range width {
							padded[[3]int{c, y + crop, x + crop}] = image[(c*height+y)*width+x]
						}
					}
				}
				want, wantFloats := make([]uint8, 0, len(image)), make([]float32, 0, len(image))
				for c := range channels {
					for y := range height {
						row := make([]uint8, width)
						for x := range width {
							row[x] = padded[[3]int{c, y + down, x + right}]
						}
						if flipped {
							slices.Reverse(row)
						}
						for _, v := range row {
							want, wantFloats = append(want, v), append(wantFloats, float32(v))
						}
					}
				}
				change := Change{down - crop, right - crop, flipped}
				got, gotFloats := slices.Repeat([]uint8{99}, len(image)), slices.Repeat([]float32{99}, len(image))
				ChangeImage(change, image, got, height, width)
				ChangeImage(change, floats, gotFloats, height, width)
				if !slices.Equal(got, want) || !slices.Equal(gotFloats, wantFloats) {
					t.Fatalf("%+v gives %v and %v, want %v", change, got, gotFloats, want)
				}
			}
		}
	}
}

// TestDraw: of n draws, the (2·crop+1)² shifts with both flips are equally frequent: chi-square, beyond its bound with probability 1e-6 (by
// Wilson and Hilferty's normal quantile 4.75). A shift that is 12 % too rare is found. What is off is never drawn.
func TestDraw(t *testing.T) {
	const n = 200000
	a := Augment{Crop: 2, Flip: true}
	counts := map[Change]int{}
	for i := range n {
		counts[a.Draw(rng.Key{Seed: 4, Purpose: rng.Augment, Island: i}.Stream())]++
	}
	const cells = 5 * 5 * 2
	square := 0.0
	for down := -2; down <= 2; down++ {
		for right := -2; right <= 2; right++ {
			for _, flipped := range []bool{false, true} {
				d := float64(counts[Change{down, right, flipped}]) - n/float64(cells)
				square += d * d / (n / float64(cells))
				delete(counts, Change{down, right, flipped})
			}
		}
	}
	const k = cells - 1.
	bound := k * math.Pow(1-2/(9*k)+4.75*math.Sqrt(2/(9*k)), 3)
	if !(square <= bound) || len(counts) > 0 {
		t.Errorf("chi-square %.1f, want at most %.1f; others %v", square, bound, counts)
	}
	for i := range 1000 {
		key := rng.Key{Seed: 5, Purpose: rng.Augment, Island: i}
		if c := (&Augment{Crop: 1}).Draw(key.Stream()); c.Flipped {
			t.Fatal("flipped without flip")
		}
		if c := (&Augment{Flip: true}).Draw(key.Stream()); c.Down != 0 || c.Right != 0 {
			t.Fatal("moved without crop")
		}
	}
	if got := fmt.Sprint((&a).Draw(rng.Key{Seed: 1, Purpose: rng.Augment, Island: 2, Iteration: 3, Particle: 4}.Stream())); got != frozenDraw {
		t.Errorf("a draw is %s, was %s: draws are part of the format of results", got, frozenDraw)
	}
}

const frozenDraw = "{0 2 false}"
