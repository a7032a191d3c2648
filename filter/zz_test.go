package filter

import (
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/ssm"
)

type caseOf struct {
	name  string
	m     ssm.Model
	scans []*ssm.Scan
	mean  [][]float64
}

func lin(name string, m ssm.LinearGaussian, n int, t *testing.T) caseOf {
	scene := ssm.Scene{Model: m, Seed: 3}
	c := caseOf{name: name, m: m}
	for range n {
		_, s, err := scene.Next()
		if err != nil {
			t.Fatal(err)
		}
		c.scans = append(c.scans, &s)
	}
	filtered(t, Kalman{}, Job{Model: m}, c.scans, func(k int, st *State, info Info) {
		c.mean = append(c.mean, append([]float64(nil), st.Mean...))
	})
	return c
}

func allCases(t *testing.T) (cs []caseOf) {
	for data := uint64(1); data <= 4; data++ {
		g := growth{10, 1}
		_, sc := g.simulate(data, 40)
		mean, _ := g.exact(sc)
		c := caseOf{name: fmt.Sprint("growth", data), m: g, scans: sc}
		for _, v := range mean {
			c.mean = append(c.mean, []float64{v})
		}
		cs = append(cs, c)
	}
	one := &ssm.Initial{Mean: []float64{0}, SD: []float64{1}}
	two := &ssm.Initial{Mean: []float64{0, 0}, SD: []float64{1, 1}}
	for _, M := range []int{3, 500, 5000} {
		cs = append(cs, lin(fmt.Sprint("ex1-", M), ssm.LinearGaussian{Interval: 1, A: [][]float64{{.9}}, Q: [][]float64{{.08}}, H: [][]float64{{1}}, R: [][]float64{{2}}, Returns: M, Initial: one}, 20, t))
	}
	cs = append(cs, lin("slow", ssm.LinearGaussian{Interval: 1, A: [][]float64{{1}}, Q: [][]float64{{.01}}, H: [][]float64{{1}}, R: [][]float64{{1}}, Returns: 1, Initial: one}, 40, t))
	cs = append(cs, lin("static", ssm.LinearGaussian{Interval: 1, A: [][]float64{{1}}, Q: [][]float64{{1e-6}}, H: [][]float64{{1}}, R: [][]float64{{1}}, Returns: 1, Initial: one}, 40, t))
	cs = append(cs, lin("velocity", ssm.LinearGaussian{Interval: 1, A: [][]float64{{1, 1}, {0, 1}}, Q: [][]float64{{.0083, .0125}, {.0125, .025}}, H: [][]float64{{1, 0}}, R: [][]float64{{1}}, Returns: 4, Initial: two}, 40, t))
	cs = append(cs, lin("twoscales", ssm.LinearGaussian{Interval: 1, A: [][]float64{{.5, 0}, {0, .99}}, Q: [][]float64{{1, 0}, {0, .01}}, H: [][]float64{{1, 0}, {0, 1}}, R: [][]float64{{.1, 0}, {0, 4}}, Returns: 1, Initial: two}, 60, t))
	return cs
}

func TestZZ(t *testing.T) {
	var seeds, n int
	only := ""
	fmt.Sscan(os.Getenv("EPS"), &defensive)
	fmt.Sscan(os.Getenv("ZZ"), &seeds, &n, &only)
	for _, c := range allCases(t) {
		if only != "" && only != c.name {
			continue
		}
		for _, m := range []struct {
			name string
			m    Method
		}{
			{"bootstrap", Bootstrap{Particles: n}},
			{"auxiliary", Auxiliary{Particles: n}},
		} {
			d := c.m.Dim()
			z := make([][]float64, d)
			nan, all, ess := 0, 0, 0.0
			err := make([]float64, d)
			for seed := range uint64(seeds) {
				filtered(t, m.m, Job{Model: c.m, Seed: seed, Pool: mcmc.NewPool(1)}, c.scans, func(k int, st *State, info Info) {
					mean, cov := st.Moments()
					ess += info.ESS[0]
					for i := range d {
						all++
						if math.IsNaN(info.MCSE[i]) {
							nan++
						} else {
							e := (mean[i] - c.mean[k][i])
							z[i] = append(z[i], e/info.MCSE[i])
							err[i] += e * e / cov[i*d+i]
						}
					}
				})
			}
			s := fmt.Sprintf("%-10s %-10s NaN %.3f ess %.0f", c.name, m.name, float64(nan)/float64(all), ess*float64(d)/float64(all))
			for i := range d {
				q := 0.0
				for j, v := range z[i] {
					q += v * v / float64(len(z[i]))
					z[i][j] = math.Abs(v)
				}
				slices.Sort(z[i])
				l := len(z[i])
				s += fmt.Sprintf(" | err/sd %.3f z %.2f q95 %.2f max %.1f", math.Sqrt(err[i]/float64(l)), math.Sqrt(q), z[i][l*95/100], z[i][l-1])
			}
			fmt.Println(s)
		}
	}
}
