package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling/cluster/broker"
)

func newClusterCancel() *cobra.Command {
	return onRun(&cobra.Command{
		Use:   "cancel RUN",
		Short: "End a run at a server; what was computed stays there",
		Long: `Cancel ends a run: its workers stop after the step in progress, and the process that submitted it ends. What they have computed stays: submitting
the run again goes on from it. RUN is the name that starling cluster status shows, or the beginning of it.`,
		Example: "  starling cluster cancel 3f2a91c0d1e2 --server tls://node1:4222 --keys KEYS",
	}, func(ctx context.Context, b *broker.Broker, run broker.Run) (string, error) {
		if run.Status != "open" {
			return "", wrongUse("run %s is not at work: it is %s", shortSum(run.Sum), run.Status)
		}
		return fmt.Sprintf("run %s is cancelled; to go on from what was computed, submit it again; to remove it, run starling cluster forget %s", shortSum(run.Sum), shortSum(run.Sum)),
			b.Cluster().Cancel(ctx, run.Sum)
	})
}

func newClusterForget() *cobra.Command {
	return onRun(&cobra.Command{
		Use:   "forget RUN",
		Short: "Remove a run, with its results, from a server",
		Long: `Forget removes what the server has of a run: tasks, states, results, and the data that no other run uses. The run's own folder, which the
process that submitted it writes, stays. A run that is at work must be cancelled first. RUN is the name that starling cluster status shows, or the
beginning of it.`,
		Example: "  starling cluster forget 3f2a91c0d1e2 --server tls://node1:4222 --keys KEYS",
	}, func(ctx context.Context, b *broker.Broker, run broker.Run) (string, error) {
		err := b.Forget(ctx, run.Sum)
		if at := (*broker.AtWorkError)(nil); errors.As(err, &at) {
			return "", wrongUse("run %s is at work (%s): cancel it first", shortSum(run.Sum), at.Why)
		}
		return fmt.Sprintf("run %s is removed from the server: it had stored %s", shortSum(run.Sum), inBytes(run.Bytes)), err
	})
}

// onRun makes a command that does something with one run at a server. do returns what is then said.
func onRun(cmd *cobra.Command, do func(context.Context, *broker.Broker, broker.Run) (string, error)) *cobra.Command {
	var at atServer
	cmd.Args = cobra.ExactArgs(1)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		b, err := at.connect(cmd.Context())
		if err != nil {
			return err
		}
		defer b.Close()
		run, err := findRun(cmd.Context(), b, args[0])
		if err != nil {
			return err
		}
		said, err := do(cmd.Context(), b, run)
		if err != nil {
			return err
		}
		wrap(cmd.OutOrStdout(), said)
		return nil
	}
	at.flags(cmd, ownServer)
	return cmd
}

// findRun finds the one run whose name begins so.
func findRun(ctx context.Context, b *broker.Broker, name string) (broker.Run, error) {
	runs, err := b.Runs(ctx)
	if err != nil {
		return broker.Run{}, err
	}
	var found []broker.Run
	for _, r := range runs {
		if name != "" && strings.HasPrefix(r.Sum.String(), strings.ToLower(name)) {
			found = append(found, r)
		}
	}
	switch len(found) {
	case 0:
		return broker.Run{}, wrongUse("the server has no run %q: starling cluster status lists them", name)
	case 1:
		return found[0], nil
	}
	return broker.Run{}, wrongUse("%d runs begin with %q: give more digits of the one that you mean", len(found), name)
}
