package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/internal/jsontext"
)

func newPresets() *cobra.Command {
	var jsonOut bool
	cmd := &cobra.Command{
		Use:   "presets [NAME]",
		Short: "List the configs that are built in, or print one to start from",
		Example: `  starling presets
  starling presets mnist7 > mine.yaml`,
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: starling.Presets(),
		RunE: func(cmd *cobra.Command, args []string) error {
			out := cmd.OutOrStdout()
			if len(args) == 1 {
				text, err := presetText(args[0])
				if err != nil {
					return err
				}
				if jsonOut {
					return jsontext.Write(out, map[string]string{"name": args[0], "config": string(text)})
				}
				_, err = out.Write(text)
				return err
			}
			fits, err := listPresets(out, "fit", !jsonOut)
			if err != nil {
				return err
			}
			if !jsonOut {
				fmt.Fprintln(out)
			}
			filters, err := listPresets(out, "filter", !jsonOut)
			if jsonOut && err == nil {
				err = jsontext.Write(out, map[string]any{"presets": fits, "filters": filters})
			}
			return err
		},
	}
	asJSON(cmd, &jsonOut)
	return cmd
}

// listPresets lists the presets of a verb with their first lines, and shows them if show.
func listPresets(out io.Writer, verb string, show bool) (about map[string]string, err error) {
	if show {
		fmt.Fprintf(out, "for starling %s:\n", verb)
	}
	about = map[string]string{}
	for _, name := range starling.PresetsFor(verb) {
		text, err := presetText(name)
		if err != nil {
			return nil, err
		}
		about[name] = firstComment(text)
		if show {
			beside(out, fmt.Sprintf("%-24s", name), about[name])
		}
	}
	return about, nil
}

// firstComment is the first line of a preset.
func firstComment(text []byte) string {
	line := bufio.NewScanner(bytes.NewReader(text))
	line.Scan()
	return strings.TrimPrefix(line.Text(), "# ")
}

// presetsListed says where all presets are listed.
const presetsListed = "to list them: starling presets"

// presetGroups lists the presets in groups, a line each: those of a data set, and those of filters.
func presetGroups() string {
	groups := map[string][]string{}
	for _, name := range starling.Presets() {
		group := "for starling filter"
		if spec, err := starling.Preset(name); err == nil {
			group = "on " + spec.Data.Set
		}
		groups[group] = append(groups[group], name)
	}
	var b strings.Builder
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		beside(&b, "  "+group+":", strings.Join(groups[group], ", "))
	}
	return strings.TrimRight(b.String(), "\n")
}

// presetText is starling.PresetText, whose error says where all presets are listed, and lists their names.
func presetText(name string) ([]byte, error) {
	text, err := starling.PresetText(name)
	if err != nil {
		return nil, wrongUse("%w (%s)\n%s", err, presetsListed, presetGroups())
	}
	return text, nil
}
