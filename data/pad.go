package data

import (
	"fmt"
	"slices"
	"strings"

	"github.com/starling-smc/starling/internal/numeral"
)

// Padding brings images to the size that a network takes: zeros around them, the image in the middle (of an odd number of rows or columns
// the last is below or to the right), and one channel repeated as several, as grey is shown in RGB. MNIST for a network of CIFAR is
// Padding{32, 32, 3}.
type Padding struct {
	Height, Width int
	Channels      int // 0: those of the images
}

// Pad pads the inputs of a set of images [channels, height, width]. Pixels stay bytes; a network then sees zeros as black. Targets stay.
func (p Padding) Pad(images *Set) (*Set, error) {
	to, err := p.shape(images.Name, images.Shape)
	if err != nil {
		return nil, err
	}
	out := *images
	if images.Stored != nil || images.Inputs != nil { // what is around an image is not in its file, and is not standardised
		next := images.pass()
		images = &Set{Shape: images.Shape}
		for i := range out.Len() {
			images.F32 = append(images.F32, next(i)...)
		}
		out.Stored, out.At, out.Inputs = nil, nil, nil
	}
	out.Shape = to
	out.U8, out.F32, out.F16 = pad(images.U8, images.Shape, to), pad(images.F32, images.Shape, to), pad(images.F16, images.Shape, to)
	return &out, nil
}

// largestImage is the number of values that an image may be padded to, so that a slip of the hand does not fill the memory.
const largestImage = 1 << 22

// shape is the shape that images of a shape are brought to.
func (p Padding) shape(name string, from []int) ([]int, error) {
	if len(from) != 3 {
		return nil, fmt.Errorf("%s: examples of shape %v, want images [examples, height, width] or [examples, channels, height, width]", name, from)
	}
	to := []int{p.Channels, p.Height, p.Width}
	if p.Channels == 0 {
		to[0] = from[0]
	}
	switch {
	case size(to) > largestImage:
		return nil, fmt.Errorf("%s: images of shape %v: want at most %s values", name, to, numeral.Count(largestImage))
	case to[1] < from[1] || to[2] < from[2]:
		return nil, fmt.Errorf("%s: images of %d×%d, which padding to %d×%d would cut: want at least their size, or cut or resize the images first", name, from[1], from[2], to[1], to[2])
	case to[0] != from[0] && from[0] != 1:
		return nil, fmt.Errorf("%s: images of %d channels for %d: only one channel is repeated as several: bring the images to one channel or to %[3]d first", name, from[0], to[0])
	}
	return to, nil
}

// pad pads images of one shape to another; nil stays nil.
func pad[T any](images []T, from, to []int) []T {
	if images == nil {
		return nil
	}
	h, w := from[1], from[2]
	top, left := (to[1]-h)/2, (to[2]-w)/2
	out := make([]T, len(images)/size(from)*size(to))
	plane := to[1] * to[2]
	for i := range len(out) / plane {
		image, channel := i/to[0], min(i%to[0], from[0]-1)
		source := images[(image*from[0]+channel)*h*w:]
		for y := range h {
			copy(out[i*plane+(top+y)*to[2]+left:], source[y*w:(y+1)*w])
		}
	}
	return out
}

// otherSize completes the error for a file or set of examples whose shape is not the run's: it says what makes images fit.
func otherSize(name string, have, want []int) string {
	switch {
	case len(want) != 3 || slices.Equal(have, want):
		return ""
	case len(have) == 1 && have[0] == want[2] && want[0] == 1:
		return ": is it one image? Save it with an axis for the examples before its own: x[None]"
	case len(have) == 1 && have[0] == size(want):
		return fmt.Sprintf(": has each row the values of one image? Save x.reshape(-1, %d, %d, %d)", want[0], want[1], want[2])
	case len(have) != 3:
		return ""
	case have[0] == 1 && have[1] == want[2] && have[2] == want[0] && want[0] > 1:
		return ": is it one image of height, width, channels? Save it with the channels first and an axis for the examples: np.moveaxis(x, -1, 0)[None]"
	}
	if have[2] == want[0] && have[0] != want[0] {
		mend := ": the axes of the images are height, width, channels, and the run takes channels, height, width: move the channels before you save the array: np.moveaxis(x, -1, 1)"
		if have[0] != want[1] || have[1] != want[2] {
			mend += fmt.Sprintf(", and bring the images to %d×%d", want[1], want[2])
		}
		return mend
	}
	var first []string
	if have[1] > want[1] || have[2] > want[2] {
		first = append(first, fmt.Sprintf("cut or resize the images to %d×%d", want[1], want[2]))
	}
	switch {
	case have[0] == want[0] || have[0] == 1:
	case want[0] == 1:
		first = append(first, fmt.Sprintf("make the images grey, %d channels to 1,", have[0]))
	default:
		first = append(first, fmt.Sprintf("bring the images from %d channels to %d", have[0], want[0]))
	}
	if first != nil {
		return ": " + strings.Join(first, " and ") + " first"
	}
	channels := ""
	if have[0] != want[0] {
		channels = fmt.Sprintf(" --channels %d", want[0])
	}
	return fmt.Sprintf(": starling data pad %s --size %dx%d%s --out FILE makes them fit", name, want[1], want[2], channels)
}
