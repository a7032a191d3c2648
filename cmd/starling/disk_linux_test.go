package main

import (
	"os"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// mayMount says whether this process may make small file systems.
func mayMount() bool {
	dir, err := os.MkdirTemp("", "mount")
	if err != nil {
		return false
	}
	defer os.Remove(dir)
	if syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k") != nil {
		return false
	}
	return syscall.Unmount(dir, 0) == nil
}

// smallDisk DIR SIZE [ro]: makes a folder a file system of this size, or changes the one that is there.
func smallDisk(ts *testscript.TestScript, neg bool, args []string) {
	dir, flags := ts.MkAbs(args[0]), uintptr(0)
	if len(args) > 2 {
		flags = syscall.MS_RDONLY
	}
	if _, err := os.Stat(dir); err == nil {
		ts.Check(syscall.Mount("tmpfs", dir, "tmpfs", flags|syscall.MS_REMOUNT, "size="+args[1]))
		return
	}
	ts.Check(os.Mkdir(dir, 0o777))
	ts.Check(syscall.Mount("tmpfs", dir, "tmpfs", flags, "size="+args[1]))
	ts.Defer(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
}
