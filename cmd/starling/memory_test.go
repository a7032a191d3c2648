package main

import (
	"testing"
	"testing/fstest"
)

// TestAvailable: the least of what the machine has and of what the control groups allow, in either version.
func TestAvailable(t *testing.T) {
	machine := "MemTotal:  9000 kB\nMemAvailable:    4000 kB\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"nothing known": {nil, 0},
		"machine":       {map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "0::/\n"}, 4000 << 10},
		"group": {map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max": "1000000\n", "sys/fs/cgroup/a/memory.max": "max\n"}, 1000000},
		"group around it": {map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max": "1000000\n", "sys/fs/cgroup/a/memory.max": "900000\n"}, 900000},
		"container": {map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "5\n"}, 5},
		"version 1": {map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "4:cpu:/x\n3:memory:/y\n",
			"sys/fs/cgroup/memory/y/memory.limit_in_bytes": "77\n", "sys/fs/cgroup/x/memory.max": "3\n"}, 77},
		"much in version 1": {map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "3:memory:/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 4000 << 10},
		"nonsense": {map[string]string{"proc/meminfo": "MemAvailable:\n", "proc/self/cgroup": "?\n"}, 0},
	} {
		root := fstest.MapFS{}
		for file, text := range c.files {
			root[file] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := available(root); got != c.want {
			t.Errorf("%s: %d bytes, want %d", name, got, c.want)
		}
	}
}
