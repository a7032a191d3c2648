package data

import (
	"slices"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/rng"
)

// Augment changes the images of a training step at random: the gradients of descents, and of moves that can have it, are those of changed
// images. Everything else sees images as they are: weights and values of samplers, validation, evaluation, predictions. An image is changed
// in one way in an epoch of a descent, and in another one in the next; likewise in a trajectory of the move epoch.
//
// An image is moved first, and then turned. Pixels are changed as the file has them, before they are standardised: new ones are 0, which is
// black, and standardised like any other. So a training step sees what PyTorch's RandomCrop(SIZE, padding=CROP), RandomHorizontalFlip,
// ToTensor and Normalize would show it.
type Augment struct {
	// Crop is a number of pixels: with so many zeros around it on all sides, an image is cut to its size again at a random place. That moves
	// it by up to so many pixels in both directions, by each amount with the same probability.
	Crop int `yaml:"crop,omitempty"`

	Flip bool `yaml:"flip,omitempty"` // turns an image left to right with probability 1/2
}

// Check implements config.Checker.
func (a Augment) Check(f *config.Faults) {
	f.If(a.Crop < 0, "crop", "want a number of pixels from 0, have %d", a.Crop)
	f.If(a == Augment{}, "", "changes nothing: want crop, flip or both, as in {crop: 4, flip: true}")
}

// suits refuses examples that are no images, and a crop that can leave nothing of them.
func (a *Augment) suits(name string, shape []int) error {
	if len(shape) != 3 {
		return fieldError("augment", "changes images, and the examples of %s have the shape %v: leave augment out, or give images [examples, channels, height, width]", name, shape)
	}
	if least := slices.Min(shape[1:]); a.Crop >= least {
		return fieldError("augment.crop", "want less than %d pixels, the size of the images of %s, have %d: nothing may be left of an image", least, name, a.Crop)
	}
	return nil
}

// Change is what becomes of one image: pixel (y, x) is that at (y + Down, x + Right) of the image, or 0 outside it; x counts from the right if
// it is flipped.
type Change struct {
	Down, Right int
	Flipped     bool
}

// Draw draws a change.
func (a *Augment) Draw(s *rng.Stream) (c Change) {
	if a.Crop > 0 {
		c.Down, c.Right = s.IntN(2*a.Crop+1)-a.Crop, s.IntN(2*a.Crop+1)-a.Crop
	}
	c.Flipped = a.Flip && s.Uint64()>>63 == 1
	return c
}

// ChangeImage sets dst to an image [channels, height, width] after a change. Both have its length.
func ChangeImage[T uint8 | float32 | Float16](c Change, image, dst []T, height, width int) {
	first, end := max(0, -c.Right), min(width, width-c.Right) // of the columns that are not 0, before the flip
	for at := 0; at < len(image); at += height * width {
		from, to := image[at:][:height*width], dst[at:][:height*width]
		for y := range height {
			row := to[y*width:][:width]
			if y+c.Down < 0 || y+c.Down >= height {
				clear(row)
				continue
			}
			clear(row[:first])
			copy(row[first:end], from[(y+c.Down)*width+first+c.Right:])
			clear(row[end:])
			if c.Flipped {
				slices.Reverse(row)
			}
		}
	}
}
