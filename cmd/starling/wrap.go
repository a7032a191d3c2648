package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

const columns = 80 // of what is printed

// lines breaks a text between words so that no line is longer than width, where its words allow that.
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

// beside writes text to the right of what stands left, and returns the blank that stands left of what follows.
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

// wrapHelp wraps what a command and those below it say of themselves and of their flags.
func wrapHelp(cmd *cobra.Command) {
	if !cmd.HasParent() {
		usage := fmt.Sprintf("Flags.FlagUsagesWrapped %d ", columns)
		cmd.SetUsageTemplate(strings.ReplaceAll(cmd.UsageTemplate(), "Flags.FlagUsages ", usage))
	}
	if cmd.Long != "" {
		var paragraphs []string
		for _, p := range strings.Split(cmd.Long, "\n\n") {
			paragraphs = append(paragraphs, strings.Join(lines(p, columns), "\n"))
		}
		cmd.Long = strings.Join(paragraphs, "\n\n")
	}
	for _, c := range cmd.Commands() {
		wrapHelp(c)
	}
}
