//go:build unix

package metamorphic

import "slices"

// drop leaves out operations of a case that fails, many at once and then one by one, as long as it still fails. The first one stays.
func drop(c Case, fails func(Case) bool) Case {
	for size := max(1, len(c)/2); size > 0; {
		dropped := false
		for i := 1; i+size <= len(c); {
			if less := slices.Concat(c[:i], c[i+size:]); fails(less) {
				c, dropped = less, true
			} else {
				i += size
			}
		}
		if !dropped || size > 1 {
			size /= 2
		}
	}
	return c
}

// Reduce is a smaller case that fails as well: with fewer operations, and then with simpler ones in their places. Of those that simpler
// lists the first that fails is taken.
func Reduce(c Case, fails func(Case) bool) Case {
	c = drop(c, fails)
	for i := range c {
	again:
		for _, op := range simpler(c[i]) {
			less := slices.Clone(c)
			if less[i] = op; fails(less) {
				c = less
				goto again
			}
		}
	}
	return c
}
