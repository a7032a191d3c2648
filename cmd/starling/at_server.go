package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling/cluster/broker"
	"github.com/starling-smc/starling/cluster/keyring"
	"github.com/starling-smc/starling/internal/numeral"
)

// atServer are the flags of commands that use a server.
type atServer struct{ server, keys string }

const (
	defaultAddress = "127.0.0.1:4222"
	ownServer      = "nats://" + defaultAddress
)

// flags adds --server and --keys. otherwise is the server where none is named.
func (a *atServer) flags(cmd *cobra.Command, otherwise string) {
	cmd.Flags().StringVar(&a.server, "server", otherwise, "`URL` of the server: tls://HOST:PORT, or nats://HOST:PORT where it has no keys; commas stand between several servers of one cluster")
	cmd.Flags().StringVar(&a.keys, "keys", "", "folder `KEYS` of the keys that starling cluster keys has made, or the folder of one role in it")
}

// options reads the keys of a role. The caller names itself for the server's log, and may add to the options.
func (a *atServer) options(role keyring.Role) (broker.Options, error) {
	o := broker.Options{Server: a.server, Note: func(err error) { tell("starling: " + err.Error()) }}
	for _, url := range strings.Split(a.server, ",") {
		if !strings.HasPrefix(url, "nats://") && !strings.HasPrefix(url, "tls://") {
			return o, wrongUse("--server %s: want tls://HOST:PORT, or nats://HOST:PORT for a server without keys", a.server)
		}
	}
	host, err := os.Hostname()
	if err != nil {
		return o, err
	}
	o.Name = fmt.Sprintf("starling %s of process %d on %s", role, os.Getpid(), host)
	if a.keys == "" {
		return o, nil
	}
	client, err := keyring.Read(a.keys, role)
	if err != nil {
		return o, wrongUse("--keys: %w", err)
	}
	o.TLS, o.Seed, o.Inbox = client.TLS, client.Seed, client.Inbox
	return o, nil
}

// connect connects to the server as a submitter.
func (a *atServer) connect(ctx context.Context) (*broker.Broker, error) {
	o, err := a.options(keyring.Submitter)
	if err != nil {
		return nil, err
	}
	return broker.Connect(ctx, o)
}

// byteCount is a flag of a number of bytes, such as 500MB.
type byteCount int64

// Set implements pflag.Value.
func (b *byteCount) Set(text string) error {
	for _, u := range numeral.ByteUnits {
		number, has := strings.CutSuffix(text, u.Name)
		if !has {
			continue
		}
		n, err := strconv.ParseFloat(number, 64)
		if err != nil || !(n > 0) || n*u.Bytes > 1e18 {
			break
		}
		*b = byteCount(n * u.Bytes)
		return nil
	}
	return fmt.Errorf("want a number of bytes with its unit, as in 500MB or 20GB")
}

// String implements pflag.Value.
func (b *byteCount) String() string {
	if *b == 0 {
		return ""
	}
	return inBytes(int64(*b))
}

// Type implements pflag.Value.
func (b *byteCount) Type() string { return "BYTES" }

// inBytes writes a number of bytes for people.
func inBytes(n int64) string {
	for _, u := range numeral.ByteUnits {
		if float64(n) >= u.Bytes {
			return fmt.Sprintf("%.1f %s", float64(n)/u.Bytes, u.Name)
		}
	}
	return fmt.Sprintf("%d B", n)
}
