package nn

import (
	"context"
	"fmt"
	"math"
)

// Stand-in until branch curvature-42 is merged: dense networks with tanh or relu, float64.

type sdense struct {
	w, b    *Tensor
	act     string
	in, out int
}

func (m *Model) sdenses() (all []sdense, err error) {
	for _, n := range m.net.layers {
		switch l := n.(type) {
		case Dense:
			all = append(all, sdense{})
			_ = l
		default:
			switch n {
			case Tanh:
				all[len(all)-1].act = "tanh"
			case ReLU:
				all[len(all)-1].act = "relu"
			default:
				return nil, fmt.Errorf("layer %s has no factors", n.Title())
			}
		}
	}
	k := -1
	for i := range m.net.tensors {
		t := &m.net.tensors[i]
		switch t.Kind {
		case Weights:
			k++
			all[k].w, all[k].out, all[k].in = t, t.Shape[0], t.Shape[1]
		case Biases:
			all[k].b = t
		}
	}
	return all, nil
}

func (m *Model) svals(t *Tensor, theta []float64) []float64 {
	if t == nil {
		return nil
	}
	if t.Role == RoleRandom {
		return theta[t.Offset:][:t.Size]
	}
	v := make([]float64, t.Size)
	for i := range v {
		v[i] = float64(m.phi[t.Offset+i])
	}
	return v
}

// sback gives for an example the inputs of each layer (with 1) and for each output the gradients of each layer's outputs.
func (m *Model) sback(ls []sdense, row int, theta []float64) (in [][]float64, z []float64, g [][][]float64) {
	x := make([]float64, m.net.features())
	for i := range x {
		x[i] = float64(m.set.F32[row*len(x)+i])
	}
	var der [][]float64
	for _, l := range ls {
		in = append(in, append(append([]float64{}, x...), 1))
		w, b := m.svals(l.w, theta), m.svals(l.b, theta)
		y, d := make([]float64, l.out), make([]float64, l.out)
		for o := range y {
			s := 0.0
			if b != nil {
				s = b[o]
			}
			for i, v := range x {
				s += float64(w[o*l.in+i] * v)
			}
			switch l.act {
			case "tanh":
				t := math.Tanh(s)
				y[o], d[o] = t, 1-float64(t*t)
			case "relu":
				if s > 0 {
					y[o], d[o] = s, 1
				}
			default:
				y[o], d[o] = s, 1
			}
		}
		der = append(der, d)
		x = y
	}
	for k := range x {
		gk := make([][]float64, len(ls))
		dy := make([]float64, len(x))
		dy[k] = 1
		for i := len(ls) - 1; i >= 0; i-- {
			l := ls[i]
			dz := make([]float64, l.out)
			for o := range dz {
				dz[o] = dy[o] * der[i][o]
			}
			gk[i] = dz
			w := m.svals(l.w, theta)
			dy = make([]float64, l.in)
			for o := range dz {
				for j := range dy {
					dy[j] += float64(w[o*l.in+j] * dz[o])
				}
			}
		}
		g = append(g, gk)
	}
	return in, x, g
}

func (m *Model) sjac(ls []sdense, r int, theta []float64) (z []float64, jac [][]float64) {
	in, z, g := m.sback(ls, r, theta)
	for k := range z {
		row := make([]float64, m.net.dim)
		for i, l := range ls {
			if l.w.Role != RoleRandom {
				continue
			}
			for o := range l.out {
				for p := range l.in {
					row[l.w.Offset+o*l.in+p] = g[k][i][o] * in[i][p]
				}
				if l.b != nil {
					row[l.b.Offset+o] = g[k][i][o]
				}
			}
		}
		jac = append(jac, row)
	}
	return z, jac
}

func (m *Model) Tangents(_ context.Context, rows []int32, theta, directions []float64, out []float32) error {
	ls, err := m.sdenses()
	if err != nil {
		return err
	}
	n, _ := m.count(rows)
	d, k := m.net.dim, m.net.Outputs()
	for i := range n {
		_, jac := m.sjac(ls, exampleAt(rows, i), theta)
		for j := range len(directions) / d {
			for c := range k {
				s := 0.0
				for p, v := range directions[j*d:][:d] {
					s += float64(v * jac[c][p])
				}
				out[(j*n+i)*k+c] = float32(s)
			}
		}
	}
	return nil
}
