package nn

import (
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/rng"
)

// inputs returns the inputs of a group of examples of a shape, and sets where each example's begin: those of all rows or, if there is a view
// and an augment, changed images in scratch. at has the row of each example; nil: its own number. The lanes behind the last example repeat it,
// and its change.
func inputs[T uint8 | float32 | lanes.Float16](all []T, at []int32, shape []int, examples *[lanes.Lanes]int, augment *data.Augment, view *View, scratch *[]T, start *[lanes.Lanes]int) []T {
	size := volume(shape...)
	if view == nil || augment == nil {
		for l, i := range examples {
			start[l] = exampleAt(at, i) * size
		}
		return all
	}
	if len(*scratch) < lanes.Lanes*size {
		*scratch = make([]T, lanes.Lanes*size)
	}
	for l, i := range examples {
		if l > 0 && i == examples[l-1] {
			start[l] = start[l-1]
			continue
		}
		start[l] = l * size
		change := augment.Draw(view.key(rng.Augment, i).Stream())
		data.ChangeImage(change, all[exampleAt(at, i)*size:][:size], (*scratch)[l*size:][:size], shape[1], shape[2])
	}
	return *scratch
}

// exampleAt returns the example at a position of a batch, or the row of an example; nil: all, in order.
func exampleAt(rows []int32, i int) int {
	if rows == nil {
		return i
	}
	return int(rows[i])
}
