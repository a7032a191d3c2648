package rng

import (
	"math"

	"github.com/starling-smc/starling/internal/lanes"
)

// Standard normal numbers by the ziggurat (Marsaglia and Tsang 2000): the half plane under e^(−x²/2) is covered by
// 256 strips of equal area, the lowest with the tail. One 64-bit number picks a strip (8 bits) and a signed place
// across it (53 bits). 98.8 % of the places lie in the part of the strip that is wholly under the curve: these are done.
const (
	zigguratR = 3.654152885361008796 // where the tail begins
	zigguratV = 0.004928673233974655 // area of each strip: R e^(−R²/2) + ∫_R^∞ e^(−x²/2) dx
)

// Strip i reaches from −x[i] to x[i] and from height y[i] to y[i+1]. The lowest is widened to have area V without its
// tail. x[1] = R, x[256] = 0.
var ziggurat = func() (t struct{ x, y, step [257]float64 }) {
	density := func(x float64) float64 { return Exp(-0.5 * float64(x*x)) }
	t.x[0], t.x[1] = zigguratV/density(zigguratR), zigguratR
	for i := 2; i < 256; i++ {
		t.x[i] = math.Sqrt(-2 * Log(zigguratV/t.x[i-1]+density(t.x[i-1])))
	}
	for i := range t.x {
		t.y[i] = density(t.x[i])
		t.step[i] = t.x[i] * 0x1p-52
	}
	return t
}()

// Normal returns a standard normal number.
func (s *Stream) Normal() float64 {
	u := s.Uint64()
	i := u & 255
	x := float64(int64(u)>>11) * ziggurat.step[i]
	if math.Abs(x) < ziggurat.x[i+1] {
		return x
	}
	return s.edge(int(i), x)
}

// Normals fills dst with standard normal numbers: the same as calling Normal for each.
func (s *Stream) Normals(dst []float64) {
	for len(dst) >= fewNormals && s.next < lastBlock {
		if s.pos < ahead {
			dst[0] = s.Normal()
			dst = dst[1:]
			continue
		}
		dst = dst[s.normals(dst):]
	}
	for k := range dst {
		dst[k] = s.Normal()
	}
}

const (
	fewNormals = 64  // for fewer, blocks are not computed in bulk
	bulk       = 256 // 64-bit numbers computed in bulk
)

// normals fills the beginning of dst, as far as some blocks reach that it computes in bulk, and returns how many numbers it wrote.
// dst must not be short, nor the stream at its end, and all of s.buf must have been read. Most numbers are those of Normal that need no
// edge. For the others it puts the stream behind the number that they begin with, and goes on where edge leaves the stream.
func (s *Stream) normals(dst []float64) int {
	var buf [bulk]uint64
	first := s.next
	u := buf[:min(bulk, 2*(lastBlock-first), uint64(len(dst))&^(ahead-1))]
	lanes.Philox(s.ctr, uint32(first), s.key, u)
	i, k := 0, 0 // numbers read and written; k ≤ i
	for i < len(u) {
		rest, to := u[i:], dst[k:]
		to = to[:len(rest)]
		n, strip, x := 0, uint64(0), 0.0
		for n < len(rest) {
			v := rest[n]
			strip = v & 255
			x = float64(int64(v)>>11) * ziggurat.step[strip]
			if !(math.Abs(x) < ziggurat.x[strip+1]) {
				break
			}
			to[n] = x
			n++
		}
		i, k = i+n, k+n
		if n < len(rest) {
			i++
			s.behind(first, u, i)
			dst[k] = s.edge(int(strip), x)
			k++
			i = 2*int(s.next-first) - (ahead - s.pos)
		}
	}
	if i == len(u) { // otherwise the last edge has read what follows
		s.behind(first, u, i)
	}
	return k
}

// behind puts the stream behind the first i of numbers u, whose first block is first; i > 0.
func (s *Stream) behind(first uint64, u []uint64, i int) {
	group := (i - 1) &^ (ahead - 1)
	s.buf, s.pos, s.next = [ahead]uint64(u[group:]), i-group, first+uint64(group+ahead)/2
}

// edge decides on an x in the part of strip i that the curve crosses. If the point is not under the curve, it draws again.
func (s *Stream) edge(i int, x float64) float64 {
	if i > 0 {
		height := ziggurat.y[i] + float64(s.Float64()*(ziggurat.y[i+1]-ziggurat.y[i]))
		if height < Exp(-0.5*float64(x*x)) {
			return x
		}
		return s.Normal()
	}
	// The tail beyond R (Marsaglia 1964).
	for {
		a := -Log(1-s.Float64()) / zigguratR
		b := -Log(1 - s.Float64())
		if 2*b >= float64(a*a) {
			return math.Copysign(zigguratR+a, x)
		}
	}
}
