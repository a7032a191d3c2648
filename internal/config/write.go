package config

import (
	"fmt"
	"strconv"
	"strings"
)

// A table or list is written on one line, {…} or […], where that fits, else as a block.

// width is the longest line, in characters, that a table or list is written on.
const width = 110

// write renders the entries of a table or list, each on lines of its own.
func (n *node) write(b *strings.Builder, indent int) {
	pad := strings.Repeat(" ", indent)
	for i, item := range n.items {
		head := "- "
		if n.table {
			head = Scalar(n.keys[i].name) + ": "
		}
		flow := item.flow()
		if indent+len(head)+len(flow) <= width || len(item.items) == 0 {
			fmt.Fprintf(b, "%s%s%s\n", pad, head, flow)
			continue
		}
		fmt.Fprintf(b, "%s%s\n", pad, strings.TrimRight(head, " "))
		item.write(b, indent+2)
	}
}

// flow renders a value on one line.
func (n *node) flow() string {
	var parts []string
	for i, item := range n.items {
		if n.table {
			parts = append(parts, Scalar(n.keys[i].name)+": "+item.flow())
		} else {
			parts = append(parts, item.flow())
		}
	}
	switch {
	case n.table:
		return "{" + strings.Join(parts, ", ") + "}"
	case n.list:
		return "[" + strings.Join(parts, ", ") + "]"
	}
	switch v := n.scalar.(type) {
	case string:
		return Scalar(v)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case nil:
		return "null"
	}
	return fmt.Sprint(n.scalar)
}

// Scalar writes a text as a YAML scalar that reads back as the same text, as a value, as a key and inside {…}: plain where that
// is safe, else quoted.
func Scalar(text string) string {
	switch strings.ToLower(text) {
	case "y", "n", "yes", "no", "on", "off": // YAML 1.1 reads these as booleans
		return strconv.Quote(text)
	}
	if strings.ContainsAny(text, ",[]{}:#\n'\"&*!|>%@`<?\\=") || strings.ContainsFunc(text, unsafe) {
		return strconv.Quote(text)
	}
	if n, f := parseValue([]byte(text)); f != nil || n.scalar != text {
		return strconv.Quote(text)
	}
	return text
}

// unsafe reports whether a character is always quoted: readers of YAML treat it as a break of lines, or editors hide it.
func unsafe(r rune) bool { return r != ' ' && !strconv.IsPrint(r) }
