package runs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestTraceLine: keys in their order, numbers as encoding/json writes them, the part's own fields behind them.
func TestTraceLine(t *testing.T) {
	for want, l := range map[string]TraceLine{
		`{"island":0,"k":1,"progress":0.1,"seconds":1e-7}`:                        {K: 1, Progress: .1, Seconds: 1e-7},
		`{"island":2,"k":30,"progress":1,"seconds":1234.5}`:                       {Part: 2, K: 30, Progress: 1, Seconds: 1234.5, Fields: []byte(" { } ")},
		`{"island":2,"k":30,"progress":1,"seconds":0,"ess":4.5,"x":{"island":1}}`: {Part: 2, K: 30, Progress: 1, Fields: []byte(`{"ess": 4.5, "x": {"island":1}}`)},
	} {
		got, err := json.Marshal(l)
		if err != nil || string(got) != want {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
		var back TraceLine
		if err := json.Unmarshal(got, &back); err != nil {
			t.Fatal(err)
		}
		if again, err := json.Marshal(back); err != nil || string(again) != want {
			t.Errorf("read and written: %s, %v, want %s", again, err, want)
		}
	}
	for _, bad := range []string{"3", "[]", `{"a":1`, `{}}`} {
		if b, err := json.Marshal(TraceLine{Fields: []byte(bad)}); err == nil {
			t.Errorf("fields %s become %s", bad, b)
		}
	}
}

// TestDamagedLines: a line that is damaged is named by its number, with what is wrong.
func TestDamagedLines(t *testing.T) {
	const good = `{"island":0,"k":1,"progress":0.5,"seconds":1,"ess":2}`
	for bad, want := range map[string]string{
		"":          "line 2: unexpected end",
		"null":      "line 2: not an object",
		"[1]":       "line 2: not an object",
		good[:20]:   "line 2: unexpected end",
		good + good: "line 2: invalid character",
		strings.Replace(good, `"k":1`, `"K":1`, 1):                       "line 2: k is missing",
		strings.Replace(good, `"k":1`, `"k":null`, 1):                    "line 2: k: ",
		strings.Replace(good, `"k":1`, `"k":1.5`, 1):                     "line 2: k: ",
		strings.Replace(good, `"island":0,"k":1`, `"k":1,"island":0`, 1): "line 2: island is missing, or not in its place",
		strings.Replace(good, `"seconds":1`, `"seconds":[1]`, 1):         "line 2: seconds: ",
		strings.Replace(good, `"seconds":1`, `"seconds":1e999`, 1):       "line 2: seconds: ",
		strings.Replace(good, `"seconds":1,`, ``, 1):                     "line 2: seconds is missing",
		strings.Replace(good, `"progress":0.5,`, ``, 1):                  "line 2: progress is missing",
		strings.Replace(good, `"island":0`, `"island":"0"`, 1):           "line 2: island: ",
	} {
		trace, err := ReadTrace([]byte(good + "\n" + bad + "\n" + good + "\n"))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, %v, want %s", bad, trace, err, want)
		}
	}
	for text, want := range map[string]int{"": 0, good: 1, good + "\n": 1, good + "\n" + good: 2} {
		if trace, err := ReadTrace([]byte(text)); err != nil || len(trace) != want {
			t.Errorf("%q: %d lines, %v", text, len(trace), err)
		}
	}
	if _, err := ReadTrace([]byte("\n")); err == nil {
		t.Error("an empty line is read")
	}
}

