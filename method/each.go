package method

import "slices"

// each divides a trace into the lines of each chain or, of populations, of each island. The lines of chains that share a step have all of them.
func (s *Sampling) each(trace []TraceLine) (chains [][]TraceLine) {
	for _, lines := range byIsland(trace) {
		if !s.Chains() || s.Particles == 1 {
			chains = append(chains, lines)
			continue
		}
		for c := range s.Particles {
			one := slices.Clone(lines)
			for i := range one {
				one[i].Info = one[i].Info.Of(c)
			}
			chains = append(chains, one)
		}
	}
	return chains
}
