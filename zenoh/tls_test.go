package zenoh

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// authority signs certificates for the tests and writes them to files.
type authority struct {
	t    testing.TB
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t testing.TB) *authority {
	t.Helper()
	a := &authority{t: t, dir: t.TempDir()}
	a.key = must[*ecdsa.PrivateKey](t)(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "tests"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der := must[[]byte](t)(x509.CreateCertificate(rand.Reader, tmpl, tmpl, &a.key.PublicKey, a.key))
	a.cert = must[*x509.Certificate](t)(x509.ParseCertificate(der))
	a.write("ca.pem", "CERTIFICATE", der)
	return a
}

func (a *authority) write(name, kind string, der []byte) string {
	path := filepath.Join(a.dir, name)
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		a.t.Fatal(err)
	}
	return path
}

// issue makes a certificate for 127.0.0.1 and returns the files of it and its key.
func (a *authority) issue(name string, serial int64) (cert, key string) {
	a.t.Helper()
	k := must[*ecdsa.PrivateKey](a.t)(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	der := must[[]byte](a.t)(x509.CreateCertificate(rand.Reader, tmpl, a.cert, &k.PublicKey, a.key))
	return a.write(name+".pem", "CERTIFICATE", der), a.write(name+"-key.pem", "PRIVATE KEY", must[[]byte](a.t)(x509.MarshalPKCS8PrivateKey(k)))
}

func TestTLSWithReference(t *testing.T) {
	a := newAuthority(t)
	cert, key := a.issue("router", 2)
	clientCert, clientKey := a.issue("client", 3)
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	for _, mutual := range []bool{false, true} {
		t.Run(fmt.Sprint("mutual ", mutual), func(t *testing.T) {
			secure, plain := fmt.Sprintf("tls/127.0.0.1:%d", freePort(t)), fmt.Sprintf("tcp/127.0.0.1:%d", freePort(t))
			config := args{
				"transport/link/tls/root_ca_certificate": filepath.Join(a.dir, "ca.pem"),
				"transport/link/tls/listen_certificate":  cert,
				"transport/link/tls/listen_private_key":  key,
				"transport/link/tls/enable_mtls":         mutual,
			}
			startPeer(t).open(args{"mode": "router", "listen": []string{secure, plain}, "config": config})
			p := client(t, plain)
			cfg := &tls.Config{RootCAs: pool}
			if mutual {
				cfg.Certificates = []tls.Certificate{must[tls.Certificate](t)(tls.LoadX509KeyPair(clientCert, clientKey))}
			}
			s := session(t, secure, func(c *Config) { c.TLS = cfg })
			ch := make(chan got, 10)
			must[*Subscriber](t)(s.NewSubscriber("a/*", func(m *Sample) { ch <- take(m) }, SubscriberOptions{}))
			settle(t, s)
			p.call("sub", args{"key": "b"}, nil)
			p.call("put", args{"key": "a/x", "payload": args{"size": 500_000, "fill": 3}, "block": true}, nil)
			if m := within(t, "sample", ch); m.Payload != digest(fill(500_000, 3)) {
				t.Errorf("%+v", m)
			}
			p.call("liveget", args{"key": "settle/nothing"}, nil)
			if err := s.Put(bg, "b", fill(700_000, 4), PublisherOptions{Congestion: Block}, PutOptions{}); err != nil {
				t.Error(err)
			}
			if e := p.event(); e.Payload.SHA != digest(fill(700_000, 4)) {
				t.Errorf("%+v", e)
			}
			// Who does not know the authority, or is not known, gets no session.
			bad := Config{Connect: []string{secure}, OpenTimeout: 2 * time.Second}
			if mutual {
				bad.TLS = &tls.Config{RootCAs: pool}
			}
			if s, err := Open(bg, bad); err == nil {
				_ = s.Close()
				t.Error("a session without the right certificates")
			}
		})
	}
}
