package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/cluster"
	"github.com/starling-smc/starling/cluster/broker"
	"github.com/starling-smc/starling/cluster/server"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/table"
)

// presence is what a worker says of itself to who asks which workers there are.
type presence struct {
	Name    string            `json:"name"` // of the process, and no other's
	Host    string            `json:"host"`
	Version string            `json:"version"`
	Arch    string            `json:"arch"`
	Kernel  string            `json:"kernel"`
	Slots   int               `json:"slots"` // tasks that it computes at a time
	Tasks   []starling.AtWork `json:"tasks"`
}

// answerTime is how long workers and servers have to say that they are there.
const answerTime = time.Second

func newClusterStatus() *cobra.Command {
	var (
		at      atServer
		jsonOut bool
	)
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the runs and the workers at a server",
		Long: `Status shows the runs that a server knows, with the parts that are done and those that are queued or computed, and the bytes that each
run has stored; the machines with workers, and what they compute; what each server stores, and what it has refused since its start. Workers that do not
answer within a second are not shown.`,
		Example: `  starling cluster status
  starling cluster status --server tls://node1:4222 --keys KEYS --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b, err := at.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer b.Close()
			s, err := askStatus(cmd, b)
			if err != nil {
				return err
			}
			if jsonOut {
				return jsontext.Write(cmd.OutOrStdout(), s)
			}
			s.show(cmd.OutOrStdout())
			return nil
		},
	}
	at.flags(cmd, ownServer)
	asJSON(cmd, &jsonOut)
	return cmd
}

// clusterStatus is the JSON of starling cluster status.
type clusterStatus struct {
	Runs    []runAtServer `json:"runs"`
	Workers []presence    `json:"workers"`
	Servers []server.Info `json:"servers"`
	Foreign int           `json:"foreign"` // answers that this program did not write
}

type runAtServer struct {
	Run    cluster.Sum `json:"run"`
	Status string      `json:"status"`
	Reason string      `json:"reason"`
	Done   int         `json:"done"`
	Queued int         `json:"queued"`
	Bytes  int64       `json:"bytes"`
}

func askStatus(cmd *cobra.Command, b *broker.Broker) (*clusterStatus, error) {
	s := &clusterStatus{Runs: []runAtServer{}}
	runs, err := b.Runs(cmd.Context())
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		s.Runs = append(s.Runs, runAtServer{r.Sum, r.Status, r.Reason, r.Results, r.Queued, r.Bytes})
	}
	var workers, servers [][]byte
	var errWorkers, errServers error
	var both sync.WaitGroup
	both.Go(func() { workers, errWorkers = b.Workers(cmd.Context(), answerTime) })
	both.Go(func() { servers, errServers = b.Servers(cmd.Context(), answerTime) })
	both.Wait()
	if err := cmp.Or(errWorkers, errServers); err != nil {
		return nil, err
	}
	s.Workers = answers[presence](workers, &s.Foreign)
	s.Servers = answers[server.Info](servers, &s.Foreign)
	slices.SortFunc(s.Workers, func(a, b presence) int { return strings.Compare(a.Host+"\x00"+a.Name, b.Host+"\x00"+b.Name) })
	slices.SortFunc(s.Servers, func(a, b server.Info) int { return strings.Compare(a.Name, b.Name) })
	return s, cmd.Context().Err()
}

// answers decodes answers, and counts those that cannot be.
func answers[T any](texts [][]byte, foreign *int) []T {
	all := []T{}
	for _, text := range texts {
		var one T
		if json.Unmarshal(text, &one) != nil {
			*foreign++
			continue
		}
		all = append(all, one)
	}
	return all
}

// shortSum is how people name a run: the first digits of its sum, which starling cluster cancel and forget take.
func shortSum(run cluster.Sum) string { return run.String()[:12] }

func (s *clusterStatus) show(w io.Writer) {
	if len(s.Runs) == 0 {
		fmt.Fprintln(w, "no runs")
	} else {
		t := table.Table{Rows: [][]string{{"run", "status", "done", "queued", "stored"}}, Left: []int{1}}
		for _, r := range s.Runs {
			t.Add(shortSum(r.Run), r.Status, strconv.Itoa(r.Done), strconv.Itoa(r.Queued), inBytes(r.Bytes))
		}
		t.Write(w)
		for _, r := range s.Runs {
			if r.Reason != "" {
				wrap(w, shortSum(r.Run)+" failed: "+r.Reason)
			}
		}
	}
	s.showMachines(w)
	for _, i := range s.Servers {
		text := fmt.Sprintf("server %s stores %s of at most %s", i.Name, inBytes(i.Stored), inBytes(i.Limit))
		if words := i.Words(); words != "" {
			text += "; refused since its start: " + words
		}
		wrap(w, text)
	}
	if len(s.Servers) == 0 {
		wrap(w, "no server of starling answers: what the server stores and refuses is not known")
	}
	if s.Foreign > 0 {
		wrap(w, numeral.Several(s.Foreign, "answer")+" that this program did not write")
	}
}

// showMachines writes one line, or a few, for each machine.
func (s *clusterStatus) showMachines(w io.Writer) {
	if len(s.Workers) == 0 {
		fmt.Fprintln(w, "no workers")
		return
	}
	hosts := map[string][]presence{}
	for _, p := range s.Workers {
		hosts[p.Host] = append(hosts[p.Host], p)
	}
	for _, host := range slices.Sorted(maps.Keys(hosts)) {
		slots := 0
		programs, tasks := map[string]bool{}, map[string][]string{}
		for _, p := range hosts[host] {
			slots += p.Slots
			programs[p.Version+" "+p.Arch+" "+p.Kernel] = true
			for _, t := range p.Tasks {
				name := t.Phase + " of " + shortSum(t.Run)
				tasks[name] = append(tasks[name], fmt.Sprintf("%d (%d %%)", t.Part, int(100*t.Progress)))
			}
		}
		var doing []string
		for _, name := range slices.Sorted(maps.Keys(tasks)) {
			doing = append(doing, name+": parts "+strings.Join(tasks[name], ", "))
		}
		if doing == nil {
			doing = []string{"idle"}
		}
		beside(w, host, fmt.Sprintf("%s, %s, starling %s; %s", numeral.Several(len(hosts[host]), "worker"), numeral.Several(slots, "slot"),
			strings.Join(slices.Sorted(maps.Keys(programs)), " and "), strings.Join(doing, "; ")))
	}
}
