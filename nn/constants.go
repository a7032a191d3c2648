package nn

import (
	"fmt"
	"slices"
)

// Constants are the tensors whose values Net.With takes, in its order: those that are frozen or fixed.
func (n *Net) Constants() []Tensor {
	return slices.DeleteFunc(n.Tensors(), func(t Tensor) bool { return t.Role.moves() })
}

// Held are the values of the constants, one after another; nil if they are not known. They are not to be changed.
func (n *Net) Held() []float32 { return n.constants }

// With is the same network with the given constants: the values of Constants, one after another. An error names a variance that is not
// positive, or a number that is not finite in float32. It panics if there are more numbers, or fewer.
func (n *Net) With(constants []float64) (*Net, error) {
	if len(constants) != n.numConstants {
		panic(fmt.Sprintf("nn: With: %d constants for a network of %d", len(constants), n.numConstants))
	}
	if n.numConstants == 0 {
		return n, nil
	}
	with := *n
	with.constants = make([]float32, n.numConstants)
	for _, t := range n.Constants() {
		for i, x := range constants[t.Offset:][:t.Size] {
			v := float32(x)
			switch {
			case t.Kind == Variances && !(v > 0 && v-v == 0):
				return nil, fmt.Errorf("%s is %v, and a variance is a positive number: give the channel the variance of its inputs, or train again", t.Element(i), x)
			case v-v != 0:
				return nil, fmt.Errorf("%s is %v: want numbers that are finite in float32", t.Element(i), x)
			}
			with.constants[t.Offset+i] = v
		}
	}
	return &with, nil
}

// Holding is the same network whose frozen tensors have the values that they have in whole, the parameters of Whole.
func (n *Net) Holding(whole []float64) (*Net, error) {
	constants := make([]float64, n.numConstants)
	for i, x := range n.constants {
		constants[i] = float64(x)
	}
	for t, part := range n.Places(whole) {
		if t.Role == RoleFrozen {
			copy(constants[t.Offset:][:t.Size], part)
		}
	}
	return n.With(constants)
}
