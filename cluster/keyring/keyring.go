// Package keyring makes and reads the keys of a cluster: certificates for TLS, and nkeys (Ed25519) that say what their holder may do.
//
// [Write] makes one folder that has a folder for each [Role]. A machine needs only the folder of its role. The private key that signs the
// certificates is not kept, so nobody can sign one more. To renew the keys, or for a server on another host, make a new folder.
package keyring

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nkeys"
)

// Role is what the holder of keys does.
type Role string

// The roles. Each has a folder of its name.
const (
	Server    Role = "server"    // serves clients and other servers
	Submitter Role = "submitter" // submits, watches, cancels and forgets runs
	Worker    Role = "worker"    // computes tasks that it is given
)

// Files of a role's folder.
const (
	authorityFile   = "authority.pem"   // the certificate that has signed those of clients and servers
	certificateFile = "certificate.pem" // of the role, and its key
	keyFile         = "key.pem"
	nkeyFile        = "nkey"         // the seed of a client's nkey
	clientsFile     = "clients.json" // of the server: each client's role and public nkey
	peers           = "peer-"        // before the names of the first three files: those that servers show to each other
)

// Client is what a worker or a submitter shows to a server.
type Client struct {
	Role  Role
	TLS   *tls.Config
	Seed  []byte // of its nkey
	Inbox string // prefix of the subjects that the client gets answers on: the server of starling lets a worker listen on no others
}

// WorkerInbox is the Inbox of workers.
const WorkerInbox = "_INBOX_worker"

// Servers is what a server shows to its clients and to other servers.
type Servers struct {
	TLS     *tls.Config     // for clients
	Peers   *tls.Config     // for other servers: no client's certificate is accepted
	Clients map[Role]string // the public nkey of each role
	Expires time.Time       // the earliest end of a certificate
}

// Read reads the keys of a role from the folder that [Write] made, or from the role's own folder. A folder of another role is an error.
func Read(dir string, role Role) (Client, error) {
	dir, err := roleFolder(dir, role)
	if err != nil {
		return Client{}, err
	}
	pair, _, err := readPair(dir, "")
	if err != nil {
		return Client{}, err
	}
	authority, err := readAuthority(dir, "")
	if err != nil {
		return Client{}, err
	}
	path := filepath.Join(dir, nkeyFile)
	seed, err := readPrivate(path)
	if err != nil {
		return Client{}, err
	}
	seed = []byte(strings.TrimSpace(string(seed)))
	if _, err := nkeys.FromSeed(seed); err != nil {
		return Client{}, fmt.Errorf("%s has no nkey (%w): copy the folder again from where starling cluster keys made it", path, err)
	}
	c := Client{role, &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: authority, Certificates: []tls.Certificate{pair}}, seed, "_INBOX"}
	if role == Worker {
		c.Inbox = WorkerInbox
	}
	return c, nil
}

// ReadServer reads the keys of a server from the folder that [Write] made, or from its own folder.
func ReadServer(dir string) (Servers, error) {
	dir, err := roleFolder(dir, Server)
	if err != nil {
		return Servers{}, err
	}
	s := Servers{}
	for _, c := range []struct {
		prefix string
		config **tls.Config
	}{{"", &s.TLS}, {peers, &s.Peers}} {
		pair, expires, err := readPair(dir, c.prefix)
		if err != nil {
			return Servers{}, err
		}
		authority, err := readAuthority(dir, c.prefix)
		if err != nil {
			return Servers{}, err
		}
		*c.config = &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair},
			RootCAs: authority, ClientCAs: authority, ClientAuth: tls.RequireAndVerifyClientCert}
		if s.Expires.IsZero() || expires.Before(s.Expires) {
			s.Expires = expires
		}
	}
	path := filepath.Join(dir, clientsFile)
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &s.Clients)
	}
	for _, role := range []Role{Submitter, Worker} {
		if err == nil && !nkeys.IsValidPublicUserKey(s.Clients[role]) {
			err = fmt.Errorf("it has no public nkey of the role %s", role)
		}
	}
	if err != nil {
		return Servers{}, fmt.Errorf("%s: %w: copy the folder again from where starling cluster keys made it", path, err)
	}
	return s, nil
}

