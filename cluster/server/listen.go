package server

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"

	"github.com/starling-smc/starling/cluster/keyring"
)

// handshakeTime is how long a client may take until it is known.
const handshakeTime = 10 * time.Second

// errGone says that a client or the server has ended the connection before they knew each other, as whoever looks whether the port is open does.
var errGone = errors.New("one side has gone")

// accept serves clients until the listener is closed.
func (s *Server) accept() {
	defer s.serving.Done()
	for {
		conn, err := s.listener.Accept()
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			if err == nil {
				conn.Close()
			}
			return
		}
		if err == nil {
			s.open[conn] = true
			s.serving.Add(1)
		}
		s.mu.Unlock()
		if err != nil {
			s.options.Log(fmt.Sprintf("a client could not connect: %v", err))
			time.Sleep(100 * time.Millisecond) // too many open files, as a rule
			continue
		}
		go func() {
			defer s.serving.Done()
			defer func() {
				s.mu.Lock()
				delete(s.open, conn)
				s.mu.Unlock()
				conn.Close()
			}()
			if err := s.serve(conn); err != nil && err != errGone {
				s.refused.count(err, conn.RemoteAddr().String())
			}
		}()
	}
}

// serve connects a client with the NATS server. TLS ends here, so that the guard can read what a worker sends.
func (s *Server) serve(conn net.Conn) error {
	inner, err := s.nats.InProcessConn()
	if err != nil {
		return errGone
	}
	defer inner.Close()
	fromServer := bufio.NewReaderSize(inner, 64<<10)
	g := &guard{in: conn}
	if s.keys != nil {
		secured, err := s.secure(conn, fromServer)
		if err != nil {
			return err
		}
		defer secured.Close()
		// A certificate ends also for who is connected.
		plain := conn
		shown := secured.ConnectionState().PeerCertificates[0]
		expiry := time.AfterFunc(time.Until(shown.NotAfter), func() { plain.Close() })
		defer expiry.Stop()
		role, _ := keyring.RoleOf(shown)
		g = &guard{in: secured, role: role, nkeys: s.keys.Clients}
		conn = secured
	}
	done := make(chan struct{})
	go func() {
		io.Copy(conn, fromServer) // an error is that one side has gone
		conn.Close()
		close(done)
	}()
	err = g.copy(inner)
	inner.Close()
	conn.SetWriteDeadline(time.Now().Add(time.Second)) // for the server's last words, which say why
	<-done
	return err
}

// secure sends the server's greeting, which asks for TLS, and makes the handshake.
func (s *Server) secure(conn net.Conn, fromServer *bufio.Reader) (*tls.Conn, error) {
	line, err := fromServer.ReadBytes('\n')
	if err != nil {
		return nil, errGone
	}
	greeting := map[string]any{}
	numbers := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(line, []byte("INFO "))))
	numbers.UseNumber()
	if err := numbers.Decode(&greeting); err != nil {
		return nil, fmt.Errorf("the server's greeting: %w", err)
	}
	greeting["tls_required"], greeting["tls_verify"] = true, true
	text, err := json.Marshal(greeting)
	if err != nil {
		return nil, err
	}
	deadline, cancel := context.WithTimeout(context.Background(), handshakeTime)
	defer cancel()
	conn.SetDeadline(time.Now().Add(handshakeTime))
	if _, err := fmt.Fprintf(conn, "INFO %s\r\n", text); err != nil {
		return nil, errGone
	}
	secured := tls.Server(conn, s.keys.TLS)
	if err := secured.HandshakeContext(deadline); errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) {
		return nil, errGone
	} else if err != nil {
		// The client learns why only if it can still write its first message, and then reads.
		conn.SetDeadline(time.Now().Add(time.Second))
		io.CopyN(io.Discard, conn, maxConnect)
		return nil, &refusal{unknown, "TLS: " + err.Error()}
	}
	return secured, conn.SetDeadline(time.Time{})
}

// onlyClients refuses certificates of servers.
func onlyClients(c tls.ConnectionState) error {
	if role, err := keyring.RoleOf(c.PeerCertificates[0]); err != nil || role != keyring.Worker && role != keyring.Submitter {
		return errors.New("the certificate is not a worker's or a submitter's")
	}
	return nil
}
