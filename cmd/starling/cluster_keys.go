package main

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling/cluster/keyring"
)

func newClusterKeys() *cobra.Command {
	var (
		hosts []string
		days  int
	)
	cmd := &cobra.Command{
		Use:   "keys DIR",
		Short: "Make the keys by which machines of a cluster know each other",
		Long: `Keys makes a new folder with a folder for each role: server, submitter and worker. Only who has the folder of a role can
connect as that role: clients need a certificate for TLS 1.3 and an nkey, both. A worker may take and compute tasks; it can neither
submit any nor read what it has not been given. Copy to each machine the folder of its role alone, for instance by scp. Whoever has the folder submitter
can read, submit and remove all runs.

Name with --host every name and address by which workers and submitters reach the servers; localhost is always among them.

To renew the keys before they expire, or for a server on another host, make another folder, copy it, and start the server and the workers
again: runs go on from what is stored. Old keys are worth nothing from then on. No key that signs certificates is kept.`,
		Example: `  starling cluster keys KEYS --host node1.lab.org --host 10.0.0.1
  scp -r KEYS/worker node2.lab.org:worker-keys`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, out := args[0], cmd.OutOrStdout()
			if days < 1 || days > 3650 {
				return wrongUse("--days %d: want a number from 1 to 3650", days)
			}
			expires, err := keyring.Write(dir, hosts, time.Duration(days)*24*time.Hour)
			if err != nil {
				return usageError{err}
			}
			for _, role := range []struct {
				role keyring.Role
				what string
			}{
				{keyring.Server, "for the machine of starling cluster serve"},
				{keyring.Submitter, "for who starts, watches and removes runs"},
				{keyring.Worker, "for the machines that compute"},
			} {
				beside(out, fmt.Sprintf("%-24s", filepath.Join(dir, string(role.role))), role.what)
			}
			wrap(out, fmt.Sprintf("they expire on %s: until then, make another folder and start the server and the workers with it", expires.Format("2006-01-02")))
			if len(hosts) == 0 {
				wrap(out, "the server is known by localhost alone; for other machines, make keys with --host NAME of the server")
			}
			return nil
		},
	}
	cmd.Flags().StringArrayVar(&hosts, "host", nil, "name or address `HOST` by which others reach the server; may be repeated")
	cmd.Flags().IntVar(&days, "days", 365, "`N` days until the keys expire")
	return cmd
}
