package main

import (
	"math"
	"time"

	"github.com/starling-smc/starling/method"
)

// phase is a phase of the work with its last status.
type phase struct {
	method.Status
	began   time.Time // when its first status came
	first   float64   // the share that was done then: above 0 if a run is resumed
	updated time.Time // when the last status came
}

// update records a status, which may belong to the next phase.
func (p *phase) update(s method.Status, now time.Time) {
	if s.Phase != p.Phase || p.Ended || s.Resumed {
		p.began, p.first = now, s.Share
	}
	p.Status, p.updated = s, now
}

// spent is the time since the phase began.
func (p *phase) spent(now time.Time) time.Duration { return now.Sub(p.began) }

// left estimates the time until the phase ends, by its speed so far; 0 if unknown.
func (p *phase) left(now time.Time) time.Duration {
	const soon = time.Second / 2 // a speed measured over a shorter time is too noisy
	done := p.Share - p.first
	if p.Ended || !(done > 0) || p.spent(p.updated) <= soon {
		return 0
	}
	whole := float64(p.spent(p.updated)) * (1 - p.first) / done
	if whole > math.MaxInt64/2 {
		return 0
	}
	return max(0, time.Duration(whole)-p.spent(now))
}
