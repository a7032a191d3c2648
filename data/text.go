package data

import (
	"slices"

	"github.com/starling-smc/starling/internal/sets"
)

// loadText makes examples of the windows of a text: inputs are whole numbers, those of the characters before the target, and its class is the
// number of the target. Characters are numbered in the order of their bytes.
func loadText(k *sets.Known, dir string) (*Problem, error) {
	text, err := k.Characters(dir)
	if err != nil {
		return nil, err
	}
	characters := slices.Clone(text)
	slices.Sort(characters)
	characters = slices.Compact(characters)
	var number [256]int32
	var names []string
	for i, c := range characters {
		number[c] = int32(i)
		names = append(names, characterName(c))
	}
	part := func(name string, from, to int) *Set {
		of := text[from*len(text)/sets.Twentieths : to*len(text)/sets.Twentieths]
		n, context := len(of)-k.Text.Context, k.Text.Context
		s := &Set{Name: name, Shape: []int{context}, F32: make([]float32, 0, n*context), Labels: make([]int32, n), Classes: len(names), Names: names}
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

// characterName names the class of a character: the character itself, or a word where that would not be seen.
func characterName(c byte) string {
	switch c {
	case '\n':
		return "newline"
	case ' ':
		return "space"
	}
	return string(rune(c))
}
