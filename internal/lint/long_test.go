package lint

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// asksLong is a call that makes a test longer, or skips it, by STARLING_LONG.
var asksLong = regexp.MustCompile(`^[^"/]*testkit\.(?:Long|Takes)\((.*)`)

// TestLongTestsAreFound: .ci/run finds long tests by their text. So they ask for themselves, and say the minutes as a number.
func TestLongTestsAreFound(t *testing.T) {
	list, err := exec.Command("git", "-C", "../..", "ls-files", "-co", "--exclude-standard", "*.go").Output()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for path := range strings.FieldsSeq(string(list)) {
		text, err := os.ReadFile("../../" + path)
		if os.IsNotExist(err) || strings.HasPrefix(path, "internal/testkit/") {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		function := ""
		for line := range bytes.Lines(text) {
			if bytes.HasPrefix(line, []byte("func ")) {
				function = string(line)
			}
			if m := asksLong.FindSubmatch(line); m != nil {
				found++
				if !strings.HasPrefix(function, "func Test") || !regexp.MustCompile(`^t, [1-9][0-9]*\)`).Match(m[1]) {
					t.Errorf("%s: %s: call it in the test itself, as testkit.Long(t, MINUTES), and pass on what it says", path, bytes.TrimSpace(line))
				}
			}
		}
	}
	if found < 10 {
		t.Errorf("%d long tests", found)
	}
}
