package fetch

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// content is larger than the buffers between server and client.
var content = func() []byte {
	b := make([]byte, 300_000)
	x := uint32(1)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return b
}()

func sum(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }

// answer is the behaviour of a server for one request. The last answer of a list serves all further requests.
type answer func(w http.ResponseWriter, r *http.Request)

// good serves the content correctly, with ranges.
func good(w http.ResponseWriter, r *http.Request) { serve(w, r, `"v1"`, content) }

func serve(w http.ResponseWriter, r *http.Request, tag string, b []byte) {
	w.Header().Set("ETag", tag)
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(string(b)))
}

func status(code int) answer {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// cut sends the first n bytes of what was asked for, then breaks the connection.
func cut(n int) answer {
	return func(w http.ResponseWriter, r *http.Request) {
		good(&cutter{w, n}, r)
	}
}

type cutter struct {
	http.ResponseWriter
	left int
}

func (c *cutter) Write(b []byte) (int, error) {
	b = b[:min(len(b), c.left)]
	n, err := c.ResponseWriter.Write(b)
	if c.left -= n; c.left == 0 {
		http.NewResponseController(c.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	return n, err
}

// whole sends bytes with status 200 for every request, chunked unless length is at least 0.
func whole(b []byte, length int) answer {
	return func(w http.ResponseWriter, r *http.Request) {
		if length >= 0 {
			w.Header().Set("Content-Length", fmt.Sprint(length))
		}
		for rest := b; len(rest) > 0; rest = rest[min(len(rest), 50_000):] {
			w.Write(rest[:min(len(rest), 50_000)])
			http.NewResponseController(w).Flush()
		}
	}
}

func silent(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// halfThenSilent sends half of the content and then nothing.
func halfThenSilent(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Length", fmt.Sprint(len(content)))
	w.Write(content[:100_000])
	http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

// steady takes longer in all than an attempt may be silent, but is never silent for that long.
func steady(w http.ResponseWriter, r *http.Request) {
	for k := range 6 {
		time.Sleep(700 * time.Millisecond)
		w.Write(content[50_000*k : 50_000*(k+1)])
		http.NewResponseController(w).Flush()
	}
}

func changed(tag string) answer {
	return func(w http.ResponseWriter, r *http.Request) {
		other := append([]byte{}, content...)
		other[7]++
		serve(&cutter{w, 150_000}, r, tag, other)
	}
}

func partial(contentRange string, b []byte) answer {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Range", contentRange)
		w.WriteHeader(http.StatusPartialContent)
		w.Write(b)
	}
}

func redirect(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/elsewhere" {
		good(w, r)
		return
	}
	http.Redirect(w, r, "/elsewhere", http.StatusFound)
}

func TestGet(t *testing.T) {
	wrong := append([]byte{}, content...)
	wrong[len(wrong)-1]++
	n := len(content)
	for _, c := range []struct {
		name     string
		part     []byte // left by an earlier run
		answers  []answer
		err      string // empty: the file arrives
		content  bool   // the error is ErrContent
		kept     int    // bytes of the part after an error; 0: no part
		requests int    // how many the server has seen; 0: not counted
		stall    time.Duration
	}{
		{name: "at once", answers: []answer{good}, requests: 1},
		{name: "goes on where an earlier run stopped", part: content[:1000], answers: []answer{partial(fmt.Sprintf("bytes 1000-%d/%d", n-1, n), content[1000:])}, requests: 1},
		{name: "an earlier run had all but the rename", part: content, answers: []answer{status(500)}, requests: 0},
		{name: "breaks off midway, twice", answers: []answer{cut(100_000), cut(100_000), good}, requests: 3},
		{name: "breaks off and ignores ranges", answers: []answer{cut(200_000), whole(content, n)}, requests: 2},
		{name: "ignores ranges and breaks off earlier", answers: []answer{cut(200_000), status(502), whole(content, -1)}, requests: 3},
		{name: "breaks off again and again, each time later", answers: []answer{cut(50_000)}},
		{name: "chunked, without a length", answers: []answer{whole(content, -1)}, requests: 1},
		{name: "chunked and ends early", answers: []answer{whole(content[:200_000], -1), good}, requests: 2},
		{name: "always ends early", answers: []answer{whole(content[:200_000], -1)}, err: "ended after 200000 of 300000 bytes (given up after 3", kept: 200_000},
		{name: "chunked and too long", answers: []answer{whole(append(content[:n:n], 1), -1)}, err: "more than the 300000 bytes", content: true, requests: 1},
		{name: "endless", answers: []answer{func(w http.ResponseWriter, r *http.Request) {
			for {
				if _, err := w.Write(content); err != nil {
					return
				}
			}
		}}, err: "more than the 300000 bytes", content: true, requests: 1},
		{name: "says a length that is too short", answers: []answer{whole(content[:n-1], n-1)}, err: "the server has 299999 bytes, want 300000", content: true, requests: 1},
		{name: "says a length that is too long", answers: []answer{whole(content, n+1)}, err: "the server has 300001 bytes, want 300000", content: true, requests: 1},
		{name: "another page leaves what was there", part: content[:1000], answers: []answer{whole([]byte("<html>"), 6)}, err: "the server has 6 bytes", content: true, kept: 1000},
		{name: "says the length but sends less", answers: []answer{func(w http.ResponseWriter, r *http.Request) { whole(content[:5], n)(w, r) }, good}, requests: 2},
		{name: "other bytes", answers: []answer{whole(wrong, n)}, err: "SHA-256 " + sum(wrong) + ", want " + sum(content), content: true, requests: 1},
		{name: "other bytes, and always breaks after the last", answers: []answer{func(w http.ResponseWriter, r *http.Request) {
			whole(wrong, -1)(w, r)
			panic(http.ErrAbortHandler)
		}}, err: "SHA-256 " + sum(wrong), content: true, requests: 2},
		{name: "an earlier run had other bytes", part: wrong[n-10:], answers: []answer{good}, requests: 2},
		{name: "an earlier run had too many bytes", part: append(content[:n:n], 9), answers: []answer{good}, requests: 1},
		{name: "an earlier run had just as many other bytes", part: wrong, answers: []answer{good}, requests: 1},
		{name: "other bytes after an earlier run", part: content[:10], answers: []answer{good, whole(wrong, n)}, requests: 1},
		{name: "wrong twice after an earlier run", part: wrong, answers: []answer{whole(wrong, n)}, err: "SHA-256", content: true, requests: 1},
		{name: "the file changes in between, as its tag says", answers: []answer{changed(`"v0"`), good}, requests: 2},
		{name: "the file changes in between, and no tag says so", answers: []answer{changed(`W/"v0"`), good}, requests: 3},
		{name: "206 of another place", part: content[:1000], answers: []answer{partial(fmt.Sprintf("bytes 900-%d/%d", n-1, n), content[900:]), good}, requests: 2},
		{name: "206 of another file", part: content[:1000], answers: []answer{partial("bytes 1000-1999/2000", content[:1000]), good}, requests: 2},
		{name: "206 without a range", part: content[:1000], answers: []answer{partial("", content[1000:]), good}, requests: 2},
		{name: "206 of nonsense", part: content[:1000], answers: []answer{partial("bytes 1000-x/y", content[1000:]), good}, requests: 2},
		{name: "206 of unknown size", part: content[:1000], answers: []answer{partial("bytes 1000-299999/*", content[1000:])}, requests: 1},
		{name: "206 that is too long", part: content[:1000], answers: []answer{partial("bytes 1000-299999/300000", content[999:])}, err: "more than", content: true},
		{name: "416", part: content[:1000], answers: []answer{status(416), good}, requests: 2},
		{name: "404", answers: []answer{status(404)}, err: "404 Not Found", requests: 1},
		{name: "404 leaves what was there", part: content[:1000], answers: []answer{status(404)}, err: "404 Not Found", kept: 1000, requests: 1},
		{name: "500, 429, then good", answers: []answer{status(500), status(429), good}, requests: 3},
		{name: "always 500", answers: []answer{status(503)}, err: "503 Service Unavailable (given up after 3 attempts)", requests: 3},
		{name: "redirects", answers: []answer{redirect}, requests: 2},
		{name: "redirects to no web address", answers: []answer{func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "file:///etc/hosts", http.StatusFound)
		}}, err: "redirects to file:///etc/hosts, which is no web address", requests: 1},
		{name: "redirects for ever", answers: []answer{func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusFound) }}, err: "redirects more than 10 times", requests: 11},
		{name: "says nothing", answers: []answer{silent, good}, stall: time.Second},
		{name: "says nothing any more", answers: []answer{halfThenSilent, good}, stall: time.Second},
		{name: "slow but steady", answers: []answer{steady}, requests: 1, stall: 4 * time.Second},
		{name: "never says anything", answers: []answer{silent}, err: "no byte for 100ms (given up after 3 attempts)", requests: 3, stall: 100 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var requests atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				k := int(requests.Add(1)) - 1
				c.answers[min(k, len(c.answers)-1)](w, r)
			}))
			defer server.Close()
			path := filepath.Join(t.TempDir(), "folder", "file")
			if c.part != nil {
				if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o777), os.WriteFile(path+Part, c.part, 0o666)); err != nil {
					t.Fatal(err)
				}
			}
			var pauses []time.Duration
			client := Client{HTTP: server.Client(), Stall: c.stall, Tries: 3, Pause: func(_ context.Context, wait time.Duration) error {
				pauses = append(pauses, wait)
				return nil
			}}
			err := client.Get(t.Context(), File{[]string{server.URL + "/file"}, int64(n), sum(content)}, path)
			if c.err == "" {
				if err != nil {
					t.Fatal(err)
				}
				if got, err := os.ReadFile(path); err != nil || string(got) != string(content) {
					t.Errorf("%d bytes arrived, %v", len(got), err)
				}
			} else {
				if err == nil || !strings.Contains(err.Error(), c.err) || !strings.Contains(err.Error(), server.URL) || errors.Is(err, ErrContent) != c.content {
					t.Errorf("got %v, want one of %q", err, c.err)
				}
				if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("the file is there: %v", err)
				}
			}
			info, err := os.Lstat(path + Part)
			if c.kept == 0 && !errors.Is(err, fs.ErrNotExist) || c.kept > 0 && (err != nil || info.Size() != int64(c.kept)) {
				t.Errorf("the part is %v, %v; want %d bytes", info, err, c.kept)
			}
			if got := int(requests.Load()); c.requests > 0 && got != c.requests {
				t.Errorf("%d requests, want %d", got, c.requests)
			}
			for i, wait := range pauses {
				if wait < time.Second || i > 0 && wait > 2*pauses[i-1] {
					t.Errorf("pauses %v", pauses)
				}
			}
		})
	}
}

