package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

const columns = 80 // the width of all that is printed

// lines breaks a text between words into lines of at most width; a longer word has a line of its own.
func lines(text string, width int) []string {
	all := []string{""}
	for _, word := range strings.Fields(text) {
		line := &all[len(all)-1]
		switch {
		case *line == "":
			*line = word
		case len([]rune(*line))+1+len([]rune(word)) <= width:
			*line += " " + word
		default:
			all = append(all, word)
		}
	}
	return all
}

// wrap writes a paragraph.
func wrap(w io.Writer, text string) {
	fmt.Fprintln(w, strings.Join(lines(text, columns), "\n"))
}

// beside writes text in a column to the right of left, and returns blanks as wide as left.
func beside(w io.Writer, left, text string) string {
	blank := strings.Repeat(" ", len([]rune(left)))
	for i, line := range lines(text, columns-len(blank)-1) {
		if i > 0 {
			left = blank
		}
		fmt.Fprintln(w, left+" "+line)
	}
	return blank
}

// wrapHelp wraps the descriptions of a command, of its flags and of the commands below it. Paragraphs that are indented are tables,
// and stay as they are.
func wrapHelp(cmd *cobra.Command) {
	if !cmd.HasParent() {
		usage := fmt.Sprintf("Flags.FlagUsagesWrapped %d ", columns)
		cmd.SetUsageTemplate(strings.ReplaceAll(cmd.UsageTemplate(), "Flags.FlagUsages ", usage))
	}
	if cmd.Long != "" {
		var paragraphs []string
		for _, p := range strings.Split(cmd.Long, "\n\n") {
			if !strings.HasPrefix(p, " ") {
				p = strings.Join(lines(p, columns), "\n")
			}
			paragraphs = append(paragraphs, p)
		}
		cmd.Long = strings.Join(paragraphs, "\n\n")
	}
	for _, c := range cmd.Commands() {
		wrapHelp(c)
	}
}
