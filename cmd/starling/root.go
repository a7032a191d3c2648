package main

import (
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling/internal/lanes"
)

// newRoot builds the command. used is set once the command line has been understood: errors before are wrong use.
func newRoot(used *bool) *cobra.Command {
	root := &cobra.Command{
		Use:   "starling",
		Short: "Bayesian neural networks by sequential Monte Carlo",
		Long: `starling trains neural networks that know what they do not know: not one set of weights but a weighted
ensemble, sampled from the posterior by sequential Monte Carlo or by chains, on this machine's CPU.`,
		Example: `  starling fit mnist7                    train on built-in data, and judge it
  starling presets mnist7 > mine.yaml    a commented config to start from
  starling fit mine.yaml --out runs/mine`,
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(*cobra.Command, []string) error {
			if err := lanes.KernelError(); err != nil {
				return usageError{err}
			}
			*used = true
			return nil
		},
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{flagError(err)} })
	root.SetHelpCommand(newHelp())
	root.AddCommand(newFit(), newEvaluate(), newPredict(), newReport(), newCompare(), newPresets(), newData(), newBench(), newReproduce(), newVersion())
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

// flagError says what a flag's value should be, where the parser only tells which of its functions refused it.
func flagError(err error) error {
	text, function, found := strings.Cut(err.Error(), ": strconv.")
	switch {
	case !found:
		return err
	case strings.HasPrefix(function, "ParseBool"):
		return errors.New(text + ": want true or false")
	}
	return errors.New(text + ": want a whole number")
}

// newHelp is cobra's own help but for a command that does not exist, which is wrong use.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "Help about any command",
		RunE: func(cmd *cobra.Command, args []string) error {
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

// dataDir adds --data-dir, which defaults to the environment.
func dataDir(cmd *cobra.Command, dir *string) {
	cmd.Flags().StringVar(dir, "data-dir", os.Getenv("STARLING_DATA"), "folder `DIR` of the data sets that are not built in (default $STARLING_DATA)")
	cmd.Flag("data-dir").DefValue = ""
}

// asJSON adds --json.
func asJSON(cmd *cobra.Command, on *bool) {
	cmd.Flags().BoolVar(on, "json", false, "print one JSON object")
}
