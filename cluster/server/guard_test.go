package server

import (
	"bufio"
	"bytes"
	"slices"
	"strings"
	"testing"
)

// passed returns what the guard passes on of what a worker sends, up to the first refusal or the end.
func passed(sent []byte) []byte {
	in := bufio.NewReaderSize(bytes.NewReader(sent), 64<<10)
	var to bytes.Buffer
	out := bufio.NewWriter(&to)
	whole := 0
	for one(in, out) == nil {
		out.Flush()
		whole = to.Len()
	}
	return to.Bytes()[:whole]
}

// FuzzGuard: whatever a worker sends, what is passed on is plain messages of the protocol: read once more, they are the same. None has a
// subject with wildcards, a reply that is not the worker's, or a value without a comparison.
func FuzzGuard(f *testing.F) {
	inbox := "_INBOX_worker.abcdefghijklmnopqrstuv"
	for _, s := range []string{
		"PING\r\nPONG\r\n",
		"sub " + inbox + ".* 1\r\nUNSUB 1 5\r\n",
		"PUB starling.block.shared.aa.0 " + inbox + ".x 5\r\nhello\r\n",
		"PUB\tstarling.news.a  5\r\nPUB a\r\nPING\r\n",
		"HPUB $KV.STARLING_VALUES.state.a.b " + inbox + ".x 53 55\r\nNATS/1.0\r\nNats-Expected-Last-Subject-Sequence: 7\r\n\r\n{}\r\n",
		"HPUB starling.block.state.a.b.c.0 " + inbox + ".x 49 49\r\nNATS/1.0\r\nStarling-Dropped: 1\r\nNats-TTL: 1m0s\r\n\r\n\r\n",
		"PUB a.* 1\r\n1\r\n", "PUB a b 1\r\n1\r\n", "PUB a 1\n1\r\n", "SUB _INBOX_worker.> 1\r\n",
		"PUB 0\v0 5\r\nhello\r\n", "PUB a\u00a0b 1\r\n1\r\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		first := passed(sent)
		if again := passed(first); !bytes.Equal(first, again) {
			t.Fatalf("%q is passed on as %q, and that as %q", sent, first, again)
		}
		for rest := first; len(rest) > 0; {
			line, after, _ := bytes.Cut(rest, []byte("\r\n"))
			rest = after
			words := strings.Fields(string(line))
			if words[0] != "PUB" && words[0] != "HPUB" {
				continue
			}
			sizes := len(words[0]) - 2 // one, or two with headers
			reply := words[2 : len(words)-sizes]
			if slices.ContainsFunc(strings.Split(words[1], "."), func(token string) bool { return token == "*" || token == ">" }) || len(reply) == 1 && !strings.HasPrefix(reply[0], "_INBOX_worker.") {
				t.Fatalf("passed on: %q", line)
			}
			if strings.HasPrefix(words[1], "$KV.") && !bytes.Contains(bytes.ToLower(rest), []byte("nats-expected-last-subject-sequence:")) {
				t.Fatalf("a value without a comparison: %q", first)
			}
			size := 0
			for _, digit := range words[len(words)-1] {
				size = 10*size + int(digit-'0')
			}
			rest = rest[size+2:]
		}
	})
}
