package filter

import "github.com/starling-smc/starling/internal/rng"

// A coordinate stands still if it has one value in all states of a scan, because nothing moves it: it started from a known value, or
// all samples descend from one ancestor, and the model gives it no noise. There is no spread to estimate, so that it has no ESS. A
// chain that has accepted nothing has one value in all of its states, too. Draws of the prediction tell the two apart: they would have
// other values.

// stillDraws is the number of draws of the prediction.
const stillDraws = 8

// still marks the coordinates that stand still, by a summary of the chain's states. It comes after the last step.
func (c *chain) still(list []summary) {
	some := false
	for i := range list {
		list[i].still = list[i].constant
		some = some || list[i].constant
	}
	if !some {
		return
	}
	k := c.at(stillAt)
	k.Purpose = rng.Predict
	s := k.Stream()
	for range stillDraws {
		c.draw(s)
		c.tr.Sample(s, c.other, c.y)
		for i, v := range c.y {
			list[i].still = list[i].still && v == list[i].mean
		}
	}
}
