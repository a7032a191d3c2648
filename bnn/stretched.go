package bnn

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/uq"
)

// Stretched is the same ensemble, but the laws of numbers that it predicts are c times as wide about their mean (uq.Normals.Stretch), on the
// scale of what the network learns: the logarithm of amounts. Its draws and its probabilities of classes are as before.
func (e *Ensemble) Stretched(c float64) *Ensemble {
	wide := *e
	wide.width = c
	return &wide
}

// Stretch asks for the laws of a prediction at a width.
type Stretch struct {
	Times     float64   // how many times as wide about their mean the laws are made, as Stretched makes them; 1: they are as they are
	Quantiles []float64 // levels of the quantiles to compute
}

// PredictStretched is PredictAmounts at several widths of the same laws. The network is evaluated once for all of them.
func (e *Ensemble) PredictStretched(ctx context.Context, set *data.Set, logs *data.Standard, stretches []Stretch, p *nn.Pool) ([]*Regression, error) {
	all := make([]*Regression, len(stretches))
	for w, asked := range stretches {
		all[w] = newRegression(set.Len(), e.Net.Targets(), len(asked.Quantiles))
	}
	err := e.mixtures(ctx, set, [][]float64{e.LogWeights}, p, func(i, _ int, outputs []uq.Normals) {
		for w, asked := range stretches {
			wide := outputs
			if w < len(stretches)-1 { // laws and Stretch change it in place
				wide = make([]uq.Normals, len(outputs))
				for c := range outputs {
					wide[c] = outputs[c].Clone()
				}
			}
			for c := range wide {
				if asked.Times != 1 {
					wide[c].Stretch(asked.Times)
				}
			}
			all[w].set(i, laws(wide, logs), asked.Quantiles)
		}
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// ByWidth returns the mean negative log-density, in nats, of the targets of a set as a function of the width c of the predicted laws
// (Stretched), under a weighting of the particles, and the number of examples that it is the mean of: all of them, or as many, at equal
// distances, as have 2^23 components together, which take 200 MB. Errors are as those of LogDensity. The function is the same for any number of threads.
func (e *Ensemble) ByWidth(ctx context.Context, set *data.Set, logWeights []float64, p *nn.Pool) (n int, nll func(c float64) float64, err error) {
	const most = 1 << 23
	if err := e.hasTargets(set); err != nil {
		return 0, nil, err
	}
	if n = min(set.Len(), max(1, most/e.Size())); n < set.Len() {
		rows := make([]int32, n)
		for i := range rows {
			rows[i] = int32(i * set.Len() / n)
		}
		set = set.Select(set.Name, rows)
	}
	kept := make([][]uq.Normals, n)
	err = e.mixtures(ctx, set, [][]float64{logWeights}, p, func(i, _ int, outputs []uq.Normals) {
		for _, o := range outputs {
			kept[i] = append(kept[i], o.Clone())
		}
	})
	if err != nil {
		return 0, nil, err
	}
	return n, func(c float64) float64 {
		losses := make([]float64, n)
		p.Run(n, func(i int) {
			wide := make([]uq.Normals, len(kept[i]))
			for k := range wide {
				wide[k] = kept[i][k].Clone()
				wide[k].Stretch(c)
			}
			losses[i] = -uq.LogDensities(wide, truth(set, i, len(wide)))
		})
		return uq.Mean(losses)
	}, nil
}

// Sum is a checksum of the ensemble: SHA-256, in hexadecimal, of the weights and the parameters of all particles, and of the network's constants
// but for the statistics of normalisations. It is the same in memory and read from a file.
func (e *Ensemble) Sum() (string, error) {
	h := sha256.New()
	const some = 64
	d := e.Net.Dim()
	for _, l := range e.LogWeights {
		h.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(l)))
	}
	theta, text := make([]float32, 0, some*d), make([]byte, 0, some*d*4)
	write := func(values []float32) {
		text = text[:0]
		for _, v := range values {
			text = binary.LittleEndian.AppendUint32(text, math.Float32bits(v))
		}
		h.Write(text)
	}
	for j := 0; j < e.Size(); j += some {
		n := min(some, e.Size()-j)
		theta = theta[:n*d]
		if err := e.parameters(j, n, 0, d, theta); err != nil {
			return "", err
		}
		write(theta)
	}
	write(e.Shared)
	for _, t := range e.Net.Constants() {
		if t.Kind != nn.Means && t.Kind != nn.Variances {
			write(e.Net.Held()[t.Offset:][:t.Size])
		}
	}
	write(e.Centre)
	for _, row := range e.Row {
		h.Write(binary.LittleEndian.AppendUint32(nil, uint32(row)))
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}