// An interrupt leaves what has arrived, and the next call resumes there.
func TestGetInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var asked string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked = r.Header.Get("Range"); asked == "" {
			halfThenSilent(w, r)
			return
		}
		good(w, r)
	}))
	defer server.Close()
	path := filepath.Join(t.TempDir(), "file")
	want := File{[]string{server.URL, server.URL}, int64(len(content)), sum(content)}
	client := Client{Progress: func(done int64) {
		if done == 100_000 {
			cancel()
		}
	}}
	if err := client.Get(ctx, want, path); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if info, err := os.Stat(path + Part); err != nil || info.Size() != 100_000 {
		t.Fatalf("%v, %v", info, err)
	}
	if err := new(Client).Get(t.Context(), want, path); err != nil || asked != "bytes=100000-" {
		t.Fatalf("%v, asked for %q", err, asked)
	}
}

// A pause ends with the context.
func TestPauseEnds(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(status(500)))
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	client := Client{Failed: func(err error, wait time.Duration) { cancel() }}
	err := client.Get(ctx, File{[]string{server.URL}, 1, sum(nil)}, filepath.Join(t.TempDir(), "file"))
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

// The next server continues what the first has sent; all failures are reported.
func TestMirrors(t *testing.T) {
	var asked string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch asked = r.Header.Get("Range"); r.URL.Path {
		case "/gone":
			status(410)(w, r)
		case "/wrong":
			whole([]byte("no such file"), -1)(w, r)
		default:
			good(w, r)
		}
	}))
	defer server.Close()
	client := Client{Tries: 1, Pause: func(context.Context, time.Duration) error { return nil }}
	path := filepath.Join(t.TempDir(), "file")
	urls := func(paths ...string) (list []string) {
		for _, p := range paths {
			list = append(list, server.URL+p)
		}
		return list
	}
	err := client.Get(t.Context(), File{urls("/gone", "/wrong"), int64(len(content)), sum(content)}, path)
	if err == nil || !strings.Contains(err.Error(), "410 Gone") || !strings.Contains(err.Error(), "/wrong: ended after 12 of") {
		t.Error(err)
	}
	if err := os.WriteFile(path+Part, content[:50_000], 0o666); err != nil {
		t.Fatal(err)
	}
	if err := client.Get(t.Context(), File{urls("/gone", "/good"), int64(len(content)), sum(content)}, path); err != nil || asked != "bytes=50000-" {
		t.Errorf("%v, asked for %q", err, asked)
	}
	if err := client.Get(t.Context(), File{urls("/good"), int64(len(content)), sum(content)}, path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file in the place: %v", err)
	}
}

