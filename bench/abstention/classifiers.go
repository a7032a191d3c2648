package main

import (
	"context"
	"fmt"
	"math"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/decide"
	"github.com/starling-smc/starling/uq"
)

// scored are the values by which rows may abstain: of calibration and test examples and of the foreign inputs known beforehand and new.
type scored struct {
	calibrate, test decide.Examples
}

// classifiers prints AUC and F1 of the classifier, of each feature and of a logistic rule of three.
func classifiers(ctx context.Context, all []made) error {
	names := []string{"max p̄", "total entropy", "E[p_max]", "E[gap]", "epistemic entropy", "Var[p_max]", "Var[gap]"}
	kinds := append(append([]string{"classifier"}, names...), "logistic rule of three")
	type cell struct{ auc, f1 []float64 }
	table := map[string]map[string]*cell{}
	var rows []string
	for _, m := range all {
		ensembles := []struct {
			name string
			e    *bnn.Ensemble
		}{{m.preset, m.run.Posterior}}
		if m.preset == "mnist7-chains" {
			ensembles = append(ensembles, struct {
				name string
				e    *bnn.Ensemble
			}{"8 MAPs of mnist7-chains", m.run.Restarts}, struct {
				name string
				e    *bnn.Ensemble
			}{"best MAP of mnist7-chains", alone(m.run.Restarts, m.run.Chosen)})
		}
		for _, e := range ensembles {
			if table[e.name] == nil {
				table[e.name] = map[string]*cell{}
				rows = append(rows, e.name)
			}
			figures, err := rules(ctx, e.e, m.a.Problem, names)
			if err != nil {
				return err
			}
			for kind, x := range figures {
				if table[e.name][kind] == nil {
					table[e.name][kind] = &cell{}
				}
				c := table[e.name][kind]
				c.auc, c.f1 = append(c.auc, decide.AUC(x.test)), append(c.f1, f1(x))
			}
		}
	}
	fmt.Print("\n## Wrong answers and foreign inputs (AUC / optimal F1)\n\n| |")
	for _, name := range rows {
		fmt.Printf(" %s |", name)
	}
	fmt.Print("\n|---|")
	for range rows {
		fmt.Print("---|")
	}
	for _, kind := range kinds {
		fmt.Printf("\n| %s |", kind)
		for _, name := range rows {
			c := table[name][kind]
			fmt.Printf(" %.3f / %.3f |", uq.Mean(c.auc), uq.Mean(c.f1))
		}
	}
	fmt.Println()
	return nil
}

// alone is an ensemble with all weight on one member.
func alone(e *bnn.Ensemble, j int) *bnn.Ensemble {
	one := *e
	one.LogWeights = make([]float64, e.Size())
	for i := range one.LogWeights {
		if i != j {
			one.LogWeights[i] = math.Inf(-1)
		}
	}
	return &one
}

// f1 is the F1 of the test rows at the threshold that is best for the calibration rows.
func f1(x *scored) float64 {
	rule, err := decide.Abstain{By: decide.Entropy{}, At: decide.F1{}}.Choose(x.calibrate) // of a grid from the least to the largest
	if err != nil {
		return math.NaN()
	}
	return float64(decide.Judge(x.test, rule.Threshold).F1)
}

// rules are the scores of a posterior by name. Test rows are the first 2,000 test examples and the 2,000 foreign inputs.
func rules(ctx context.Context, e *bnn.Ensemble, p *data.Problem, names []string) (map[string]*scored, error) {
	of := func(sets ...*data.Set) (x []float64, wrong []bool, labels []int32, err error) {
		for _, set := range sets {
			v, err := e.PredictUnder(ctx, set, [][]float64{e.LogWeights}, true, nil)
			if err != nil {
				return nil, nil, nil, err
			}
			x = append(x, decide.FeaturesOf(v[0])...)
			if set.Labels == nil {
				continue
			}
			w, err := decide.Wrongs(v[0].Probs, classes, set.Labels)
			if err != nil {
				return nil, nil, nil, err
			}
			wrong, labels = append(wrong, w...), append(labels, set.Labels...)
		}
		return x, wrong, labels, nil
	}
	calibrate, wrong, labels, err := of(p.Calibrate)
	if err != nil {
		return nil, err
	}
	foreign, _, _, err := of(sets(p.Foreign)...)
	if err != nil {
		return nil, err
	}
	test, wrongTest, _, err := of(p.Test.Slice("test", 0, 2000))
	if err != nil {
		return nil, err
	}
	far, _, _, err := of(sets(p.Groups)...)
	if err != nil {
		return nil, err
	}
	made := map[string]*scored{}
	add := func(name string, score func(x []float64) []float64) {
		made[name] = &scored{decide.Examples{Doubts: score(calibrate), Wrong: wrong, Foreign: score(foreign)}, decide.Examples{Doubts: score(test), Wrong: wrongTest, Foreign: score(far)}}
	}
	network, err := (&decide.Learn{Features: calibrate, Labels: labels, Wrong: wrong, Foreign: foreign}).Train(ctx, 1, nil)
	if err != nil {
		return nil, err
	}
	add("classifier", func(x []float64) []float64 {
		p, err := network.Wrong(ctx, x, nil)
		if err != nil {
			panic(err)
		}
		return p
	})
	held := decide.HoldOut(append(append([]bool{}, wrong...), ones(len(foreign)/decide.Features)...), 1)
	c := made["classifier"]
	c.calibrate = kept(c.calibrate, held) // the rows that the network was not trained on
	for k, name := range names {
		sign := 1.
		if k == 0 || k == 2 || k == 3 {
			sign = -1
		}
		add(name, func(x []float64) (s []float64) {
			for i := k; i < len(x); i += decide.Features {
				s = append(s, sign*x[i])
			}
			return s
		})
	}
	w, err := logistic(append(append([]float64{}, calibrate...), foreign...), append(append([]bool{}, wrong...), ones(len(foreign)/decide.Features)...))
	if err != nil {
		return nil, err
	}
	add("logistic rule of three", w.score)
	return made, nil
}

func ones(n int) []bool {
	x := make([]bool, n)
	for i := range x {
		x[i] = true
	}
	return x
}

func kept(x decide.Examples, held []bool) (out decide.Examples) {
	for i, d := range x.Doubts {
		if held[i] {
			out.Doubts, out.Wrong = append(out.Doubts, d), append(out.Wrong, x.Wrong[i])
		}
	}
	for i, d := range x.Foreign {
		if held[len(x.Doubts)+i] {
			out.Foreign = append(out.Foreign, d)
		}
	}
	return out
}

func sets(groups []data.Group) (all []*data.Set) {
	for _, g := range groups {
		all = append(all, g.Set)
	}
	return all
}
