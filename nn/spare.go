package nn

import "sync"

// spare is memory of a network's workers that is not in use. All models of the network share it: scores after each step of a
// sampler then take the memory of its moves.
type spare struct {
	mu       sync.Mutex
	tapes    []*tape
	partials []*partial
}

// partial holds the sums of one task.
type partial struct{ ll, grad []float64 }

// tape returns memory for at least that many particles.
func (s *spare) tape(p *program, particles int) *tape {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.tapes); n > 0 {
		t := s.tapes[n-1]
		s.tapes = s.tapes[:n-1]
		if t.particles >= particles {
			return t
		}
	}
	return newTape(p, particles)
}

func (s *spare) returnTape(t *tape) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tapes = append(s.tapes, t)
}

func (s *spare) partial() *partial {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.partials)
	if n == 0 {
		return &partial{}
	}
	sums := s.partials[n-1]
	s.partials = s.partials[:n-1]
	return sums
}

func (s *spare) returnPartial(sums *partial) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.partials = append(s.partials, sums)
}
