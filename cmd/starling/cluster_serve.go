package main

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling/cluster/server"
)

func newClusterServe() *cobra.Command {
	var (
		o              server.Options
		peers          string
		store, runData byteCount
	)
	cmd := &cobra.Command{
		Use:   "serve --dir DIR",
		Short: "Serve the queue and the store of runs on several machines",
		Long: `Serve keeps the tasks, data, states and results of runs in a folder, and hands tasks to workers. It computes nothing. An interrupt ends
it; runs go on when it starts again with the same folder. All that it has acknowledged is on the disk.

Without --listen it listens on ` + defaultAddress + `, which only this machine reaches. Another address needs keys: see starling cluster keys. Write
0.0.0.0:PORT to listen on all networks of the machine.

Three servers with --peers keep three copies of everything, and go on when one of them is down. Each server has a folder and a machine of
its own, and all have keys that were made together. They reach each other at the port 2000 above the one for clients: 6222 for 4222.

A run that was done, cancelled or failed a week ago is removed, but for its folder where it was submitted (--forget-after).

The folder must be on a disk of this machine: a network file system may lose what was acknowledged.`,
		Example: `  starling cluster serve --dir STORE
  starling cluster serve --dir STORE --listen 10.0.0.1:4222 --keys KEYS`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Dir == "" {
				return wrongUse("say where to store: --dir DIR")
			}
			if peers != "" {
				o.Peers = strings.Split(peers, ",")
			}
			o.StoreBytes, o.RunBytes = int64(store), int64(runData)
			o.Log = func(text string) { tell("starling: " + text) }
			s, err := server.Start(o)
			if wrong := (*server.OptionError)(nil); errors.As(err, &wrong) {
				return usageError{err}
			}
			if err != nil {
				return err
			}
			showServing(cmd, s, o)
			select {
			case <-cmd.Context().Done():
			case err := <-s.Broken():
				return errors.Join(err, s.Close())
			}
			if err := s.Close(); err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), "stopped; runs go on when the server starts again")
			return err
		},
	}
	cmd.Flags().StringVar(&o.Dir, "dir", "", "folder `DIR` of all that is stored; made if it does not exist")
	cmd.Flags().StringVar(&o.Listen, "listen", defaultAddress, "`HOST:PORT` to listen on")
	cmd.Flags().StringVar(&o.Keys, "keys", "", "folder `KEYS` that starling cluster keys has made, or its folder server")
	cmd.Flags().StringVar(&peers, "peers", "", "`HOST:PORT,…` of all three servers of a cluster, as in their --listen")
	cmd.Flags().StringVar(&o.Name, "name", "", "`NAME` of this server among its peers, the same after each start (default: the host's name and the port)")
	cmd.Flags().Var(&store, "store", "store at most so many `BYTES`, as in 200GB (default: three quarters of the free disk)")
	cmd.Flags().DurationVar(&o.ForgetAfter, "forget-after", 7*24*time.Hour, "remove a run that ended so much `TIME` ago; 0: never")
	cmd.Flags().Var(&runData, "run-store", "end a run that has stored more than so many `BYTES`, as in 20GB (default: no limit)")
	return cmd
}

// showServing says where the server is reached, by whom, and what it stores.
func showServing(cmd *cobra.Command, s *server.Server, o server.Options) {
	out, info := cmd.OutOrStdout(), s.Info()
	fmt.Fprintf(out, "serves at %s, stores in %s: %s of at most %s\n", s.Address(), o.Dir, inBytes(info.Stored), inBytes(info.Limit))
	if o.Keys == "" {
		wrap(out, "no keys: only this machine reaches the server, and every user of this machine can read, change and remove all runs")
		wrap(out, "on this machine: starling worker --server nats://"+s.Address())
		return
	}
	at := s.Address()
	if host, port, err := net.SplitHostPort(at); err == nil && net.ParseIP(host).IsUnspecified() {
		wrap(out, "it listens on every network of this machine")
		at = net.JoinHostPort("HOST", port)
	}
	expires := s.Expires()
	wrap(out, "clients need keys that were made with "+o.Keys+", which expire on "+expires.Format("2006-01-02"))
	if left := time.Until(expires); left < 30*24*time.Hour {
		tell(fmt.Sprintf("starling: the keys expire in %d days: make new ones with starling cluster keys", int(left.Hours()/24)))
	}
	wrap(out, "on every machine: starling worker --server tls://"+at+" --keys KEYS")
}
