package filter

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/ssm"
)

// example1Scans are scans of so many measurements of Example 1, with the true states.
func example1Scans(seed uint64, scans, measurements int) (list []*ssm.Scan, truth []float64) {
	s, m := rng.Key{Seed: seed, Purpose: rng.Synthetic}.Stream(), example1
	x := math.Sqrt(m.p0) * s.Normal()
	for k := range scans {
		x = m.a*x + math.Sqrt(m.q)*s.Normal()
		scan := &ssm.Scan{Time: float64(k + 1), Width: 1, Values: make([]float64, measurements)}
		for i := range scan.Values {
			scan.Values[i] = m.h*x + math.Sqrt(m.r)*s.Normal()
		}
		list, truth = append(list, scan), append(truth, x)
	}
	return list, truth
}

// againstExact is what a method's run leaves beside the Kalman filter.
type againstExact struct {
	ks, squares, errors, variance, n float64
	accept                           []ByKind // of each pass, summed
	sites, repaired, empty           int
	critical, terms                  int64
}

// add runs a method on scans, of which the exact states are known.
func (a *againstExact) add(t *testing.T, m Method, seed uint64, scans []*ssm.Scan, exact []*State, truth []float64) {
	t.Helper()
	filtered(t, m, Job{Model: linear{example1}, Seed: seed, Pool: mcmc.NewPool(1)}, scans, func(k int, st *State, info Info) {
		mean, cov := st.Moments()
		d := mean[0] - exact[k].Mean[0]
		a.ks += Distance(st, exact[k], 0)
		a.squares += d * d / exact[k].Cov[0]
		a.errors += (mean[0] - truth[k]) * (mean[0] - truth[k])
		a.variance += cov[0] / exact[k].Cov[0]
		a.n++
		a.terms += info.Evaluated
		of := []ByKind{{info.Joint, info.Index, info.Refine}}
		if n := info.Nodes; n != nil {
			of = n.Passes
			a.sites, a.repaired, a.empty, a.critical = a.sites+n.Sites, a.repaired+n.Repaired, a.empty+n.Empty, a.critical+n.Critical
		} else {
			a.critical += info.Evaluated
		}
		for l, v := range of {
			if l == len(a.accept) {
				a.accept = append(a.accept, ByKind{})
			}
			p := &a.accept[l]
			p.Joint, p.Index, p.Refine = p.Joint+v.Joint, p.Index+v.Index, p.Refine+v.Refine
		}
	})
}

func (a *againstExact) String() string {
	var accept []string
	for _, v := range a.accept {
		one := fmt.Sprintf("%.3f", v.Refine/a.n)
		if !math.IsNaN(v.Joint) {
			one = fmt.Sprintf("%.3f", v.Joint/a.n)
		}
		accept = append(accept, one)
	}
	return fmt.Sprintf("%.4f | %.3f | %.4f | %.3f | %s | %d, %d, %d | %.2f M | %.2f M", a.ks/a.n, math.Sqrt(a.squares/a.n), math.Sqrt(a.errors/a.n), a.variance/a.n,
		strings.Join(accept, ", "), a.sites, a.repaired, a.empty, float64(a.critical)/a.n/1e6, float64(a.terms)/a.n/1e6)
}

// TestEPTable is the table of docs/filtering.md: EP of 2, 4 and 8 nodes in 1, 2 and 3 passes beside SMCMC of one filter, with 4,000 samples of a
// scan each, on Example 1 with 500 and 5,000 measurements. STARLING_LONG=10 go test ./filter -run TestEPTable -v -timeout 1h
func TestEPTable(t *testing.T) {
	testkit.Takes(t, 10)
	const runs = 20
	for _, measurements := range []int{500, 5000} {
		var scans [runs][]*ssm.Scan
		var exact [runs][]*State
		var truth [runs][]float64
		for r := range runs {
			scans[r], truth[r] = example1Scans(uint64(r), 20, measurements)
			filtered(t, Kalman{}, Job{Model: linear{example1}}, scans[r], func(_ int, st *State, _ Info) {
				copied := *st
				exact[r] = append(exact[r], &copied)
			})
		}
		for _, of := range []string{"exact", "defaults", "paper"} {
			row := func(name string, m Method) {
				var a againstExact
				for r := range runs {
					a.add(t, m, 100+uint64(r), scans[r], exact[r], truth[r])
				}
				t.Logf("%d | %s | %s | %s", measurements, of, name, &a)
			}
			if of == "exact" {
				row("kalman", Kalman{})
				continue
			}
			one := SMCMC{Particles: 4000, Repeat: 1}
			if of == "paper" {
				one.Joint, one.Index, one.Refine = NoJoint{}, UniformIndex{}, PriorRefinement{}
			}
			one.Defaults()
			row("smcmc", one)
			for _, nodes := range []int{2, 4, 8} {
				for passes := range 3 {
					m := EP{Nodes: nodes, Passes: passes + 1, Particles: 4000, Joint: one.Joint, Index: one.Index, Refine: one.Refine}
					m.Defaults()
					row(fmt.Sprintf("%d nodes, %d passes", nodes, passes+1), m)
				}
			}
		}
	}
}