// TestCheckTrace: figures are taken from the trace of a run that is done, so it has to be whole.
func TestCheckTrace(t *testing.T) {
	var whole []TraceLine
	for part, steps := range []int{4, 3} {
		for k := range steps {
			whole = append(whole, TraceLine{Part: part, K: k + 1, Progress: float64(k+1) / float64(steps)})
		}
	}
	third := slices.Clone(whole[4:])
	for i := range third {
		third[i].Part = 2
	}
	undefined := slices.Clone(whole)
	undefined[6].Progress = 0 / (undefined[6].Progress - 1)
	for what, trace := range map[string][]TraceLine{
		"nothing":                          nil,
		"one that lacks its first line":    whole[1:],
		"one that lacks a line":            slices.Concat(whole[:1], whole[2:]),
		"one that lacks its last line":     whole[:6],
		"one that lacks the first's last":  slices.Concat(whole[:3], whole[4:]),
		"one that lacks the first part":    whole[4:],
		"one that lacks the second part":   whole[:4],
		"a line twice":                     slices.Concat(whole[:2], whole[1:]),
		"parts the wrong way round":        slices.Concat(whole[4:], whole[:4]),
		"a third part":                     slices.Concat(whole, third),
		"one that ends at no progress":     undefined,
		"a line more of a part that ended": append(slices.Clone(whole), TraceLine{Part: 1, K: 4, Progress: 1}, TraceLine{Part: 2, K: 1, Progress: 1}),
	} {
		if err := CheckTrace(trace, 2); err == nil || !strings.Contains(err.Error(), "lines are missing") {
			t.Errorf("the trace is %s: %v", what, err)
		}
	}
	if err := CheckTrace(whole, 2); err != nil {
		t.Error(err)
	}
	if err := CheckTrace(nil, 0); err != nil {
		t.Error(err)
	}
}

// TestCutTrace: just the lines that the checkpoint has behind it are kept, whatever stands between and after them.
func TestCutTrace(t *testing.T) {
	line := func(part, k int) string {
		return fmt.Sprintf(`{"island":%d,"k":%d,"progress":0,"seconds":0}`, part, k)
	}
	text := strings.Join([]string{line(0, 1), line(2, 1), line(1, 1), "half", line(0, 2), line(1, 2), line(0, 2), line(7, 1), line(-1, 1), line(0, 3), `{"island":0,"k":`}, "\n")
	got, err := cutTrace([]byte(text), []int{2, 1, 0})
	if want := []TraceLine{{Part: 0, K: 1}, {Part: 1, K: 1}, {Part: 0, K: 2}}; err != nil || !slices.EqualFunc(got, want, func(a, b TraceLine) bool { return a.Part == b.Part && a.K == b.K }) {
		t.Errorf("kept %v, %v", got, err)
	}
	if _, err := cutTrace([]byte(text), []int{2, 3, 1}); err == nil || !strings.Contains(err.Error(), "lacks k 3 of island 1") {
		t.Error(err)
	}
}

// FuzzTrace: any text is refused or read, what is read is written and read alike, and whoever resumes gets no more lines
// than the checkpoint has.
func FuzzTrace(f *testing.F) {
	f.Add([]byte("{\"island\":0,\"k\":1,\"progress\":0.5,\"seconds\":1,\"ess\":\"NaN\"}\n{\"island\":0,\"k\":2,\"progress\":1,\"seconds\":2.5}\n"))
	f.Add([]byte("{\"island\":1,\"k\":1,\"progress\":1e300,\"seconds\":-0,\"x\":{\"k\":[1,{}]}} "))
	f.Add([]byte("{\"island\":0,\"k\":1,\"progress\":0,\"seconds\":0,\"\\u006b\":1,\"<\":\"\xff\"}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if kept, err := cutTrace(text, []int{1, 1}); err == nil && len(kept) != 2 {
			t.Errorf("%d lines of 2", len(kept))
		}
		trace, err := ReadTrace(text)
		if err != nil {
			return
		}
		CheckTrace(trace, 1)
		var once, twice bytes.Buffer
		if err := writeTrace(&once, trace); err != nil {
			t.Fatal(err)
		}
		again, err := ReadTrace(once.Bytes())
		if err != nil || len(again) != len(trace) {
			t.Fatalf("%d lines of %d, %v", len(again), len(trace), err)
		}
		if err := writeTrace(&twice, again); err != nil || !bytes.Equal(once.Bytes(), twice.Bytes()) {
			t.Errorf("written %q, read and written %q, %v", once.Bytes(), twice.Bytes(), err)
		}
	})
}
