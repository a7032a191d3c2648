package server

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"
)

// kind is why a client or a message was refused. The texts are keys of starling cluster status --json.
type kind string

const (
	unknown   kind = "unknown_keys"
	forbidden kind = "not_allowed"
	malformed kind = "malformed"
	large     kind = "too_large"
	forged    kind = "forged"
)

// kindWords are the kinds in words.
var kindWords = []struct {
	kind  kind
	words string
}{
	{unknown, "without the right keys"},
	{forbidden, "not allowed to the role"},
	{malformed, "malformed"},
	{large, "too large"},
	{forged, "forged"},
}

// Info is what a server says of itself.
type Info struct {
	Name    string         `json:"name"`
	Stored  int64          `json:"stored"`  // bytes
	Limit   int64          `json:"limit"`   // of them
	Refused map[kind]int64 `json:"refused"` // clients and messages since the start
}

// Words says what was refused: "", if nothing was.
func (i Info) Words() string {
	var all []string
	for _, k := range kindWords {
		if n := i.Refused[k.kind]; n > 0 {
			all = append(all, fmt.Sprintf("%d %s", n, k.words))
		}
	}
	return strings.Join(all, ", ")
}

// refusal is the error of a client or a message that was refused.
type refusal struct {
	kind kind
	what string
}

func (r *refusal) Error() string { return r.what }

// refusals counts what was refused. It logs the first of each kind in a minute, so that nobody fills the log.
type refusals struct {
	log    func(string)
	mu     sync.Mutex
	counts map[kind]int64
	logged map[kind]time.Time
}

func newRefusals(log func(string)) *refusals {
	return &refusals{log: log, counts: map[kind]int64{}, logged: map[kind]time.Time{}}
}

// count counts an error that is a refusal, and logs any other.
func (r *refusals) count(err error, from string) {
	var why *refusal
	if !errors.As(err, &why) {
		r.log(err.Error())
		return
	}
	r.mu.Lock()
	r.counts[why.kind]++
	now := time.Now()
	last, was := r.logged[why.kind]
	tell := !was || now.Sub(last) > time.Minute
	if tell {
		r.logged[why.kind] = now
	}
	r.mu.Unlock()
	if tell {
		r.log(fmt.Sprintf("refused a client at %s: %s", from, why.what))
	}
}

func (r *refusals) all() map[kind]int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.counts)
}

// logger takes the log of the NATS server: refusals are counted, other errors are told, and the rest is dropped.
type logger struct {
	refused *refusals
	log     func(string)
	broken  func(why string) // called with a write that failed
}

// refusalsInLog tells a refusal by what the NATS server writes into its log, which is the only place that it tells of one.
var refusalsInLog = []struct {
	text string
	kind kind
}{
	{"Violation", forbidden},
	{"authentication error", unknown},
	{"Authentication Timeout", unknown},
	{"maximum payload", large},
	{"maximum control line", large},
	{"arser", malformed},
	{"Parse Error", malformed},
}

// Errorf implements nats.Logger.
func (l *logger) Errorf(format string, v ...any) {
	text := fmt.Sprintf(format, v...)
	for _, r := range refusalsInLog {
		if strings.Contains(text, r.text) {
			l.refused.count(&refusal{r.kind, text}, "the server")
			return
		}
	}
	if strings.Contains(text, "ritical write error") {
		l.broken(text)
		return
	}
	l.log(text)
}

// Fatalf implements nats.Logger.
func (l *logger) Fatalf(format string, v ...any) { l.log(fmt.Sprintf(format, v...)) }

// Warnf implements nats.Logger.
func (l *logger) Warnf(string, ...any) {}

// Noticef implements nats.Logger.
func (l *logger) Noticef(string, ...any) {}

// Debugf implements nats.Logger.
func (l *logger) Debugf(string, ...any) {}

// Tracef implements nats.Logger.
func (l *logger) Tracef(string, ...any) {}
