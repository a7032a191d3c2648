package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/spec"
)

// fitParts are the parts, and the scales of moves, that a config of fit can name; filterParts those of filter.
func fitParts() []config.Place {
	return append(spec.Places(), config.Place{Key: "scale", Names: mcmc.ScalingNames()})
}

func filterParts() []config.Place { return spec.FilterPlaces() }

// listed lists parts that a config can name, a family to a line.
func listed(places []config.Place) string {
	var b strings.Builder
	widest := 0
	for _, p := range places {
		widest = max(widest, len(p.Key))
	}
	for _, p := range places {
		left := "  " + p.Key + strings.Repeat(" ", widest-len(p.Key)+1)
		beside(&b, left, strings.Join(p.Names, ", "))
	}
	return strings.TrimRight(b.String(), "\n")
}

// partsHere stands in the description of a command where its help lists parts.
const partsHere = "  PARTS"

// helpParts lists the parts in the help of a command. They are looked for when help is asked for: that takes more time than starting.
func helpParts(cmd *cobra.Command, places func() []config.Place) {
	help := cmd.HelpFunc()
	cmd.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		cmd.Long = strings.Replace(cmd.Long, partsHere, listed(places()), 1)
		help(cmd, args)
	})
}

// completeKeys completes the keys of a config after --set.
func completeKeys(all func() []string) func(_ *cobra.Command, _ []string, typed string) (keys []string, _ cobra.ShellCompDirective) {
	return func(_ *cobra.Command, _ []string, typed string) (keys []string, _ cobra.ShellCompDirective) {
		for _, key := range all() {
			if strings.HasPrefix(key, typed) {
				keys = append(keys, key+"=")
			}
		}
		return keys, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
	}
}
