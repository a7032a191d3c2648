package formats

import (
	"strings"
	"testing"
)

// TestTextKinds: texts and archives that are no tables are told by their beginning; tables that begin alike are not.
func TestTextKinds(t *testing.T) {
	for text, want := range map[string]string{
		"{\"a\": 1}\n": "is JSON", " [ {\"a\": 1}]": "is JSON", "\ufeff[[1, 2], [3, 4]]": "is JSON",
		"<!DOCTYPE html><html>": "HTML", "\n<html>": "HTML", "<?xml version=\"1.0\"?>": "HTML",
		"SQLite format 3\x00\x10": "an SQLite database", "a.csv" + strings.Repeat("\x00", 252) + "ustar\x00": "a tar archive",
		"a,b\n1,2\n": "", "[m],b\n1,2\n": "", "<5,b\n1,2\n": "", "{x},y\n1,2\n": "",
	} {
		b := &beginning{name: "f", size: len(text), head: []byte(text)}
		err := b.refuse()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %q", text, err, want)
		}
	}
}
