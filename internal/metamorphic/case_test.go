//go:build unix

package metamorphic

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestReduce makes cases small whose failures need an operation, a pair of them, a byte of an edit, or a kill.
func TestReduce(t *testing.T) {
	needs := func(words ...string) func(Case) bool {
		return func(c Case) bool {
			rest := c.String()
			for _, w := range words { // in this order
				_, after, found := strings.Cut(rest, w)
				if !found {
					return false
				}
				rest = after
			}
			return true
		}
	}
	for _, x := range []struct {
		text, want string
		fails      func(Case) bool
	}{
		{"done map; remove x; predict; evaluate; report; verify", "done map; report", needs("report")},
		{"new map; start a; start b; start c; start d; start e; same", "new map; start b; start e; same", needs("start b", "start e", "same")},
		{"new map; start kernel=go threads=2 at=f signal=INT after=3ms; start threads=3; same", "new map; start signal=INT after=3ms; start; same",
			needs("INT after", "start", "same")},
		{"begun map; edit f 0 9; edit f 10 1000 %00ab; resume", "begun map; edit f 436 437 a", func(c Case) bool {
			for _, op := range c {
				words := strings.Fields(op)
				if words[0] != "edit" {
					continue
				}
				if e, err := parseEdit(words[2:]); err == nil && e.from <= 436 && e.to > 436 && strings.Contains(string(e.text), "a") {
					return true
				}
			}
			return false
		}},
		{"done map; edit f 0 8 times 1000; predict", "done map; edit f 0 1 times 125; predict", func(c Case) bool {
			if len(c) < 3 {
				return false
			}
			e, err := parseEdit(strings.Fields(c[1])[2:])
			return err == nil && e.from == 0 && e.to > 0 && e.times >= 100
		}},
	} {
		if !x.fails(Parse(x.text)) {
			t.Errorf("%s does not fail", x.text)
		}
		small := Reduce(Parse(x.text), func(c Case) bool { return c[0] == Parse(x.text)[0] && len(c) > 1 && x.fails(c) })
		if small.String() != x.want {
			t.Errorf("%s is made %s", x.text, small)
		}
	}
}

// TestEdits: what edits do to a file, and that one that was printed and read does the same.
func TestEdits(t *testing.T) {
	for text, want := range map[string]string{
		"1 3 X": "aXdef", "0 6 ": "", "6 6 end": "abcdefend", "2 2 %00+%25": "ab\x00 %cdef", "0 1 times 3": "aaabcdef", "3 5 times 2": "abcdedef", "4 4 times 5": "abcdef",
		"-1 2 X": "no bytes -1 to 2 of 6", "3 2 X": "no bytes 3 to 2 of 6", "3 7 X": "no bytes 3 to 7 of 6",
		"1 X": "expected integer", "1 2 %": `invalid URL escape "%"`, "1 2 times x": "invalid syntax", "1": "want FROM TO",
	} {
		e, err := parseEdit(strings.Split(text, " "))
		got := []byte("abcdef")
		if err == nil {
			got, err = e.apply(got)
		}
		if err != nil && !strings.Contains(err.Error(), want) || err == nil && string(got) != want {
			t.Errorf("edit %s: %q, %v; want %q", text, got, err, want)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	b := []byte("layers: [8, relu]\x00\xff; 12.5e-3\n")
	for i := range 2000 {
		e := edits[i%len(edits)](r, b)
		read, err := parseEdit(strings.Fields(Parse("done map; " + e.op("f"))[1])[2:])
		if err != nil {
			t.Fatal(err)
		}
		want, errOne := e.apply(b)
		got, errTwo := read.apply(b)
		if errOne != nil || errTwo != nil || string(got) != string(want) {
			t.Errorf("%q: %q, %v, want %q, %v", e.op("f"), got, errTwo, want, errOne)
		}
	}
}

// TestSame: a folder differs from that of the whole run, does not, or holds a run that is not done. The last is no fault: else a case could
// be made so small that it lacks the start that ends the run.
func TestSame(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := WriteTables(); err != nil {
		t.Fatal(err)
	}
	w := NewWorld("damaged", "")
	for text, want := range map[string]string{
		"done line; same": "false <nil>",
		"done line; edit metrics.json 9 10 0; same":        "true same: differs from a run that was left alone:",
		"begun line; same":                                 "false same: the run is not done",
		"begun line; resume; same":                         "false <nil>",
		"done line; remove manifest.json; same":            "false same: the run is not done",
		"new line; same":                                   "false same: the run is not done",
		"done line; edit metrics.json 1 0 x; same; report": "false edit metrics.json 1 0 x: no bytes",
	} {
		_, err := w.Play(Parse(text), nil)
		if got := fmt.Sprint(IsFault(err), " ", err); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s; want %s", text, got, want)
		}
	}
}
