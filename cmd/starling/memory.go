package main

import (
	"bufio"
	"io/fs"
	"math"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
)

// memoryLimit is the number of bytes that a run may take: GOMEMLIMIT, or the memory that the machine and the process's control
// group have left, which then becomes the garbage collector's limit. It is 0 if the limit is unknown.
func memoryLimit(root fs.FS) int64 {
	if limit := debug.SetMemoryLimit(-1); limit != math.MaxInt64 {
		return limit
	}
	limit := available(root)
	if limit > 0 {
		debug.SetMemoryLimit(limit)
	}
	return limit
}

// limitGarbage sets GOGC to 20, unless the environment sets it: garbage grows to a fifth of the memory in use at most.
// Collecting arrays of numbers is cheap, and particles or examples may be most of the memory.
func limitGarbage() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(20)
	}
}

// available reads Linux's files below root: the memory that is available without swapping, and the limits of the process's
// control group and of the groups around it, in version 1 or 2. Elsewhere it is 0.
func available(root fs.FS) int64 {
	least := int64(math.MaxInt64)
	take := func(n int64, ok bool) {
		if ok && n > 0 {
			least = min(least, n)
		}
	}
	take(field(root, "proc/meminfo", "MemAvailable:"))
	groups, _ := fs.ReadFile(root, "proc/self/cgroup")
	for _, line := range strings.Split(strings.TrimSpace(string(groups)), "\n") {
		parts := strings.SplitN(line, ":", 3) // number:controllers:path
		if len(parts) < 3 {
			continue
		}
		base, file := "sys/fs/cgroup", "memory.max"
		switch {
		case parts[1] == "memory":
			base, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		case parts[1] != "":
			continue
		}
		for dir := path.Clean("/" + parts[2]); ; dir = path.Dir(dir) {
			text, err := fs.ReadFile(root, path.Join(base, dir, file))
			n, bad := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64) // "max" is no limit
			take(n, err == nil && bad == nil)
			if dir == "/" {
				break
			}
		}
	}
	if least == math.MaxInt64 {
		return 0
	}
	return least
}

// field reads a value in bytes from a file of lines "name value kB".
func field(root fs.FS, file, name string) (int64, bool) {
	f, err := root.Open(file)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) > 1 && words[0] == name {
			n, err := strconv.ParseInt(words[1], 10, 64)
			return n << 10, err == nil
		}
	}
	return 0, false
}
