package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/starling-smc/starling/spec"
)

// writePage writes docs/config.md.
func writePage(network, filters []spec.Key) []byte {
	var b bytes.Buffer
	b.WriteString(`<!-- Written by go generate ./spec from the comments of the Go fields and from docs/parts.md. Change them, not this page. -->

# Keys of a config

Every key that a config can have, in the order in which a run's config.yaml shows them. ` + "`starling help config KEY`" + ` prints a line of this
page. N stands for the number of an item in a list, from 0, and NAME for a name of yours. A dash in the column "default" means
that there is no default, or that the column "meaning" says it. [Parts of a config](parts.md) says more of the parts.

A key that names a part is written with the part's name, ` + "`move: nuts`" + `, or with its settings, ` + "`move: {hmc: {steps: 20}}`" + `.

`)
	sections(&b, "a network", "fit", network)
	sections(&b, "a filter", "filter", filters)
	return append(bytes.TrimRight(b.Bytes(), "\n"), '\n')
}

// sections writes the keys of a kind of configs, a section for each key at the top.
func sections(b *bytes.Buffer, of, verb string, keys []spec.Key) {
	fmt.Fprintf(b, "## Configs of %s\n\nFor `starling %s`.\n\n", of, verb)
	for i, k := range keys {
		if strings.HasSuffix(k.Path, ".N") || strings.HasSuffix(k.Path, ".NAME") {
			continue
		}
		if !strings.Contains(k.Path, ".") {
			if i > 0 {
				b.WriteString("\n")
			}
			fmt.Fprintf(b, "### %s\n\n| key | type | default | meaning |\n|---|---|---|---|\n", k.Path)
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", k.Path, k.Type, written(k), cell(meaning(k)))
	}
	b.WriteString("\n")
}

// written is a default in a table.
func written(k spec.Key) string {
	switch {
	case k.Required:
		return "must be given"
	case k.Default == "":
		return "–"
	}
	return "`" + cell(k.Default) + "`"
}

// meaning is what a key means, and the names of the parts that it names.
func meaning(k spec.Key) string {
	text := k.Meaning
	var names []string
	for _, p := range k.Parts {
		names = append(names, "`"+p.Name+"`")
	}
	if names != nil {
		text += ". One of " + strings.Join(names, ", ")
	}
	return text
}

// cell is a text in a cell of a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }
