package main

import (
	"math"
	"time"

	"github.com/starling-smc/starling/method"
)

// phase is a phase of the work as it was last told of.
type phase struct {
	method.Status
	began time.Time // when the phase was first told of
	first float64   // the share that was done then: of a run that is resumed, some is
	told  time.Time // when the Status was told
}

// update notes a status, which may be that of the next phase.
func (p *phase) update(s method.Status, now time.Time) {
	if s.Phase != p.Phase || p.Ended {
		p.began, p.first = now, s.Share
	}
	p.Status, p.told = s, now
}

// spent is the time since the phase began.
func (p *phase) spent(now time.Time) time.Duration { return now.Sub(p.began) }

// left is the time until the phase ends, by its speed so far; 0 if nobody knows.
func (p *phase) left(now time.Time) time.Duration {
	const soon = time.Second / 2 // a speed measured in less says nothing
	done := p.Share - p.first
	if p.Ended || !(done > 0) || p.spent(p.told) <= soon {
		return 0
	}
	whole := float64(p.spent(p.told)) * (1 - p.first) / done
	if whole > math.MaxInt64/2 {
		return 0
	}
	return max(0, time.Duration(whole)-p.spent(now))
}
