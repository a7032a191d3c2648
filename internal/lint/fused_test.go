package lint

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// wanted stands at the end of a line that wants the fused multiply-add that the compiler makes of it. A call of math.FMA needs no such
// note: the compiler fuses nothing there.
const wanted = "//fused:wanted"

// fused finds a multiply-add that the compiler fused: the places of the sum, FILE:LINE:COLUMN. The last is where it is written; those
// before it are the calls into which that was inlined, from the outermost.
var fused = regexp.MustCompile(`(?m)^(\S+:\d+:\d+(?:; \S+:\d+:\d+)*) \[bisect-match `)

// TestNothingIsFused: on arm64 the compiler makes one instruction of x*y + z (FMADD, FMSUB, FNMADD or FNMSUB), which does not round the
// product. Then a run has other bits there than on amd64. So the module is built for arm64 with the compiler's record of what it
// fused (go tool compile -d=fmahash). The record holds all such instructions of the assembly output but those of math.FMA. It stays with
// the build in Go's cache.
func TestNothingIsFused(t *testing.T) {
	if testing.Short() {
		t.Skip("a whole build")
	}
	// list -export compiles all packages and links none. The flag is for the packages of the module alone.
	build := exec.Command("go", "list", "-export", "-gcflags=-d=fmahash=vy", "./...")
	build.Dir = "../.."
	build.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
	record, err := build.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", build, err, record)
	}
	seen, notes := map[string]bool{}, 0
	for _, m := range fused.FindAllSubmatch(record, -1) {
		places := strings.Split(string(m[1]), "; ")
		place := filepath.Clean(places[len(places)-1])
		if filepath.IsAbs(place) || strings.HasPrefix(place, "..") || seen[place] { // absolute: code of Go or of another module
			continue
		}
		seen[place] = true
		file, rest, _ := strings.Cut(place, ":")
		line, _, _ := strings.Cut(rest, ":")
		text, err := os.ReadFile(filepath.Join("../..", file))
		if err != nil {
			t.Fatal(err)
		}
		number, err := strconv.Atoi(line)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(strings.Split(string(text), "\n")[number-1], wanted) {
			notes++
			continue
		}
		t.Errorf("%s is fused with a product on arm64, so that its bits differ there: write float64(x*y) + z%s", place, product(places))
	}
	if notes == 0 {
		t.Errorf("no multiply-add is fused, not even where a line wants it with %s: does go tool compile still know -d=fmahash?", wanted)
	}
}

// product says where else the product may stand, if the sum was inlined.
func product(places []string) string {
	if len(places) == 1 {
		return " (the product may stand on a line before)"
	}
	return " (the product may stand in what calls it: " + strings.Join(places[:len(places)-1], ", ") + ")"
}