// One server's ETag means nothing to another server.
func TestMirrorsTags(t *testing.T) {
	broken := false
	var condition string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/other":
			condition = r.Header.Get("If-Range")
			serve(w, r, `"v2"`, content)
		case broken:
			status(410)(w, r)
		default:
			broken = true
			cut(100_000)(w, r)
		}
	}))
	defer server.Close()
	client := Client{Pause: func(context.Context, time.Duration) error { return nil }}
	want := File{[]string{server.URL, server.URL + "/other"}, int64(len(content)), sum(content)}
	if err := client.Get(t.Context(), want, filepath.Join(t.TempDir(), "file")); err != nil || condition != "" {
		t.Errorf("%v, If-Range %q", err, condition)
	}
}

// Only one process at a time downloads a file; afterwards only the file is left.
func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	var client Client
	second := errors.New("not asked")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		second = client.Get(t.Context(), File{nil, 1, sum(nil)}, path)
		good(w, r)
	}))
	defer server.Close()
	if err := client.Get(t.Context(), File{[]string{server.URL}, int64(len(content)), sum(content)}, path); err != nil {
		t.Fatal(err)
	}
	if second == nil || !strings.Contains(second.Error(), "another process is fetching this file") {
		t.Error(second)
	}
	if left, _ := filepath.Glob(path + "*"); len(left) != 1 {
		t.Errorf("%q are left", left)
	}
}

