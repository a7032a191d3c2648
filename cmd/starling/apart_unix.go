//go:build unix

package main

import "syscall"

// apart puts a child into a process group of its own, so that an interrupt at the terminal does not reach it.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
