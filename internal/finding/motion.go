package finding

// Findings about moves that did not move. step is the path of the step size in the config: the setting to change.

// ChainStuck says that a chain, counted from 0, accepted hardly any move in the second half.
func ChainStuck(chain int, acceptance, logLikelihood float64, step string) Finding {
	return Finding{
		Kind:    "chain-stuck",
		Numbers: numbers{"chain": float64(chain), "acceptance": acceptance, "log_likelihood": logLikelihood}.safe(),
		Names:   map[string]string{"step": step},
	}
}

// ChainsStill names chains whose moves in the second half led less far than bound, a share of the chain's length |θ|.
func ChainsStill(chains []int, bound float64, step string) Finding {
	return Finding{
		Kind:    "chains-still",
		Numbers: numbers{"count": float64(len(chains)), "bound": bound}.safe(),
		Names:   map[string]string{"chains": numbered(chains), "step": step},
	}
}

// IslandsStuck names islands that accepted a smaller share than bound of the moves of their last iterations.
func IslandsStuck(islands []int, bound float64, step string) Finding {
	return ofMotion(KindStuck, islands, bound, step)
}

// IslandsStill names islands whose moves led less far, between two resamplings, than bound, a share of the particles' spread.
func IslandsStill(islands []int, bound float64, step string) Finding {
	return ofMotion(KindStill, islands, bound, step)
}

func ofMotion(kind string, islands []int, bound float64, step string) Finding {
	return Finding{
		Kind:    kind,
		Numbers: numbers{"count": float64(len(islands)), "bound": bound}.safe(),
		Names:   map[string]string{"islands": numbered(islands), "step": step},
	}
}

// UnmovedRuns names the runs of a comparison with islands whose particles hardly moved.
func UnmovedRuns(runs []string) Finding { return ofRuns("unmoved-runs", runs) }