// An obstacle on the disk is an error, and no server is asked.
func TestDisk(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(good))
	defer server.Close()
	want := File{[]string{"http://never.invalid/asked", server.URL}, int64(len(content)), sum(content)}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "plain"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"+Part), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"plain/file", "folder"} {
		if err := new(Client).Get(t.Context(), want, filepath.Join(dir, path)); err == nil || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", path, err)
		}
	}
	// A write that fails, as on a full disk, is not tried with the next server and keeps what was written.
	file, err := os.Open(filepath.Join(dir, "plain"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	err = new(Client).from(t.Context(), server.URL, &part{File: file, want: want})
	if !errors.As(err, new(diskError)) || !strings.Contains(err.Error(), "plain") {
		t.Errorf("a file that cannot be written: %v", err)
	}
}

// A host that does not exist is not asked again; a host whose name could not be looked up is.
func TestUnknownHost(t *testing.T) {
	for _, c := range []struct {
		missing, again bool
	}{{true, false}, {false, true}} {
		err := failedConnection(t.Context(), "http://x/", &url.Error{Op: "Get", URL: "http://x/", Err: &net.DNSError{Err: "no such host", Name: "x", IsNotFound: c.missing}})
		if errors.As(err, new(temporaryError)) != c.again || strings.Count(err.Error(), "http://x/") != 1 {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
