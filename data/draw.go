package data

import (
	"fmt"
	"slices"

	"github.com/starling-smc/starling/internal/cells"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/rng"
)

// draw draws the rows of parts: strata row by row, groups by whole groups.
type draw interface {
	// parts draws parts of about these sizes from n rows, by a key: exactly so many rows, unless groups stay together. Where the sizes add
	// up to n, every row is in a part. rest are the rows in no part. The rows of a part are in ascending order, rest is in any.
	parts(n int, key rng.Key, sizes []int) (parts [][]int32, rest []int32, err error)
	// among is the draw from some rows alone, by their places in others, which is in ascending order. A group that is among them in part is
	// an error.
	among(others []int32) (draw, error)
}

// anyRows draws regardless of the classes.
var anyRows = strata(nil)

func (s strata) parts(n int, key rng.Key, sizes []int) (parts [][]int32, rest []int32, err error) {
	rest = s.arrange(Order(n, key), sizes...)
	for _, size := range sizes {
		parts = append(parts, slices.Sorted(slices.Values(rest[:size])))
		rest = rest[size:]
	}
	return parts, rest, nil
}

// groups keep the rows of a group in one part: rows that belong together, such as the years of one country, tell of each other, and a
// score on some of them after training on others is too good.
type groups struct {
	of    []int32  // the group of each row, in the order in which groups first appear
	names []string // of the groups
	class []int32  // of each row, the class whose shares the parts should have
	title string   // of the column, for errors
}

// groupsOf are the groups of a table by its key column. With strata the parts should have their shares of each class.
func groupsOf(t *Table, s strata) *groups {
	g := &groups{class: make([]int32, t.Rows()), title: t.Key}
	numbers := map[string]int32{}
	for _, key := range t.Keys {
		k, seen := numbers[key]
		if !seen {
			k = int32(len(g.names))
			numbers[key], g.names = k, append(g.names, key)
		}
		g.of = append(g.of, k)
	}
	for c, rows := range s {
		for _, row := range rows {
			g.class[row] = int32(c)
		}
	}
	return g
}

const noGroup = -1

// in counts the groups of some rows.
func (g *groups) in(rows []int32) int {
	seen := map[int32]bool{}
	for _, row := range rows {
		seen[g.of[row]] = true
	}
	return len(seen)
}

// counts are the numbers of rows of each class: of every group, and of all of them.
func (g *groups) counts() (each [][]int, all []int) {
	all = make([]int, slices.Max(g.class)+1)
	each = make([][]int, len(g.names))
	for k := range each {
		each[k] = make([]int, len(all))
	}
	for row, k := range g.of {
		each[k][g.class[row]]++
		all[g.class[row]]++
	}
	return each, all
}

// parts takes groups in an order drawn by the key. A part takes a group if that brings it nearer to its share of every class, by the sum of
// (share − rows)²/(rows of the class in all). So a group of more than twice a part's size is passed over. A part that none comes near takes
// the smallest group. Where the sizes add up to n, the last part takes all groups that are left.
func (g *groups) parts(n int, key rng.Key, sizes []int) (parts [][]int32, rest []int32, err error) {
	sum := 0
	for _, size := range sizes {
		sum += size
	}
	want := len(sizes) // groups, with one for the rest
	if sum < n {
		want++
	}
	if len(g.names) < want {
		return nil, nil, fmt.Errorf("column %s has %s, and each of %d parts needs one: name another column in data.csv.group, or leave it out",
			cells.Quote([]byte(g.title)), numeral.Several(len(g.names), "group"), want)
	}
	each, all := g.counts()
	part := slices.Repeat([]int{noGroup}, len(g.names)) // of each group
	order := Order(len(g.names), key)
	free := len(order)
	for p, size := range sizes {
		keep := want - 1 - p // groups that the parts after this one need
		last := sum == n && p == len(sizes)-1
		have := make([]int, len(all))
		took := false
		for _, k := range order {
			if part[k] == noGroup && (last || free > keep && nearer(have, each[k], all, float64(size)/float64(n))) {
				part[k], took = p, true
				free--
				for c, m := range each[k] {
					have[c] += m
				}
			}
		}
		if took {
			continue
		}
		smallest := noGroup
		for _, k := range order {
			if part[k] == noGroup && (smallest == noGroup || total(each[k]) < total(each[smallest])) {
				smallest = int(k)
			}
		}
		part[smallest] = p
		free--
	}
	parts = make([][]int32, len(sizes))
	for row, k := range g.of {
		if p := part[k]; p == noGroup {
			rest = append(rest, int32(row))
		} else {
			parts[p] = append(parts[p], int32(row))
		}
	}
	return parts, rest, nil
}

// nearer reports whether more rows bring a part nearer to its share of every class.
func nearer(have, more, all []int, share float64) bool {
	change := 0.0
	for c, m := range more {
		if m > 0 {
			away := float64(share*float64(all[c])) - float64(have[c])
			change += float64(float64(m)*(float64(m)-float64(2*away))) / float64(all[c])
		}
	}
	return change < 0
}

func total(counts []int) (sum int) {
	for _, n := range counts {
		sum += n
	}
	return sum
}

func (g *groups) among(others []int32) (draw, error) {
	part := &groups{title: g.title}
	number := slices.Repeat([]int32{noGroup}, len(g.names))
	inside := make([]int, len(g.names))
	for _, row := range others {
		k := g.of[row]
		if number[k] == noGroup {
			number[k] = int32(len(part.names))
			part.names = append(part.names, g.names[k])
		}
		inside[k]++
		part.of, part.class = append(part.of, number[k]), append(part.class, g.class[row])
	}
	for _, k := range g.of {
		inside[k]--
	}
	for k, left := range inside {
		if number[k] != noGroup && left < 0 {
			return nil, fmt.Errorf("%d rows of the group %s are for the test and others are not: name all of them, or leave data.csv.group out",
				-left, cells.Quote([]byte(g.names[k])))
		}
	}
	return part, nil
}
