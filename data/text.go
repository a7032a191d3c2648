package data

import (
	"slices"

	"github.com/starling-smc/starling/internal/sets"
)

// loadText makes examples of the windows of a text: inputs are whole numbers, those of the characters before the target, and its class is the
// number of the target. Characters are numbered in the order of their bytes. The classes have no names: to those of a user's own table it
// would be said that A and a differ only in case.
func loadText(k *sets.Known, dir string) (*Problem, error) {
	text, err := k.Characters(dir)
	if err != nil {
		return nil, err
	}
	characters := slices.Clone(text)
	slices.Sort(characters)
	characters = slices.Compact(characters)
	var number [256]int32
	for i, c := range characters {
		number[c] = int32(i)
	}
	part := func(name string, from, to int) *Set {
		of := text[from*len(text)/sets.Twentieths : to*len(text)/sets.Twentieths]
		n, context := len(of)-k.Text.Context, k.Text.Context
		s := &Set{Name: name, Shape: []int{context}, F32: make([]float32, 0, n*context), Labels: make([]int32, n), Classes: len(characters)}
		for i := range n {
			for _, c := range of[i : i+context] {
				s.F32 = append(s.F32, float32(number[c]))
			}
			s.Labels[i] = number[of[i+context]]
		}
		return s
	}
	const last = sets.Twentieths
	return &Problem{
		Name: k.Name, Train: part("train", k.Text.From, k.Text.To), Validate: part("validate", last-2, last-1), Test: part("test", last-1, last),
	}, nil
}
