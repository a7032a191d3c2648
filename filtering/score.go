package filtering

import (
	"math"
	"slices"

	"github.com/starling-smc/starling/filter"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/scans"
	"github.com/starling-smc/starling/ssm"
)

// running holds the mean and the sum of squared deviations of each number of all measurements so far (Welford 1962).
type running struct {
	n        int
	mean, m2 []float64
}

func (r *running) add(rec *scans.Record) {
	for _, values := range [][]float64{rec.Values, rec.Held} {
		for i := 0; i < len(values); i += rec.Width {
			if r.mean == nil {
				r.mean, r.m2 = make([]float64, rec.Width), make([]float64, rec.Width)
			}
			r.n++
			for j, v := range values[i : i+rec.Width] {
				d := v - r.mean[j]
				r.mean[j] += d / float64(r.n)
				r.m2[j] += float64(d * (v - r.mean[j]))
			}
		}
	}
}

// logDensity is log N(z; mean, variance) of the measurements so far, of which there are two at least. A number that has always been the
// same, such as the index of the only sensor, does not count.
func (r *running) logDensity(z []float64) float64 {
	l := 0.0
	for j, v := range z {
		if r.m2[j] == 0 && v == r.mean[j] {
			continue
		}
		variance, d := r.m2[j]/float64(r.n-1), v-r.mean[j]
		l -= float64(0.5 * (log2Pi + rng.Log(variance) + float64(d*d)/variance))
	}
	return l
}

const log2Pi = 1.8378770664093454835606594728112

// score predicts the measurements that the filter did not see: Σ log Σ_j W_j p(z | x_j) over them, with the particles after the
// scan, beside the normal distribution of all measurements of earlier scans. Before the third measurement there is none, and
// nothing is scored. The terms of a Poisson model are divided by the mean number of measurements, which makes them densities.
func (p *Pass) score(st *filter.State, rec *scans.Record) (*HeldScan, error) {
	if len(rec.Held) == 0 || st.X == nil || p.all.n < 2 {
		return &HeldScan{}, nil
	}
	like, err := p.Model.Bind(&ssm.Scan{Time: rec.Time, Width: rec.Width, Values: rec.Held})
	if err != nil {
		return nil, err
	}
	out, scale := &HeldScan{N: like.Len()}, 0.0
	if m, ok := p.Model.(ssm.Poisson); ok {
		scale = rng.Log(m.Rate())
	}
	for i := range len(rec.Held) / rec.Width {
		out.Baseline += Number(p.all.logDensity(rec.Held[i*rec.Width : (i+1)*rec.Width]))
	}
	terms, row := make([]float64, st.N()), []int32{0}
	for i := range like.Len() {
		row[0] = int32(i)
		top := math.Inf(-1)
		for j := range terms {
			if terms[j] = like.LogLik(st.Particle(j), row); math.IsNaN(terms[j]) {
				terms[j] = math.Inf(-1)
			}
			if st.LogW != nil {
				terms[j] += st.LogW[j]
			}
			top = max(top, terms[j])
		}
		if math.IsInf(top, -1) {
			out.Filter = Number(top)
			break
		}
		sum := 0.0
		for _, l := range terms {
			sum += rng.Exp(l - top)
		}
		l := top + rng.Log(sum) - scale
		if st.LogW == nil {
			l -= rng.Log(float64(len(terms)))
		}
		out.Filter += Number(l)
	}
	return out, nil
}

// compare describes the state of another method, and its distance from that of the first.
func compare(st, other *filter.State, info filter.Info) *Beside {
	mean, cov := other.Moments()
	a := &Beside{Mean: numbers(mean), LogEvidence: known(info.LogEvidence)}
	for i := range mean {
		a.SD = append(a.SD, Number(math.Sqrt(cov[i*other.Dim+i])))
		a.KS = append(a.KS, Number(filter.Distance(st, other, i)))
	}
	return a
}

// quantiles are those of measurements of one number, for pages.
func quantiles(values []float64) (q []Number) {
	sorted := slices.Sorted(slices.Values(values))
	for _, p := range []float64{0.05, 0.25, 0.5, 0.75, 0.95} {
		q = append(q, Number(numeral.Quantile(sorted, p)))
	}
	return q
}

// cellsAcross is the number of cells along the longer side of the picture of returns.
const cellsAcross = 80

// Cells count returns in the squares of a grid, over all scans, up to 2³¹ − 1 in each; zero where the model has no region.
type Cells struct {
	X       Number `json:"x"` // the grid's lower left corner
	Y       Number `json:"y"`
	Size    Number `json:"size"` // the side of a square
	Columns int    `json:"columns"`
	Counts  []int  `json:"counts"` // row by row, the lowest row first
}

// grid is the empty grid of a model's region.
func grid(m ssm.Model) (c Cells, rows int) {
	region, ok := m.(Region)
	if !ok {
		return Cells{}, 0
	}
	x0, x1, y0, y1 := region.Bounds()
	size := max(x1-x0, y1-y0) / cellsAcross
	if !(size > 0) {
		return Cells{}, 0
	}
	return Cells{X: Number(x0), Y: Number(y0), Size: Number(size), Columns: int(math.Ceil((x1 - x0) / size))}, int(math.Ceil((y1 - y0) / size))
}

// count counts the returns of a scan.
func (p *Pass) count(rec *scans.Record) {
	g, rows := grid(p.Model)
	if rows == 0 || rec.Width != 2 {
		return
	}
	if p.cells == nil {
		p.cells = make([]int, g.Columns*rows)
	}
	for i := range rec.Len() {
		z := rec.Row(i)
		x, y := (z[0]-float64(g.X))/float64(g.Size), (z[1]-float64(g.Y))/float64(g.Size)
		if x >= 0 && x < float64(g.Columns) && y >= 0 && y < float64(rows) {
			cell := &p.cells[int(y)*g.Columns+int(x)]
			*cell = min(*cell+1, math.MaxInt32) // the saved state has counts of 32 bits
		}
	}
}

// Cells returns the counts of a pass.
func (p *Pass) Cells() *Cells {
	if p.cells == nil {
		return &Cells{}
	}
	g, _ := grid(p.Model)
	g.Counts = p.cells
	return &g
}
