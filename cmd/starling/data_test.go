package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// testServer names, for the program under test, the server that stands for all others.
const testServer = "STARLING_TEST_SERVER"

// offline is the program with testServer as the whole network.
func offline() {
	server, err := url.Parse(os.Getenv(testServer))
	if err != nil {
		panic(err)
	}
	transport = to{server}
	main()
}

// to sends every request to one server.
type to struct{ server *url.URL }

func (t to) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.server.Host == "" {
		return nil, fmt.Errorf("the test has no server for %s", r.URL)
	}
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = t.server.Scheme, t.server.Host
	return http.DefaultTransport.RoundTrip(r)
}

// serve missing: a server that has nothing.
// serve zeros N: every file is N zeros.
// serve silent N: every file has N bytes, of which only some come.
// serve folder DIR: files of a folder by their names, in any folder; the first answer breaks midway.
func serve(ts *testscript.TestScript, neg bool, args []string) {
	size := 0
	if args[0] == "zeros" || args[0] == "silent" {
		var err error
		size, err = strconv.Atoi(args[1])
		ts.Check(err)
	}
	var first sync.Once
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch args[0] {
		case "zeros":
			w.Header().Set("Content-Length", args[1])
			w.Write(make([]byte, size))
		case "silent":
			w.Header().Set("Content-Length", args[1])
			w.Write(make([]byte, size/2))
			http.NewResponseController(w).Flush()
			<-r.Context().Done()
		case "folder":
			file := filepath.Join(args[1], path.Base(r.URL.Path))
			first.Do(func() {
				whole, err := os.ReadFile(file)
				if err != nil {
					return
				}
				w.Header().Set("Content-Length", fmt.Sprint(len(whole)))
				w.Write(whole[:len(whole)/2])
				http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			})
			http.ServeFile(w, r, file)
		default:
			http.NotFound(w, r)
		}
	}))
	ts.Defer(server.Close)
	ts.Defer(server.CloseClientConnections)
	ts.Setenv(testServer, server.URL)
}

// await FILE: until a file is there that is not empty.
func await(ts *testscript.TestScript, neg bool, args []string) {
	for range 1000 {
		if info, err := os.Stat(ts.MkAbs(args[0])); err == nil && info.Size() > 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	ts.Fatalf("%s never comes", args[0])
}

// TestFetchProgress: what has come of how much, in lines of 80 columns that are redrawn; the time left counts from where
// a download goes on.
func TestFetchProgress(t *testing.T) {
	var out bytes.Buffer
	clock := time.Now()
	p := &progress{out: &out, width: func() int { return 80 }, now: func() time.Time {
		clock = clock.Add(time.Second)
		return clock
	}}
	first := p.download("cifar10", "cifar-10-binary.tar.gz", 200e6)
	for _, done := range []int64{100e6, 110e6, 150e6, 200e6} {
		first(done)
	}
	second := p.download("cifar10", "other", 1e6)
	second(5e5)
	second(1e6)
	p.end()
	want := []string{
		"\rcifar10                cifar-10-binary.tar.gz  100.0 of 200.0 MB\x1b[K",
		"\rcifar10      ▊         cifar-10-binary.tar.gz  110.0 of 200.0 MB       ETA 18 s\x1b[K",
		"\rcifar10      ████      cifar-10-binary.tar.gz  150.0 of 200.0 MB      ETA 3.0 s\x1b[K",
		"\rcifar10      cifar-10-binary.tar.gz  200.0 of 200.0 MB                    4.0 s\x1b[K\n",
		"\rcifar10                other  0.5 of 1.0 MB\x1b[K",
		"\rcifar10      other  1.0 of 1.0 MB                                         2.0 s\x1b[K\n",
	}
	if got := out.String(); got != strings.Join(want, "") {
		t.Errorf("%q", got)
	}
}
