package data

import "slices"

// standard is what a word of Settings.Standardise standardises.
type standard struct {
	word     string
	inputs   bool // each input by its own mean and deviation
	targets  bool // the targets of a regression
	channels bool // images, each channel by its own mean and deviation
}

// standards are the words of Settings.Standardise.
var standards = []standard{{word: "none"}, {word: "inputs", inputs: true}, {word: "both", inputs: true, targets: true}, {word: "channels", channels: true}}

// standardWords lists the words.
func standardWords() (words []string) {
	for _, s := range standards {
		words = append(words, s.word)
	}
	return words
}

// standardOf finds the row of a word. An unknown or missing one, which Check refuses or DefaultsFor fills in, standardises nothing.
func standardOf(word string) standard {
	if i := slices.IndexFunc(standards, func(s standard) bool { return s.word == word }); i >= 0 {
		return standards[i]
	}
	return standard{}
}
