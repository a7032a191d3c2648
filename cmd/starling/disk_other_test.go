//go:build !linux

package main

import "github.com/rogpeppe/go-internal/testscript"

func mayMount() bool { return false }

func smallDisk(ts *testscript.TestScript, neg bool, args []string) { ts.Fatalf("no small disks here") }