// roleFolder finds the folder of a role, which is dir or within dir.
func roleFolder(dir string, role Role) (string, error) {
	if within := filepath.Join(dir, string(role)); exists(filepath.Join(within, certificateFile)) {
		return within, nil
	}
	pair, err := os.ReadFile(filepath.Join(dir, certificateFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%s has no keys of a %s: name the folder that starling cluster keys made, or its folder %s", dir, role, role)
	case err != nil:
		return "", err
	}
	leaf, err := firstCertificate(pair)
	if err != nil {
		return "", fmt.Errorf("%s: %w: copy the folder again from where starling cluster keys made it", filepath.Join(dir, certificateFile), err)
	}
	have, err := RoleOf(leaf)
	if err != nil {
		return "", fmt.Errorf("%s: %w", filepath.Join(dir, certificateFile), err)
	}
	if have != role {
		return "", fmt.Errorf("%s has the keys of a %s, and this needs those of a %s: name that folder", dir, have, role)
	}
	return dir, nil
}

// RoleOf returns the role that a certificate was made for.
func RoleOf(c *x509.Certificate) (Role, error) {
	for _, role := range []Role{Server, Submitter, Worker} {
		if c.Subject.CommonName == commonName(role) {
			return role, nil
		}
	}
	return "", fmt.Errorf("the certificate of %q was not made by starling cluster keys", c.Subject.CommonName)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// readPair reads a certificate and its key. One that has expired, or is not valid yet, is an error: the other side would only say that
// the handshake has failed.
func readPair(dir, prefix string) (pair tls.Certificate, expires time.Time, err error) {
	path := filepath.Join(dir, prefix+certificateFile)
	certificate, err := os.ReadFile(path)
	if err != nil {
		return pair, expires, err
	}
	key, err := readPrivate(filepath.Join(dir, prefix+keyFile))
	if err != nil {
		return pair, expires, err
	}
	if pair, err = tls.X509KeyPair(certificate, key); err != nil {
		return pair, expires, fmt.Errorf("%s and its key: %w: copy the folder again from where starling cluster keys made it", path, err)
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return pair, expires, fmt.Errorf("%s: %w", path, err)
	}
	now := time.Now()
	switch {
	case now.After(leaf.NotAfter):
		return pair, expires, &ExpiredError{path, leaf.NotAfter}
	case now.Before(leaf.NotBefore):
		return pair, expires, fmt.Errorf("the certificate %s is valid from %s, and this machine's clock says %s: set the clock", path, when(leaf.NotBefore), when(now))
	}
	return pair, leaf.NotAfter, nil
}

// ExpiredError says that a certificate is no longer valid.
type ExpiredError struct {
	Path  string
	Ended time.Time
}

func (e *ExpiredError) Error() string {
	return fmt.Sprintf("the certificate %s expired on %s: %s", e.Path, when(e.Ended), Renew)
}

// Renew says how keys are renewed.
const Renew = "make new keys with starling cluster keys DIR, copy its folders to the machines, and start the server and the workers again; runs go on from what is stored"

func when(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

func readAuthority(dir, prefix string) (*x509.CertPool, error) {
	path := filepath.Join(dir, prefix+authorityFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s has no certificate: copy the folder again from where starling cluster keys made it", path)
	}
	return pool, nil
}

// readPrivate reads a file that only its owner may change, and of others at most its group may read: Kubernetes mounts secrets so.
func readPrivate(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if mode := info.Mode().Perm(); mode&0o027 != 0 && posix {
		return nil, fmt.Errorf("others on this machine may read or change %s (its mode is %04o): chmod 600 %s", path, mode, path)
	}
	return os.ReadFile(path)
}
