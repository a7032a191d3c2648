package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/method"
)

// What the program under test takes from its environment.
const (
	testServer = "STARLING_TEST_SERVER" // the server that stands for all others
	testEvery  = "STARLING_TEST_EVERY"  // the time between two plain lines of progress
)

// offline is the program with testServer as the whole network.
func offline() {
	if every := os.Getenv(testEvery); every != "" {
		var err error
		if plainEvery, err = time.ParseDuration(every); err != nil {
			panic(err)
		}
	}
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
	for began := time.Now(); time.Since(began) < testkit.Patience; time.Sleep(10 * time.Millisecond) {
		if info, err := os.Stat(ts.MkAbs(args[0])); err == nil && info.Size() > 0 {
			return
		}
	}
	ts.Fatalf("%s never comes", args[0])
}

// TestFetchProgress: the bytes that are there, of how many; the time left counts from where a download was continued.
func TestFetchProgress(t *testing.T) {
	first := func(done int64) method.Status { return downloaded("cifar10", "cifar-10-binary.tar.gz", done, 200e6) }
	second := func(done int64) method.Status { return downloaded("cifar10", "other", done, 1e6) }
	compare(t, shown(wide(80), time.Second, first(100e6), first(110e6), first(150e6), first(200e6), second(0), second(5e5), second(1e6)), []string{
		"\rcifar10      ████      cifar-10-binary.tar.gz  100.0 of 200.0 MB\x1b[K",
		"\rcifar10      ████▍     cifar-10-binary.tar.gz  110.0 of 200.0 MB      ETA 9.0 s\x1b[K",
		"\rcifar10      ██████    cifar-10-binary.tar.gz  150.0 of 200.0 MB      ETA 2.0 s\x1b[K",
		"\rcifar10      cifar-10-binary.tar.gz  200.0 of 200.0 MB                    3.0 s\x1b[K\n",
		"\rcifar10                other  0.0 of 1.0 MB\x1b[K",
		"\rcifar10      ████      other  0.5 of 1.0 MB                           ETA 1.0 s\x1b[K",
		"\rcifar10      other  1.0 of 1.0 MB                                         2.0 s\x1b[K\n",
		"",
	})
}
