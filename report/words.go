package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/uq"
)

// percent writes 0.937 as 93.7 %.
func percent(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return fixed(100*v, 1) + "\u00a0%"
}

// fixed writes v with so many decimals.
func fixed[T ~float64](v T, decimals int) string { return numeral.Fixed(float64(v), decimals) }

// significant writes four significant digits of a number of any size.
func significant[T ~float64](v T) string {
	x := float64(v)
	if x == 0 || x-x != 0 {
		return fixed(x, 0)
	}
	if size := math.Abs(x); size < 1e-4 || size >= 1e9 {
		return numeral.Signed(strconv.FormatFloat(size, 'g', 4, 64), x < 0)
	}
	return fixed(x, max(3-int(math.Floor(math.Log10(math.Abs(x)))), 0))
}

// shortest writes a value that went through float32 beside others of some size with the digits that it had before.
func shortest(v, size float64) string {
	size = max(math.Abs(v), size)
	if v-v != 0 || size < 1e-9 || size >= 1e9 {
		return significant(v)
	}
	decimals := max(5-int(math.Floor(math.Log10(size))), 0)
	s := strconv.FormatFloat(math.Abs(v), 'f', decimals, 64)
	if decimals > 0 {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return numeral.Signed(numeral.Grouped(s), v < 0)
}

func count(n int) string { return numeral.Grouped(strconv.Itoa(n)) }

// several writes 1 island, 8 islands.
func several(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return count(n) + " " + what + "s"
}

// list joins words as in a, b and c.
func list(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return strings.Join(words, "")
}

// span writes lo to hi, or one of them if they read the same.
func span(lo, hi float64, decimals int) string {
	if a, b := fixed(lo, decimals), fixed(hi, decimals); a != b {
		return a + " to " + b
	}
	return fixed(lo, decimals)
}

// wilson is the 95 % interval of a share of k in n (Wilson 1927).
func wilson(k, n float64) (low, high float64) {
	const z = 1.959963984540054
	if n == 0 {
		return 0, 1
	}
	p := k / n
	middle := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return max(middle-half, 0), min(middle+half, 1)
}

// number is the value of one that may be missing.
func number(v *uq.Number) float64 {
	if v == nil {
		return math.NaN()
	}
	return float64(*v)
}

// Architecture names the layers that change shapes: conv 4 → pool → dense 8.
func Architecture(net *nn.Net) string {
	var parts []string
	for _, layer := range net.Layers() {
		switch l := layer.(type) {
		case nn.Dense:
			parts = append(parts, fmt.Sprintf("dense %d", l.Units))
		case nn.Conv:
			parts = append(parts, fmt.Sprintf("conv %d", l.Filters))
		case nn.MaxPool, nn.AvgPool, nn.GlobalAvgPool:
			parts = append(parts, "pool")
		}
	}
	return strings.Join(parts, " → ")
}

// Method says how the posterior was come by.
func Method(s *starling.Spec) string {
	anchor, point := "", "the best MAP"
	if s.MAP == nil { // there was no search: the anchor is a network that came with the config
		point = "the network of model.init"
	}
	if a := s.Prior.Anchor; a != nil && a.S < .5 {
		anchor = fmt.Sprintf(", anchored at %s (s = %v)", point, a.S)
	}
	switch m := s.Method; {
	case m.AsIs:
		return "a trained network as it is"
	case s.Prior.Anchor != nil && s.Prior.Anchor.S == 0:
		return point + " alone (s = 0)"
	case m.MCMC != nil:
		return fmt.Sprintf("%s of %s, %s epochs each%s", several(m.MCMC.Chains, "chain"), move(m.MCMC.Move), count(m.MCMC.Epochs), anchor)
	default:
		return fmt.Sprintf("%s of %s by %s with %s%s",
			several(m.SMC.Islands, "island"), several(m.SMC.Particles, "particle"), path(m.SMC.Path), move(m.SMC.Move), anchor)
	}
}

func path(p starling.Path) string {
	switch {
	case p.Constant != nil:
		return "SMC on constant batches"
	case p.Full != nil:
		return "SMC on full batches"
	case p.CTR != nil:
		return "data annealing (constant to refine)"
	case p.Linear != nil:
		return "data annealing (linear)"
	case p.Automated != nil:
		return "data annealing (automated)"
	case p.SDA != nil:
		return "smooth data annealing"
	}
	return "tempered SMC"
}

func move(m starling.Move) string {
	switch {
	case m.HMC != nil && m.HMC.Steps > 1:
		return fmt.Sprintf("HMC (%d leapfrogs)", m.HMC.Steps)
	case m.HMC != nil:
		return "HMC (1 leapfrog)"
	case m.Leapfrog != nil:
		how := "unadjusted Langevin dynamics"
		if m.Leapfrog.Steps > 1 {
			how = fmt.Sprintf("unadjusted HMC (%d leapfrogs)", m.Leapfrog.Steps)
		}
		if g := m.Leapfrog.Gradient; g != nil {
			how += fmt.Sprintf(" by gradients of %s", several(g.Batch, "example"))
		}
		return how
	}
	return "pCN"
}
