package keyring

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nkeys"
)

// posix is whether modes of files say who may read them.
const posix = runtime.GOOS != "windows"

// Write makes a folder of keys that are valid for so long: folders of mode 0700, files of mode 0600. hosts are the names or addresses by which
// workers and submitters reach the servers; localhost, 127.0.0.1 and ::1 are always among them. A folder that exists is
// an error, since its keys may be in use.
func Write(dir string, hosts []string, valid time.Duration) (expires time.Time, err error) {
	for _, h := range hosts {
		if err := checkHost(h); err != nil {
			return expires, err
		}
	}
	// Clocks of machines differ somewhat.
	from := time.Now().Add(-time.Hour).Truncate(time.Second)
	expires = time.Now().Add(valid).Truncate(time.Second)
	files, err := newFiles(append([]string{"localhost", "127.0.0.1", "::1"}, hosts...), from, expires)
	if err != nil {
		return expires, err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		if errors.Is(err, os.ErrExist) {
			return expires, fmt.Errorf("%s exists, and its keys may be in use: name a folder that does not exist", dir)
		}
		return expires, err
	}
	for path, text := range files {
		path = filepath.Join(dir, path)
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if err == nil {
			err = os.WriteFile(path, text, 0o600)
		}
		if err != nil {
			return expires, errors.Join(err, os.RemoveAll(dir)) // half of the keys are of no use
		}
	}
	return expires, nil
}

// checkHost refuses what cannot be in a certificate.
func checkHost(h string) error {
	if net.ParseIP(h) != nil {
		return nil
	}
	bad := func(r rune) bool {
		return !(r == '-' || r == '.' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r == '*')
	}
	if h == "" || len(h) > 253 || strings.ContainsFunc(h, bad) {
		return fmt.Errorf("%q is no host: want a name such as node1.lab.org or an address such as 10.0.0.1, without a port", h)
	}
	return nil
}

// newFiles makes the files of the three folders, by their paths.
func newFiles(hosts []string, from, until time.Time) (map[string][]byte, error) {
	files := map[string][]byte{}
	clients := map[Role]string{}
	for _, a := range []struct {
		prefix string
		roles  []Role
	}{{"", []Role{Server, Submitter, Worker}}, {peers, []Role{Server}}} {
		ca, err := newAuthority(from, until)
		if err != nil {
			return nil, err
		}
		for _, role := range a.roles {
			certificate, key, err := ca.sign(role, hosts, from, until)
			if err != nil {
				return nil, err
			}
			at := func(name string) string { return filepath.Join(string(role), a.prefix+name) }
			files[at(authorityFile)], files[at(certificateFile)], files[at(keyFile)] = ca.pem, certificate, key
		}
	}
	for _, role := range []Role{Submitter, Worker} {
		pair, err := nkeys.CreateUser()
		if err != nil {
			return nil, err
		}
		seed, err := pair.Seed()
		if err != nil {
			return nil, err
		}
		if clients[role], err = pair.PublicKey(); err != nil {
			return nil, err
		}
		files[filepath.Join(string(role), nkeyFile)] = append(slices.Clone(seed), '\n')
	}
	text, err := json.MarshalIndent(clients, "", "  ")
	if err != nil {
		return nil, err
	}
	files[filepath.Join(string(Server), clientsFile)] = append(text, '\n')
	return files, nil
}

// authority signs certificates while the keys are made. Its key is forgotten then.
type authority struct {
	certificate *x509.Certificate
	pem         []byte
	key         *ecdsa.PrivateKey
}

func commonName(role Role) string { return "starling " + string(role) }

func newAuthority(from, until time.Time) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := newSerial()
	if err != nil {
		return nil, err
	}
	c := &x509.Certificate{SerialNumber: serial, Subject: pkix.Name{CommonName: commonName("authority")}, NotBefore: from, NotAfter: until,
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParseCertificate(der)
	return &authority{parsed, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), key}, err
}

// sign makes a certificate of a role, and its key. Only a server's certificate names hosts and serves.
func (a *authority) sign(role Role, hosts []string, from, until time.Time) (certificate, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	serial, err := newSerial()
	if err != nil {
		return nil, nil, err
	}
	c := &x509.Certificate{SerialNumber: serial, Subject: pkix.Name{CommonName: commonName(role)}, NotBefore: from, NotAfter: until,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	if role == Server {
		c.ExtKeyUsage = append(c.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
		for _, h := range hosts {
			if ip := net.ParseIP(h); ip != nil {
				c.IPAddresses = append(c.IPAddresses, ip)
			} else {
				c.DNSNames = append(c.DNSNames, h)
			}
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, c, a.certificate, &private.PublicKey, a.key)
	if err != nil {
		return nil, nil, err
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}), err
}

func newSerial() (*big.Int, error) {
	return rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
}

// firstCertificate parses the first certificate of a PEM text.
func firstCertificate(text []byte) (*x509.Certificate, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE" {
		return nil, errors.New("it has no certificate")
	}
	return x509.ParseCertificate(block.Bytes)
}
