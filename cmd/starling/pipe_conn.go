package main

import (
	"io"
	"net"
	"time"
)

// pipeConn is a connection to the process at the other end of two pipes.
type pipeConn struct {
	in  io.ReadCloser
	out io.WriteCloser
}

func (p pipeConn) Read(b []byte) (int, error)  { return p.in.Read(b) }
func (p pipeConn) Write(b []byte) (int, error) { return p.out.Write(b) }

// Close closes both ends.
func (p pipeConn) Close() error {
	p.in.Close()
	return p.out.Close()
}

func (p pipeConn) LocalAddr() net.Addr  { return pipeAddress{} }
func (p pipeConn) RemoteAddr() net.Addr { return pipeAddress{} }

// Deadlines are for networks: the other end of a pipe is there, or the pipe has ended.
func (p pipeConn) SetDeadline(time.Time) error      { return nil }
func (p pipeConn) SetReadDeadline(time.Time) error  { return nil }
func (p pipeConn) SetWriteDeadline(time.Time) error { return nil }

type pipeAddress struct{}

func (pipeAddress) Network() string { return "pipe" }
func (pipeAddress) String() string  { return "pipe" }
