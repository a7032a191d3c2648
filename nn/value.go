package nn

import "github.com/starling-smc/starling/internal/lanes"

// value is an activation of a tile and its gradient: c planes of h×w lane vectors for each particle and group. Each plane
// has a border of zeros, which the padding of the ops that read it and the input gradient of the op that computes it
// need.
type value struct {
	c, h, w                  int
	top, bottom, left, right int    // border
	origin                          // of the op that computes it
	tight                    bool   // no border may be added
	kept                     bool   // its op needs the activation on the way back, or has set a part of it for good: nothing else may take its place
	brief                    bool   // its activation is that of the group at work: only one group is stored
	inner                    bool   // its gradient is consumed group by group: likewise
	scratch                  bool   // has no activation, only a gradient
	relu                     bool   // holds the output of a ReLU: its gradient is stored gated
	act, grad                int    // start in tape.act and tape.grad; grad is −1 if no op needs it
	source                   *value // the value whose activation it shares; nil: it has its own (see separate)
	spread                   bool   // its activation is that of a value that all particles share, its gradient each particle's own (spread.go)
	transposed               int    // start in tape.shared; −1 if no dense layer reads it as a value that all particles share
}

// groups is how many groups of the tile the activation holds.
func (v *value) groups() int {
	if v.brief {
		return 1
	}
	return tileGroups
}

// place is where group g lies among them.
func (v *value) place(g int) int {
	if v.brief {
		return 0
	}
	return g
}

// shared reports a value that is the same for all particles.
func (v *value) shared() bool { return v.stage.shared() || v.spread }

func (v *value) wp() int    { return v.left + v.w + v.right }
func (v *value) plane() int { return (v.top + v.h + v.bottom) * v.wp() * lanes.Lanes }
func (v *value) size() int  { return v.c * v.plane() }
func (v *value) pixel(y, x int) int {
	return ((v.top+y)*v.wp() + v.left + x) * lanes.Lanes
}

// border widens the border to at least these widths, unless the value is tight, or would have more elements than offsets reach: two
// readers may want wide borders, one at the top and one at the left. It reports whether the border is wide enough now.
func (v *value) border(top, bottom, left, right int) bool {
	wide := *v
	wide.top, wide.bottom = max(v.top, top), max(v.bottom, bottom)
	wide.left, wide.right = max(v.left, left), max(v.right, right)
	if wide.alike(v) {
		return true
	}
	if v.tight || volume(v.c, wide.top+v.h+wide.bottom, wide.wp()) > maxBordered {
		return false
	}
	*v = wide
	return true
}

// alike reports whether the planes of two values of one shape have the same borders.
func (v *value) alike(w *value) bool {
	return v.top == w.top && v.bottom == w.bottom && v.left == w.left && v.right == w.right
}

// runs calls f for the elements between the borders of two values of one shape, n from i of v and from j of w on at a time: a row of a
// plane, or all at once without borders.
func (v *value) runs(w *value, f func(i, j, n int)) {
	if v.alike(w) && v.top+v.bottom+v.left+v.right == 0 {
		f(0, 0, v.size())
		return
	}
	for ch := range v.c {
		for y := range v.h {
			f(ch*v.plane()+v.pixel(y, 0), ch*w.plane()+w.pixel(y, 0), v.w*lanes.Lanes)
		}
	}
}

// origin is where a value comes from.
type origin struct {
	stage   stage
	learned bool // it depends on ψ
}

// stage says when the ops of a layer run. A layer runs no earlier than its input. The stages before the first random tensor run
// once a tile for all particles.
type stage int

const (
	stagePre         stage = iota // before the first parameters: without a backward pass
	stageSharedConv               // as stageConv, for all particles together
	stageSharedDense              // as stageDense, likewise
	stageConv                     // a group of 16 examples at a time
	stageDense                    // all groups of the tile at once, and all particles of the pass
	stages
)

// shared reports whether the stage's values are the same for all particles.
func (s stage) shared() bool { return s < stageConv }

// beforeRandom is the stage of a layer that would run in stage s, if nothing up to it is random.
func (s stage) beforeRandom() stage { return s - (stageConv - stageSharedConv) }
