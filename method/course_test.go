package method

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/starling-smc/starling/uq"
)

// TestCourse: by steps so short that nothing moves, the NLL of every epoch is that of the start, which is scored here by itself: the
// mean over examples, whatever the batches, of which the last is short. A given network is epoch 0.
func TestCourse(t *testing.T) {
	net, train, validate := mlp(t), blobs(1, 50), blobs(2, 30)
	first := make([]float64, net.Dim())
	for i := range first {
		first[i] = 0.1 * float64(i%5)
	}
	s := looking{Search: Search{Restarts: 2, Epochs: 3, Batch: 16, Rate: 1e-12}, first: first}
	r := s.fit(t, net, 0.5, train, validate, 1)
	for k, from := range []int{0, 1} {
		at, want := r.restarts[k], Course{Restart: k, From: from}
		onTrain, _ := scored(t, net, train, at.Theta)
		onVal, _ := scored(t, net, validate, at.Theta)
		for range 4 - from {
			want.Train, want.Val = append(want.Train, uq.Number(onTrain+2)), append(want.Val, uq.Number(onVal+2))
		}
		near := cmp.Comparer(func(a, b uq.Number) bool { return math.Abs(float64(a-b)) <= 1e-6 })
		if diff := cmp.Diff(want, at.course(2, 2), near); diff != "" {
			t.Errorf("restart %d (-want +got):\n%s", k, diff)
		}
	}
	if r := s.fit(t, net, 0.5, train, nil, 1); len(r.restarts[0].Train) != 4 || r.restarts[0].Val != nil {
		t.Errorf("without validation examples: %v", r.restarts[0].course(0, 0))
	}
}

// TestReadCourses: what was written is read alike, and what does not fit the restarts is refused.
func TestReadCourses(t *testing.T) {
	courses := []Course{{From: 0, Train: []uq.Number{3, uq.Number(math.Inf(1))}, Val: []uq.Number{2, 1}}, {Restart: 1, From: 1, Train: []uq.Number{5}, Val: []uq.Number{4}}}
	var b bytes.Buffer
	if err := WriteCourses(&b, courses); err != nil {
		t.Fatal(err)
	}
	got, err := ReadCourses(b.Bytes(), 2)
	if diff := cmp.Diff(courses, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	first, _, _ := strings.Cut(b.String(), "\n")
	for reason, text := range map[string]string{
		"1 restarts, there were 2": first,
		"line 2 has restart 0":     first + "\n" + first,
		"unknown key \"train\"":    strings.Replace(first, "train_nll", "train", 1),
		"validation NLL of 1":      strings.Replace(first, "[2,1]", "[2]", 1),
		"training NLL of 1":        strings.Replace(first, `[3,"Infinity"]`, "[3]", 1),
	} {
		if _, err := ReadCourses([]byte(text), 2); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: error %v, want one about %q", text, err, reason)
		}
	}
}

// FuzzCourses: what was read is written as the same lines; anything else is an error.
func FuzzCourses(f *testing.F) {
	f.Add([]byte(`{"restart":0,"from":0,"train_nll":[1.5,"NaN"],"val_nll":[2,1]}`+"\n"), 1)
	f.Add([]byte(`{"restart":0,"from":1,"train_nll":[0.5]}`+"\n"+`{"restart":1,"from":1,"train_nll":[1]}`), 2)
	f.Fuzz(func(t *testing.T, text []byte, restarts int) {
		courses, err := ReadCourses(text, restarts)
		if err != nil {
			return
		}
		if len(courses) != restarts {
			t.Fatalf("%d courses of %d restarts", len(courses), restarts)
		}
		var out bytes.Buffer
		if err := WriteCourses(&out, courses); err != nil {
			t.Fatal(err)
		}
		again, err := ReadCourses(out.Bytes(), restarts)
		if err != nil || fmt.Sprint(again) != fmt.Sprint(courses) {
			t.Fatalf("%v: %v, was %v", err, again, courses)
		}
	})
}
