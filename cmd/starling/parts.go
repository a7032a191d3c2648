package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/smc"
)

// families are the parts, and the scales of moves, that a config can name, by the last word of the key that they stand under.
var families = []struct {
	key   string
	names []string
}{
	{"method", method.Methods.Names()},
	{"path", smc.Paths.Names()},
	{"move", mcmc.Moves.Names()},
	{"scale", mcmc.ScalingNames()},
	{"weight", smc.Weightings.Names()},
	{"scheme", smc.Schemes.Names()},
	{"when", smc.Occasions.Names()},
	{"combine", bnn.Combinations.Names()},
	{"prior", bnn.Priors.Names()},
	{"optimiser", nn.Optimisers.Names()},
	{"schedule", nn.Schedules.Names()},
	{"layers", nn.Layers.Names()},
	{"likelihood", nn.Likelihoods.Names()},
}

// parts lists the parts that a config can name, a family to a line.
func parts() string {
	var b strings.Builder
	for _, family := range families {
		left := "  " + family.key + strings.Repeat(" ", len("likelihood")-len(family.key)+1)
		beside(&b, left, strings.Join(family.names, ", "))
	}
	return strings.TrimRight(b.String(), "\n")
}

// completeKeys completes the keys of a config after --set.
func completeKeys(all []string) func(_ *cobra.Command, _ []string, typed string) (keys []string, _ cobra.ShellCompDirective) {
	return func(_ *cobra.Command, _ []string, typed string) (keys []string, _ cobra.ShellCompDirective) {
		for _, key := range all {
			if strings.HasPrefix(key, typed) {
				keys = append(keys, key+"=")
			}
		}
		return keys, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
	}
}
