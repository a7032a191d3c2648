package nn

import "sync"

// spare is memory of a program's workers that is not in use. All models of the network share it: scores after each step of a
// sampler then take the memory of its moves.
type spare struct {
	mu       sync.Mutex
	tapes    []*tape
	partials []*partial
}

// partial holds the parameters of the particles of one task, and their sums. A task of LearnedGradient has one gradient for all
// its particles, of ψ.
type partial struct {
	theta []float32 // particles of the task × D
	grads []float32 // particles of the task × prog.own.size, sums over the chunk; or prog.psi.size, over the task
	ll    []float64 // particles of the task: sums over the segment
	grad  []float64 // particles of the task × D, likewise; or ψ. It is own, or a part of the call's result (see take)
	own   []float64
}

func (s *spare) tape(p *program) *tape {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.tapes)
	if n == 0 {
		return newTape(p)
	}
	t := s.tapes[n-1]
	s.tapes = s.tapes[:n-1]
	return t
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
