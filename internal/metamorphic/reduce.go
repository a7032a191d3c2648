//go:build unix

package metamorphic

import "slices"

// Drop leaves out operations of a case that fails, many at once and then one by one, as long as it still fails. The first one stays.
func Drop(c Case, fails func(Case) bool) Case {
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

// Simplify puts simpler operations in the places of those of a case that fails, as long as it still fails. simpler lists some that could
// stand for an operation, the simplest first.
func Simplify(c Case, simpler func(op string) []string, fails func(Case) bool) Case {
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

// Reduce is a smaller case that fails as well.
func Reduce(c Case, fails func(Case) bool) Case { return Simplify(Drop(c, fails), simpler, fails) }
