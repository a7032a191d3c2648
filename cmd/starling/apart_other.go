//go:build !unix

package main

import "syscall"

// apart is for systems with process groups.
func apart() *syscall.SysProcAttr { return nil }
