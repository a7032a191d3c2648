package starling

import (
	"strings"
	"testing"
)

// TestStillFalling: a descent that its epochs ended too early says so, with an NLL that twice the epochs come near; a longer one does not. Where
// chains only begin at the restarts it is a note for pages.
func TestStillFalling(t *testing.T) {
	t.Chdir("testdata")
	const (
		slow  = "map={restarts: 2, rate: 0.002, batch: 16, epochs: 100}"
		twice = "map={restarts: 2, rate: 0.002, batch: 16, epochs: 200}"
		fast  = "map={restarts: 2, rate: 0.1, batch: 16, epochs: 200}"
		file  = "data.csv.file=trees.csv"
		prior = "prior={normal: {fan_in: 2}}"
	)
	of := func(sets ...string) (r *Result, f *Finding) {
		r = fitted(t, parsed(t, "trees.yaml", append(sets, file, prior)...), Options{})
		for i := range r.Findings {
			if r.Findings[i].Kind == "still-falling" {
				f = &r.Findings[i]
			}
		}
		return r, f
	}
	short, f := of("method=map", slow)
	if f == nil || !f.Warning() || !strings.Contains(f.Words(), "still learnt when its 100 epochs ended") || !strings.Contains(f.Words(), "map.epochs: 200") || !strings.Contains(f.Words(), "map.rate: 0.006") {
		t.Fatalf("%v", f)
	}
	long, _ := of("method=map", twice)
	was, is, said := short.NLL[short.Chosen], long.NLL[long.Chosen], float64(f.Numbers["twice"])
	if float64(f.Numbers["nll"]) != was || !(is < was-0.01) || !(said < was) || !(was-said > (was-is)/2 && was-said < 2*(was-is)) {
		t.Errorf("NLL %v, said to become %v, with twice the epochs %v", was, said, is)
	}
	if _, f := of("method=map", fast); f != nil {
		t.Errorf("a fast descent: %s", f.Words())
	}
	if _, f := of("method=laplace", slow); f == nil || !f.Warning() {
		t.Errorf("Laplace, whose Gaussian is about the restart: %v", f)
	}
	if _, f := of("method={mcmc: {chains: 2, epochs: 20, keep: 4, move: {hmc: {steps: 2}}}}", slow); f == nil || f.Warning() || !f.PageOnly() {
		t.Errorf("chains: %v", f)
	}
}
