package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	neturl "net/url"
	"strconv"
	"strings"
	"time"
)

// temporaryError is a failure after which another attempt may succeed.
type temporaryError struct{ error }

func (e temporaryError) Unwrap() error { return e.error }

func temporary(url, format string, args ...any) error {
	return temporaryError{fmt.Errorf("%s: "+format, append([]any{url}, args...)...)}
}

// stalled is the cause that ends an attempt without new bytes.
type stalled time.Duration

func (s stalled) Error() string { return fmt.Sprintf("no byte for %v", time.Duration(s)) }

// attempt asks a server once for the missing bytes and adds what it sends. The error is nil when all bytes have arrived.
func (c *Client) attempt(ctx context.Context, url string, p *part) error {
	limit := cmp.Or(c.Stall, 30*time.Second)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(limit, func() { cancel(stalled(limit)) })
	defer watch.Stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Accept-Encoding", "identity") // the bytes of the file, without further compression
	request.Header.Set("User-Agent", "starling")
	if p.have > 0 {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", p.have))
		if p.tag != "" {
			request.Header.Set("If-Range", p.tag)
		}
	}
	client := *cmp.Or(c.HTTP, http.DefaultClient)
	client.CheckRedirect = checkRedirect
	response, err := client.Do(request)
	if err != nil {
		return failedConnection(ctx, url, err)
	}
	defer response.Body.Close()
	if err := p.begin(url, response); err != nil {
		return err
	}
	buf := make([]byte, 128<<10)
	for {
		n, err := response.Body.Read(buf)
		watch.Reset(limit)
		if int64(n) > p.want.Size-p.have {
			if err := p.reset(); err != nil {
				return err
			}
			return fmt.Errorf("%s: %w: more than the %d bytes that the file has", url, ErrContent, p.want.Size)
		}
		if err := p.add(buf[:n]); err != nil {
			return err
		}
		if c.Progress != nil && n > 0 {
			c.Progress(p.have)
		}
		switch {
		case err == io.EOF && p.have == p.want.Size:
			return nil
		case err == io.EOF:
			return temporary(url, "ended after %d of %d bytes", p.have, p.want.Size)
		case err != nil:
			return failedConnection(ctx, url, err)
		}
	}
}

// redirectError says that a server's redirections lead nowhere. They will the next time, too.
type redirectError string

func (e redirectError) Error() string { return string(e) }

// checkRedirect refuses redirections that are endless, or that lead to something else than a server.
func checkRedirect(next *http.Request, before []*http.Request) error {
	const most = 10
	switch {
	case next.URL.Scheme != "http" && next.URL.Scheme != "https":
		return redirectError(fmt.Sprintf("redirects to %s, which is no web address", next.URL))
	case len(before) > most:
		return redirectError(fmt.Sprintf("redirects more than %d times, at last to %s", most, next.URL))
	}
	return nil
}

// failedConnection is the error of a connection that failed. If ctx ended it, the error is the cause of ctx. An unknown host is
// not a temporary failure, nor is a wrong redirection.
func failedConnection(ctx context.Context, url string, err error) error {
	var full *neturl.Error // its text repeats the address
	if errors.As(err, &full) {
		err = full.Err
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	var host *net.DNSError
	if errors.As(err, &host) && host.IsNotFound || errors.As(err, new(redirectError)) {
		return fmt.Errorf("%s: %w", url, err)
	}
	return temporary(url, "%w", err)
}

// begin reads a server's answer. The body is the rest of the file, or the file from its start if the server does not send
// parts. Bytes that have arrived are discarded only for an answer that can be the file.
func (p *part) begin(url string, r *http.Response) error {
	switch code := r.StatusCode; {
	case code == http.StatusOK:
		if r.ContentLength >= 0 && r.ContentLength != p.want.Size {
			return fmt.Errorf("%s: %w: the server has %d bytes, want %d", url, ErrContent, r.ContentLength, p.want.Size)
		}
		if err := p.reset(); err != nil {
			return err
		}
	case code == http.StatusPartialContent:
		from, size, ok := contentRange(r.Header.Get("Content-Range"))
		if !ok || from != p.have || size >= 0 && size != p.want.Size {
			asked := p.have
			if err := p.reset(); err != nil {
				return err
			}
			return temporary(url, "asked for bytes from %d of %d, answered with %q", asked, p.want.Size, r.Header.Get("Content-Range"))
		}
	case code == http.StatusRequestedRangeNotSatisfiable:
		if err := p.reset(); err != nil {
			return err
		}
		return temporary(url, "%s", r.Status)
	case code == http.StatusRequestTimeout || code == http.StatusTooManyRequests || code >= 500:
		return temporary(url, "%s", r.Status)
	default:
		return fmt.Errorf("%s: %s", url, r.Status)
	}
	if p.tag = r.Header.Get("ETag"); strings.HasPrefix(p.tag, "W/") {
		p.tag = "" // a weak tag does not identify bytes
	}
	return nil
}

// contentRange reads "bytes 5-9/10". A size of −1 means "*".
func contentRange(s string) (from, size int64, ok bool) {
	s, found := strings.CutPrefix(s, "bytes ")
	span, total, slash := strings.Cut(s, "/")
	first, _, dash := strings.Cut(span, "-")
	if !found || !slash || !dash {
		return 0, 0, false
	}
	from, err := strconv.ParseInt(first, 10, 64)
	size = -1
	if total != "*" && err == nil {
		size, err = strconv.ParseInt(total, 10, 64)
	}
	return from, size, err == nil
}
