package main

import (
	"fmt"
	"math"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/internal/numeral"
)

// choice is the best run of a sweep.
type choice struct {
	best  int // −1: none
	notes []string
	page  string // empty: none
}

// choose compares the runs.
func (s *sweep) choose() (c choice) {
	var judged []*starling.Judgement
	for _, t := range s.tried {
		judged = append(judged, t.judged)
	}
	best, comparable := s.criterion.Best(judged)
	c.best = best
	switch {
	case !comparable:
		c.notes = append(c.notes, fmt.Sprintf("no run is chosen: the runs have a %s of different examples, as a setting of the data or the seed of its "+
			"division varies, so the figures cannot be compared", s.criterion.Title))
	case best >= 0:
		c.notes = append(c.notes, s.chosen(best))
	}
	return c
}

// chosen says how the best run was chosen.
func (s *sweep) chosen(best int) string {
	j := s.tried[best].judged
	by := fmt.Sprintf("the %s of %s", s.criterion.Title, examples(j.Examples, s.criterion))
	return fmt.Sprintf("%s is the best by %s%s. No test example was used for the choice. As it is the best of several, its %s is too good: "+
		"its scores on the test examples tell what it is worth", s.points[best].Name, by, s.butAlike(best), s.criterion.Title)
}

// butAlike names the other runs that are behind the best by no more than chance may explain; empty if there are none. Of a single island, for
// example, nobody knows what chance explains.
func (s *sweep) butAlike(best int) string {
	var like []string
	others, unknown := 0, 0
	for i, t := range s.tried {
		if i == best || t.judged == nil {
			continue
		}
		others++
		switch by, se := s.criterion.Behind(t.judged, s.tried[best].judged); {
		case by == 0 || by <= 2*se:
			like = append(like, s.points[i].Name)
		case math.IsNaN(se):
			unknown++
		}
	}
	const within = " within two standard errors"
	switch {
	case unknown > 0:
		return ", but how much of the differences is chance is not known"
	case like == nil:
		return ""
	case len(like) > 1 && len(like) == others:
		return ", but not told apart from any other: all differences are" + within
	case len(like) > 1:
		return fmt.Sprintf(", but not told apart from %s: the differences are%s", numeral.List(like), within)
	default:
		return fmt.Sprintf(", but not told apart from %s: the difference is%s", like[0], within)
	}
}

// valued counts the runs that have a value.
func (s *sweep) valued() (n int) {
	for _, t := range s.tried {
		if t.judged != nil {
			n++
		}
	}
	return n
}

// examples counts the examples that a criterion looks at.
func examples(n int, c starling.Criterion) string {
	kind := "validation examples"
	if !c.Least {
		kind = "training examples"
	}
	return fmt.Sprintf("%d %s", n, kind)
}
