package cluster_test

import (
	"context"
	"fmt"
	"strconv"

	"github.com/starling-smc/starling/cluster"
)

// Two workers compute the squares of four numbers. A part's number is all that it needs here; a real task names its config and data, too.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	c := cluster.InMemory(0, 0)
	square := func(_ context.Context, job *cluster.Job) ([]byte, error) {
		return strconv.AppendInt(nil, int64(job.Task.Part*job.Task.Part), 10), nil
	}
	for _, name := range []string{"one", "two"} {
		w := &cluster.Worker{Cluster: c, Name: name, Work: square, Version: "1.0", Arch: "amd64", Kernel: "go"}
		go w.Run(ctx)
	}
	var tasks []cluster.Task
	for part := range 4 {
		tasks = append(tasks, cluster.Task{Version: "1.0", Arch: "amd64", Kernels: []string{"go"}, Phase: "squares", Part: part})
	}
	err := (&cluster.Coordinator{Cluster: c}).Do(ctx, tasks, func(i int, end cluster.End) error {
		fmt.Println(i, string(end.Result))
		return nil
	})
	fmt.Println(err)
	// Output:
	// 0 0
	// 1 1
	// 2 4
	// 3 9
	// <nil>
}
