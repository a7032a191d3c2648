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

// memoryLimit is how many bytes a run may take: GOMEMLIMIT, or what the machine has left and at most what the process's
// control group may have, which the garbage collector is then told to keep to. 0 if nobody knows.
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

// limitGarbage lets no more than a fifth of what is in use be garbage beside it, unless GOGC says otherwise: there is little
// to look through in arrays of numbers, and particles may be most of the memory.
func limitGarbage() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(20)
	}
}

// available reads Linux's files below root: the memory that can be had without swapping, and the limits of the process's
// control group and of those around it, in either of their versions. 0 elsewhere.
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
			n, bad := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64) // "max" is none
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

// field is a value in kB of a file of lines "name value kB", in bytes.
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
