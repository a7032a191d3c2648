package parquet

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// TestJoined: the description of a file that follows another one describes bytes of the first. Such a file is refused, whichever of the two is
// longer, and so are bytes after the end; each of the files alone is read.
func TestJoined(t *testing.T) {
	short := craft(2, column{kind: double, pages: page(2, 0, floats(1, 2))})
	long := craft(9, column{kind: double, pages: page(9, 0, floats(1, 2, 3, 4, 5, 6, 7, 8, 9))})
	for _, tt := range []struct {
		name string
		raw  []byte
		want string
	}{
		{"short", short, ""},
		{"long", long, ""},
		{"the same twice", slices.Concat(short, short), "are these two files joined?"},
		{"short and long", slices.Concat(short, long), "are these two files joined?"},
		{"long and short", slices.Concat(long, short), "are these two files joined?"},
		{"three", slices.Concat(long, short, long), "are these two files joined?"},
		{"a line end", append(slices.Clone(short), '\n'), "after its end (bytes that follow: 1)"},
		{"text", append(slices.Clone(short), "a,b\n1,2\n"...), "after its end (bytes that follow: 8)"},
		{"cut", long[:len(long)-3], "the file ends early"},
	} {
		_, err := Open(bytes.NewReader(tt.raw), int64(len(tt.raw)), func(string) bool { return true })
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// TestNotText: a string that is not UTF-8 names its row, by one dictionary or none.
func TestNotText(t *testing.T) {
	raw := craft(3, column{kind: str, pages: page(3, 0, slices.Concat(lengthed([]byte("a")), lengthed([]byte("b\n")), lengthed([]byte("\xff"))))})
	if _, err := read(raw, 3, 1<<20); err == nil || !strings.Contains(err.Error(), "row 3, column 1 (c0): a string is not UTF-8 text") {
		t.Errorf("%v", err)
	}
}
