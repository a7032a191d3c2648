package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/internal/lanes"
)

// newRoot builds the command. understood is set once the command line was parsed: errors before are wrong use.
func newRoot(understood *bool) *cobra.Command {
	root := &cobra.Command{
		Use:   "starling",
		Short: "Bayesian neural networks by sequential Monte Carlo",
		Long: `starling trains neural networks that know what they do not know: not one set of weights but a weighted
ensemble, sampled from the posterior by sequential Monte Carlo or by chains, on this machine's CPU. It also follows the hidden
state of a model through scans of measurements, such as targets in clutter.`,
		Example: `  starling fit mnist7                          train on built-in data
  starling fit flowers.csv --target species    on a table of yours, nothing set
  starling new flowers.csv --target species    its config, to start from
  starling presets mnist7 > mine.yaml          another, commented like it
  starling fit mine.yaml --out runs/mine
  starling filter clutter3                     follow targets through scans`,
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(*cobra.Command, []string) error {
			if err := lanes.KernelError(); err != nil {
				return usageError{err}
			}
			*understood = true
			return nil
		},
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{flagError(err)} })
	root.SetHelpCommand(newHelp())
	root.AddCommand(newNew(), newFit(), newSweep(), newSBC(), newFilter(), newCalibrate(), newEvaluate(), newPredict(), newFeatures(), newReport(), newSplit(), newVerify(), newCompare(), newCluster(), newWorker(), newPresets(), newData(), newBench(), newReproduce(), newVersion())
	explainArgs(root)
	wrapHelp(root)
	return root
}

// explainArgs makes every command that is given too few or too many arguments say which it takes.
func explainArgs(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			if err == nil || strings.HasPrefix(err.Error(), "unknown command") {
				return err
			}
			given := "nothing"
			if len(args) > 0 {
				given = strings.Join(args, " ")
			}
			return wrongUse("want %s, have %s", strings.TrimSuffix(cmd.UseLine(), " [flags]"), given)
		}
	}
	for _, c := range cmd.Commands() {
		explainArgs(c)
	}
}

// flagError says what a flag's value should be; the parser's own error names the Go function that refused it.
func flagError(err error) error {
	text, function, found := strings.Cut(err.Error(), ": strconv.")
	switch {
	case !found:
		return err
	case strings.HasPrefix(function, "ParseBool"):
		return errors.New(text + ": want true or false")
	case strings.HasPrefix(function, "ParseFloat"):
		return errors.New(text + ": want numbers with commas between them, as in .1,.5,.9")
	}
	return errors.New(text + ": want a whole number")
}

// newHelp is cobra's own help command, except that help about a command that does not exist is wrong use.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [command | config [KEY]]",
		Short: "Help about any command, and about the keys of a config",
		Example: `  starling help fit
  starling help config
  starling help config method.mcmc.move`,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 && args[0] == "config" {
				return append(starling.Keys(), starling.FilterKeys()...), cobra.ShellCompDirectiveNoFileComp
			}
			return []string{"config"}, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && args[0] == "config" {
				return helpConfig(cmd, args[1:])
			}
			about, rest, err := cmd.Root().Find(args)
			if err != nil {
				return usageError{err}
			}
			if len(rest) > 0 {
				return wrongUse("no command %q to help with", strings.Join(args, " "))
			}
			return about.Help()
		},
	}
}
