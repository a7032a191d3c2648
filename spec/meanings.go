package spec

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/starling-smc/starling/internal/config"
)

// What a key means is said once, by the comment of its Go field; what a part is, by its line in docs/parts.md. The command has neither
// the source nor the page with it, so both are copied into a file that it embeds.

//go:generate go run ../internal/keys

//go:embed meanings.txt
var meaningsFile string

// meanings are the lines of meanings.txt: a name, a tab, and a text.
var meanings = ReadMeanings(meaningsFile)

// ReadMeanings reads lines of a name, a tab and a text. Names are those of Go fields, as mcmc.HMC.Steps, and of parts, as "move hmc".
func ReadMeanings(text string) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(text) {
		if name, meaning, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); ok {
			all[name] = meaning
		}
	}
	return all
}

// Key is a key of a config, and what it means.
type Key struct {
	config.Key
	Meaning string
	Parts   []Part // that the key names
}

// Part is a part that a key names.
type Part struct{ Name, Meaning string }

// Describe describes the keys of a config of a network, in the order of Keys.
func Describe() []Key { return Meant(config.Describe[Spec](Families...), meanings) }

// DescribeFilter describes the keys of a config of a filter, in the order of FilterKeys.
func DescribeFilter() []Key {
	keys := config.Describe[Filtering](FilterFamilies...)
	for i := range keys {
		keys[i].Family = FilterFamily(keys[i].Family)
	}
	return Meant(keys, meanings)
}

// FilterFamily is the name of a family of parts of a filter among all families: networks have methods, too.
func FilterFamily(family string) string {
	if family == "method" {
		return "filtermethod"
	}
	return family
}

// Meant adds meanings to keys. An item of a list has that of the list.
func Meant(keys []config.Key, meanings map[string]string) (all []Key) {
	for _, k := range keys {
		key := Key{Key: k, Meaning: meanings[k.Struct+"."+k.Field]}
		switch outer := strings.TrimSuffix(strings.TrimSuffix(k.Path, ".N"), ".NAME"); {
		case k.Part != "":
			key.Meaning = meanings[k.Family+" "+k.Part]
		case outer != k.Path:
			key.Meaning = all[slices.IndexFunc(all, func(k Key) bool { return k.Path == outer })].Meaning
		}
		for _, name := range k.Names {
			key.Parts = append(key.Parts, Part{name, meanings[k.Family+" "+name]})
		}
		all = append(all, key)
	}
	return all
}
