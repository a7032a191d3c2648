package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/decide"
	"github.com/starling-smc/starling/internal/arrays"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/uq"
)

// examples are those that no network has seen, predicted by a posterior and tempered.
type examples struct {
	probs, tempered []float64
	labels          []int32
	wrong           []bool
	entropy         []float64
}

func unseen(ctx context.Context, m made) (*examples, error) {
	x := &examples{}
	for _, set := range []*data.Set{m.a.Problem.Calibrate, m.a.Problem.Test} {
		v, err := m.run.Posterior.Predict(ctx, set, nil)
		if err != nil {
			return nil, err
		}
		x.probs, x.labels, x.entropy = append(x.probs, v.Probs...), append(x.labels, set.Labels...), append(x.entropy, v.Total...)
	}
	x.tempered = decide.Temper(x.probs, classes, m.run.Decision.Temperature.Posterior)
	var err error
	x.wrong, err = decide.Wrongs(x.probs, classes, x.labels)
	return x, err
}

// sizes are those of the calibration parts whose sets are written: the first of the examples. The last 7,000 are the test rows.
var sizes = []int{200, 500, 1000, 2000}

// write writes probabilities, labels, uniform numbers and sets, as 0 and 1 [7000, 8], for sets.py.
func (x *examples) write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	n := len(x.labels)
	labels, u := make([]float64, n), make([]float64, n)
	for i, y := range x.labels {
		labels[i], u[i] = float64(y), decide.Uniform(1, 0, i)
	}
	if err := errors.Join(save(dir, "probs", x.probs, n, classes), save(dir, "labels", labels, n), save(dir, "u", u, n)); err != nil {
		return err
	}
	for name, score := range map[string]decide.Score{"lac": decide.LAC{}, "aps": decide.APS{}, "raps": decide.RAPS{Penalty: 0.1, After: 2}} {
		for _, size := range sizes {
			for _, rate := range []float64{0.9, 0.95, 0.99} {
				c, err := decide.Sets{Score: score, Rate: rate, Empty: true}.Conformal(x.probs[:size*classes], classes, x.labels[:size], u[:size])
				if err != nil {
					return err
				}
				var in []float64
				for i := calibrate; i < n; i++ {
					row := make([]float64, classes)
					for _, k := range c.Set(x.probs[i*classes:(i+1)*classes], u[i]) {
						row[k] = 1
					}
					in = append(in, row...)
				}
				if err := save(dir, fmt.Sprintf("%s-%d-%v", name, size, rate), in, n-calibrate, classes); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// save writes an array of float64.
func save(dir, name string, values []float64, shape ...int) error {
	text := arrays.NPYHeader(shape)
	for _, v := range values {
		text = binary.LittleEndian.AppendUint64(text, math.Float64bits(v))
	}
	return os.WriteFile(filepath.Join(dir, name+".npy"), text, 0o644)
}

const (
	divided   = 200
	calibrate = 2000
)

// divisions prints coverage and size of sets, and what keeps a risk, over divisions of the examples.
func divisions(ctx context.Context, preset string, runs []made) error {
	fmt.Printf("\n## %s: %d divisions of each run into %d examples to calibrate and the rest to test\n\n| sets | rate | coverage | least | size |\n|---|---|---|---|---|\n", preset, divided, calibrate)
	var all []*examples
	for _, m := range runs {
		x, err := unseen(ctx, m)
		if err != nil {
			return err
		}
		all = append(all, x)
	}
	for _, s := range []struct {
		name     string
		sets     decide.Sets
		tempered bool
	}{
		{"LAC", decide.Sets{Score: decide.LAC{}}, true}, {"LAC, may be empty", decide.Sets{Score: decide.LAC{}, Empty: true}, true},
		{"APS", decide.Sets{Score: decide.APS{}, Empty: true}, true}, {"APS, untempered", decide.Sets{Score: decide.APS{}, Empty: true}, false},
		{"RAPS", decide.Sets{Score: decide.RAPS{Penalty: 0.1, After: 2}, Empty: true}, true}, {"LAC by class", decide.Sets{Score: decide.LAC{}, ByClass: true}, true},
	} {
		for _, rate := range []float64{0.9, 0.95, 0.99} {
			s.sets.Rate = rate
			var covered, sizes []float64
			failed := 0
			each(all, func(x *examples, d int, order []int32) {
				p := x.probs
				if s.tempered {
					p = x.tempered
				}
				cp, cl, cu := x.take(p, order[:calibrate], d)
				c, err := s.sets.Conformal(cp, classes, cl, cu)
				if err != nil {
					failed++
					return
				}
				tp, tl, tu := x.take(p, order[calibrate:], d)
				cover, size := c.Coverage(tp, classes, tl, tu)
				covered, sizes = append(covered, cover), append(sizes, size)
			})
			if len(covered) == 0 {
				fmt.Printf("| %s | %v | refused: too few of a class | | |\n", s.name, rate)
				continue
			}
			least := covered[0]
			for _, c := range covered {
				least = min(least, c)
			}
			fmt.Printf("| %s | %v | %.4f | %.4f | %.3f |\n", s.name, rate, uq.Mean(covered), least, uq.Mean(sizes))
		}
	}
	fmt.Print("\n| risk | by | answered | error among them | divisions that keep it |\n|---|---|---|---|---|\n")
	for _, risk := range []float64{0.01, 0.02} {
		for _, by := range []struct {
			name string
			of   func(x *examples, i int32) float64
		}{
			{"confidence", func(x *examples, i int32) float64 {
				return -uq.Confidence(x.probs[i*classes:(i+1)*classes], classes)[0]
			}},
			{"entropy", func(x *examples, i int32) float64 { return x.entropy[i] }},
		} {
			var share, errs []float64
			keeps, tried := 0, 0
			each(all, func(x *examples, d int, order []int32) {
				some := func(rows []int32) (e decide.Examples) {
					for _, i := range rows {
						e.Doubts, e.Wrong = append(e.Doubts, by.of(x, i)), append(e.Wrong, x.wrong[i])
					}
					return e
				}
				rule, err := decide.Abstain{By: decide.Entropy{}, At: decide.Risk(risk)}.Choose(some(order[:calibrate]))
				if err != nil {
					return
				}
				v := decide.Judge(some(order[calibrate:]), rule.Threshold).Answered
				n := float64(v.Right + v.Wrong)
				tried++
				share = append(share, n/float64(len(order)-calibrate))
				if n == 0 {
					keeps++
					return
				}
				errs = append(errs, float64(v.Wrong)/n)
				if float64(v.Wrong)/n <= risk {
					keeps++
				}
			})
			fmt.Printf("| %v | %s | %.3f | %.4f | %.1f %% |\n", risk, by.name, uq.Mean(share), uq.Mean(errs), 100*float64(keeps)/float64(tried))
		}
	}
	return nil
}

// each calls visit with every division of every run's examples.
func each(all []*examples, visit func(x *examples, d int, order []int32)) {
	for r, x := range all {
		order := make([]int32, len(x.labels))
		for d := range divided {
			rng.Key{Seed: uint64(r), Purpose: rng.Synthetic, Iteration: d}.Stream().Perm(order)
			visit(x, d, order)
		}
	}
}

// take is a part of the examples: probabilities, labels and uniform numbers of a division.
func (x *examples) take(p []float64, rows []int32, d int) (probs []float64, labels []int32, u []float64) {
	for _, i := range rows {
		probs, labels = append(probs, p[i*classes:(i+1)*classes]...), append(labels, x.labels[i])
		u = append(u, decide.Uniform(uint64(d), 0, int(i)))
	}
	return probs, labels, u
}
