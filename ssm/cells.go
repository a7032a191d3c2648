package ssm

import (
	"cmp"
	"slices"
)

// point is a place in the plane.
type point struct{ x, y float64 }

// perChunk is the number of points in a chunk; the last chunk may have fewer.
const perChunk = 256

// sortIntoCells reorders points and returns the tree of their cells. Each node halves its points at a median of the longer
// side of their bounding box; what is left when they fit in a chunk is a cell. The order and the tree depend on the set of
// points alone: a median splits by both coordinates, so only equal points tie, and the points of a cell are sorted. It takes
// time O(n log n).
func sortIntoCells(points []point) *tree {
	t := &tree{nodes: make([]node, 0, 2*((len(points)+perChunk-1)/perChunk))}
	if len(points) > 0 {
		t.build(points)
	}
	return t
}

// tree is a tree of boxes around chunks of points, in preorder.
type tree struct {
	nodes  []node
	chunks int
	leaves []int32 // the node of each chunk
}

type node struct {
	box
	chunk int32 // of a leaf; −1 above
	skip  int32 // first node behind this one's descendants
}

// box is a rectangle.
type box struct{ x0, x1, y0, y1 float64 }

func boxOf(points []point) box {
	b := box{points[0].x, points[0].x, points[0].y, points[0].y}
	for _, p := range points[1:] {
		b = box{min(b.x0, p.x), max(b.x1, p.x), min(b.y0, p.y), max(b.y1, p.y)}
	}
	return b
}

// squared is the square of the distance of p from the box.
func (b *box) squared(p point) float64 {
	dx, dy := max(b.x0-p.x, p.x-b.x1, 0), max(b.y0-p.y, p.y-b.y1, 0)
	return float64(dx*dx) + float64(dy*dy)
}

// near reports whether one of the places is at most a distance from the box; squared is its square.
func (b *box) near(places []point, squared float64) bool {
	for _, p := range places {
		if b.squared(p) <= squared {
			return true
		}
	}
	return false
}

func (t *tree) build(points []point) {
	i := len(t.nodes)
	b := boxOf(points)
	t.nodes = append(t.nodes, node{box: b, chunk: -1})
	if chunks := (len(points) + perChunk - 1) / perChunk; chunks > 1 {
		middle := (chunks + 1) / 2 * perChunk
		if b.y1-b.y0 > b.x1-b.x0 {
			transpose(points)
			partition(points, middle)
			transpose(points)
		} else {
			partition(points, middle)
		}
		t.build(points[:middle])
		t.build(points[middle:])
	} else {
		slices.SortFunc(points, compare)
		t.nodes[i].chunk = int32(t.chunks)
		t.chunks, t.leaves = t.chunks+1, append(t.leaves, int32(i))
	}
	t.nodes[i].skip = int32(len(t.nodes))
}

// compare orders points by x and then by y.
func compare(p, q point) int {
	if c := cmp.Compare(p.x, q.x); c != 0 {
		return c
	}
	return cmp.Compare(p.y, q.y)
}

// less is compare(p, q) < 0.
func less(p, q point) bool { return p.x < q.x || p.x == q.x && p.y < q.y }

// transpose swaps the coordinates.
func transpose(points []point) {
	for i, p := range points {
		points[i] = point{p.y, p.x}
	}
}

// partition reorders points so that none of the first n is greater than any other: Hoare's FIND, with the median of three as
// pivot.
func partition(points []point, n int) {
	for lo, hi := 0, len(points)-1; lo < hi; {
		a, pivot, c := points[lo], points[lo+(hi-lo)/2], points[hi]
		if less(c, a) {
			a, c = c, a
		}
		if less(pivot, a) {
			pivot = a
		} else if less(c, pivot) {
			pivot = c
		}
		i, j := lo, hi
		for i <= j {
			for less(points[i], pivot) {
				i++
			}
			for less(pivot, points[j]) {
				j--
			}
			if i <= j {
				points[i], points[j] = points[j], points[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case n <= j:
			hi = j
		case n > i:
			lo = i
		default:
			return
		}
	}
}

// widen makes each leaf's box wider by by(chunk), and the boxes above so that they hold those below.
func (t *tree) widen(by func(chunk int) float64) {
	for i := len(t.nodes) - 1; i >= 0; i-- {
		n := &t.nodes[i]
		if n.chunk >= 0 {
			w := by(int(n.chunk))
			n.box = box{n.x0 - w, n.x1 + w, n.y0 - w, n.y1 + w}
			continue
		}
		left := t.nodes[i+1].box
		right := t.nodes[t.nodes[i+1].skip].box
		n.box = box{min(left.x0, right.x0), max(left.x1, right.x1), min(left.y0, right.y0), max(left.y1, right.y1)}
	}
}

// within appends to chunks, in order, those whose box is at most a distance from one of the places; squared is its square.
func (t *tree) within(places []point, squared float64, chunks []int32) []int32 {
	for i := int32(0); int(i) < len(t.nodes); {
		n := &t.nodes[i]
		if !n.near(places, squared) {
			i = n.skip
			continue
		}
		if n.chunk >= 0 {
			chunks = append(chunks, n.chunk)
		}
		i++
	}
	return chunks
}
