package ssm

// clutterSeries is the Taylor series of a clutterLikelihood about x⁺ (sequential-mcmc-massive-data, section 3.2). With a_r = (z −
// position_r)/sd, w_r as in clutterLikelihood, g = 1 + Σ_r w_r and the shares ρ_r = w_r/g, the term l = log g of a return in the region has
//
//	∂l/∂position_r = ρ_r a_r/sd,   ∂²l/∂position_r∂position_s = ([r = s] ρ_r (a_r a_rᵀ − I) − ρ_r ρ_s a_r a_sᵀ)/sd².
//
// A return outside the region has g = Σ_r w_r and the same derivatives. Velocities have none.
//
// The rows are the returns in the order of the cells, chunk by chunk, and then those that are not in the cells. At x⁺ a chunk beyond reach of
// a target has the share 0 of it. A pass evaluates the chunks within reach of a target, in float64, and keeps their shares.
type clutterSeries struct {
	order  int
	at     []point   // x⁺
	start  []int     // target[start[c]:start[c+1]] are those within reach of chunk c
	base   []int     // shares[base[c]:base[c+1]] are those of chunk c, row by row; those of the last c are not in the cells
	target []int32   // rising
	shares []float64 // ρ
	chunks []int32   // within reach of a target
	parts  []float64 // sums of the pieces that threads take
	bare   []float64 // scratch: the shares of a return that is not in the cells

	from, to []point      // of a call of Residuals
	steps    []targetStep // of each target
}

// targetStep is what a target's moves have in common for all returns, in standard deviations.
type targetStep struct {
	from, to, step point   // from x⁺; step = to − from
	square         float64 // |to|² − |from|²
	half           float64 // |step|²/2
	moved          bool
}

// addShares adds to sums what a return has of them.
func addShares(sums []float64, targets []int32, shares []float64, z point, at []point, sd float64) {
	n := 2 * len(at)
	for k, r := range targets {
		p := shares[k]
		if p == 0 {
			continue
		}
		ax, ay := (z.x-at[r].x)/sd, (z.y-at[r].y)/sd
		i := 2 * int(r)
		gx, gy := float64(p*ax), float64(p*ay)
		sums[i] += gx
		sums[i+1] += gy
		if len(sums) == n {
			continue
		}
		h := sums[n:]
		h[i*n+i] += float64(p*(float64(ax*ax)-1)) - float64(gx*gx)
		h[(i+1)*n+i] += float64(gx*ay) - float64(gx*gy)
		h[(i+1)*n+i+1] += float64(p*(float64(ay*ay)-1)) - float64(gy*gy)
		for m, q := range targets[:k] {
			bx, by := float64(shares[m]*((z.x-at[q].x)/sd)), float64(shares[m]*((z.y-at[q].y)/sd))
			j := 2 * int(q)
			h[i*n+j] -= float64(gx * bx)
			h[i*n+j+1] -= float64(gx * by)
			h[(i+1)*n+j] -= float64(gy * bx)
			h[(i+1)*n+j+1] -= float64(gy * by)
		}
	}
}

// proxy is proxy(to) − proxy(from) of a return. With p_r = a_r·δ_r its quadratic part is (Σ ρ_r (p_r² − |δ_r|²) − (Σ ρ_r p_r)²)/2.
func (s *clutterSeries) proxy(z point, targets []int32, shares []float64, per float64) float64 {
	var linear, quadratic, both float64 // Σ ρ (p_to − p_from), and Σ ρ (p_to + p_from)
	for k, r := range targets {
		share, v := shares[k], &s.steps[r]
		if share == 0 {
			continue
		}
		at := s.at[r]
		ax, ay := (z.x-at.x)*per, (z.y-at.y)*per
		step := float64(ax*v.step.x) + float64(ay*v.step.y)
		linear += float64(share * step)
		if s.order == 2 {
			p := float64(ax*(v.from.x+v.to.x)) + float64(ay*(v.from.y+v.to.y))
			both += float64(share * p)
			quadratic += float64(share * (float64(step*p) - v.square))
		}
	}
	return linear + float64(0.5*(quadratic-float64(linear*both)))
}
