package data

import "fmt"

// Set is a set of examples in memory, example-major: example i's inputs are U8[i·P:(i+1)·P] or F32[i·P:(i+1)·P]
// with P the product of Shape. Exactly one of U8 and F32 is in use. A Set is not changed after it was made.
type Set struct {
	Name  string
	Shape []int     // of one example: channels, height, width; or the number of features
	U8    []uint8   // pixels; a network sees v/255
	F32   []float32 // values as they are

	// Targets: Labels for classes (0 ≤ label < Classes), else Values, N×Outputs.
	Labels  []int32
	Classes int
	Names   []string // of classes; nil if they have none
	Values  []float32
	Outputs int
}

// Features is the number of input values of one example.
func (s *Set) Features() int {
	p := 1
	for _, d := range s.Shape {
		p *= d
	}
	return p
}

// Len is the number of examples.
func (s *Set) Len() int {
	p := s.Features()
	if p == 0 {
		return 0
	}
	if s.U8 != nil {
		return len(s.U8) / p
	}
	return len(s.F32) / p
}

// Check reports the first inconsistency between the parts of the set.
func (s *Set) Check() error {
	n, p := s.Len(), s.Features()
	switch {
	case p <= 0:
		return fmt.Errorf("data set %q: shape %v has no values", s.Name, s.Shape)
	case (s.U8 != nil) == (s.F32 != nil):
		return fmt.Errorf("data set %q: exactly one of U8 and F32 must hold the inputs", s.Name)
	case n*p != len(s.U8)+len(s.F32):
		return fmt.Errorf("data set %q: %d input values are no multiple of shape %v", s.Name, len(s.U8)+len(s.F32), s.Shape)
	case s.Labels != nil && len(s.Labels) != n:
		return fmt.Errorf("data set %q: %d labels for %d examples", s.Name, len(s.Labels), n)
	case s.Values != nil && len(s.Values) != n*s.Outputs:
		return fmt.Errorf("data set %q: %d target values for %d examples of %d outputs", s.Name, len(s.Values), n, s.Outputs)
	}
	for i, y := range s.Labels {
		if y < 0 || int(y) >= s.Classes {
			return fmt.Errorf("data set %q: example %d has label %d, want 0 to %d", s.Name, i, y, s.Classes-1)
		}
	}
	return nil
}
