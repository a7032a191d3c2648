package data

import (
	"math"
	"slices"
)

// strata are the rows of a table by class, so that a split can give each part its share of every class. They depend on the
// targets alone: names that sort alike give the same strata.
type strata [][]int32

// byClass lists the rows of each value of column j of a table, in the order of the values. A missing value is a class of its own here: that
// a row has none is said when its set is made.
func byClass(t *Table, j int) strata {
	rows, values := map[float64][]int32{}, []float64{}
	var none []int32
	for i := range t.Rows() {
		v := t.Values[i*t.Cols+j]
		if math.IsNaN(v) {
			none = append(none, int32(i))
			continue
		}
		if rows[v] == nil {
			values = append(values, v)
		}
		rows[v] = append(rows[v], int32(i))
	}
	slices.Sort(values)
	var s strata
	for _, v := range values {
		s = append(s, rows[v])
	}
	if none != nil {
		s = append(s, none)
	}
	return s
}

// among returns the strata of the places in others, rows in ascending order, without those that are empty.
func (s strata) among(others []int32) (draw, error) {
	var part strata
	for _, rows := range s {
		var places []int32
		for _, row := range rows {
			if place, there := slices.BinarySearch(others, row); there {
				places = append(places, int32(place))
			}
		}
		if places != nil {
			part = append(part, places)
		}
	}
	return part, nil
}

// arrange orders the n rows of a keyed order anew, so that its first sizes[0] rows, the next sizes[1] and so on, and the rows that
// are left, each have their share of every class: the number of its rows of a class is size × (rows of the class) / n, rounded up or
// down. Within a class the rows keep their order, so which of them a part gets is drawn by the key, and how many is not. Without
// strata the order stays as it is.
func (s strata) arrange(order []int32, sizes ...int) []int32 {
	if s == nil {
		return order
	}
	n := len(order)
	left := n
	for _, size := range sizes {
		left -= size
	}
	counts := s.allot(n, append(slices.Clone(sizes), left))
	class := make([]int32, n)
	for c, rows := range s {
		for _, row := range rows {
			class[row] = int32(c)
		}
	}
	queues := make([][]int32, len(s))
	for _, row := range order {
		queues[class[row]] = append(queues[class[row]], row)
	}
	arranged := make([]int32, 0, n)
	for part := range len(sizes) + 1 {
		for c := range queues {
			take := counts[c][part]
			arranged = append(arranged, queues[c][:take]...)
			queues[c] = queues[c][take:]
		}
	}
	return arranged
}

// allot rounds the table of shares size × (rows of the class) / n, up or down, so that the counts of a class add up to its rows and
// those of a part to its size (controlled rounding: L. H. Cox, A constructive procedure for unbiased controlled rounding, JASA 1987).
// Each share that is no whole number lies on a cycle of such shares, alternately in the same class and in the same part. Along it
// shares are raised and lowered in turn until one of them is whole, in the direction in which that takes the smaller change. The
// shares are held as multiples of 1/n, so all of this is exact.
func (s strata) allot(n int, sizes []int) [][]int {
	shares := make([][]int, len(s))
	for c, rows := range s {
		for _, size := range sizes {
			shares[c] = append(shares[c], size*len(rows))
		}
	}
	table := newRounding(shares, n)
	for c := range shares {
		for cycle := table.fractional(c); cycle != nil; cycle = table.fractional(c) {
			up, down := n, n // to the next whole number if the first share is raised, or lowered
			for k, at := range cycle {
				over := shares[at[0]][at[1]] % n
				if k%2 == 1 {
					over = n - over
				}
				up, down = min(up, n-over), min(down, over)
			}
			change := up
			if down < up {
				change = -down
			}
			for k, at := range cycle {
				if k%2 == 0 {
					shares[at[0]][at[1]] += change
				} else {
					shares[at[0]][at[1]] -= change
				}
			}
		}
	}
	for _, counts := range shares {
		for part := range counts {
			counts[part] /= n
		}
	}
	return shares
}

// rounding is a table of shares in multiples of 1/n while they are rounded.
type rounding struct {
	shares [][]int // by class and part
	n      int
	// skip has for each part and class a later class up to which all shares of the part are whole; 0: none is known. A share that is whole
	// stays so. Without this, each step would look at all classes before it again.
	skip [][]int
}

func newRounding(shares [][]int, n int) *rounding {
	r := &rounding{shares: shares, n: n}
	for range shares[0] {
		r.skip = append(r.skip, make([]int, len(shares)))
	}
	return r
}

func (r *rounding) whole(c, part int) bool { return r.shares[c][part]%r.n == 0 }

// first returns the first class from c on whose share in a part is no whole number. There must be one.
func (r *rounding) first(c, part int) int {
	skip, to := r.skip[part], c
	for r.whole(to, part) {
		to = max(to+1, skip[to])
	}
	for c < to {
		c, skip[c] = max(c+1, skip[c]), to
	}
	return to
}

// fractional returns a cycle of shares that are no whole number, of which the first two are in the same class c, the next two in the
// same part, and so on. It is nil if all shares of class c are whole. Shares add up to whole numbers in every class and in every
// part, so a walk along them always goes on, and closes when it comes to a part again.
func (r *rounding) fractional(c int) (cycle [][2]int) {
	part := slices.IndexFunc(r.shares[c], func(v int) bool { return v%r.n != 0 })
	if part < 0 {
		return nil
	}
	came := map[int]int{} // for each part on the way, its place in cycle
	for {
		if from, there := came[part]; there {
			return cycle[from:]
		}
		came[part] = len(cycle)
		next := 0
		for next == part || r.whole(c, next) {
			next++
		}
		cycle = append(cycle, [2]int{c, part}, [2]int{c, next})
		part = next
		other := r.first(0, part)
		if other == c {
			other = r.first(c+1, part)
		}
		c = other
	}
}
