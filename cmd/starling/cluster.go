package main

import "github.com/spf13/cobra"

func newCluster() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cluster",
		Short: "Runs on several machines: keys, the server, and what is going on",
		Example: `  starling cluster keys KEYS --host node1
  starling cluster serve --dir STORE --listen node1:4222 --keys KEYS
  starling cluster status --server tls://node1:4222 --keys KEYS`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newClusterKeys(), newClusterServe(), newClusterStatus(), newClusterCancel(), newClusterForget())
	return cmd
}
