package lint

import (
	"debug/buildinfo"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// TestDocumentsBuildWithoutC: where a C compiler is installed, Go links libc unless it is told not to, and no setting of a module
// can tell it. So every line that builds or installs the command does.
func TestDocumentsBuildWithoutC(t *testing.T) {
	lines := 0
	for _, pattern := range []string{"../../*.md", "../../docs/*.md", "../../bench/*.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range buildLine.FindAllString(string(text), -1) {
				if lines++; !strings.Contains(line, "CGO_ENABLED=0 go ") {
					t.Errorf("%s: %q may link libc: want CGO_ENABLED=0", file, line)
				}
			}
		}
	}
	if lines == 0 {
		t.Error("no document says how to build the command")
	}
}

// buildLine finds the lines that build or install the command.
var buildLine = regexp.MustCompile(`(?m)^.*\bgo (?:build|install)\b.*cmd/starling\b.*$`)

// TestStaticBinary builds the command as docs/getting-started.md says, whatever compilers are here. The binary asks for no
// dynamic linker and for no library, and the licences of all modules that it contains are in the file that it prints.
func TestStaticBinary(t *testing.T) {
	if testing.Short() {
		t.Skip("a whole build")
	}
	if runtime.GOOS != "linux" {
		t.Skip("the line is for a POSIX shell, the check for ELF")
	}
	page, err := os.ReadFile("../../docs/getting-started.md")
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(t.TempDir(), "starling")
	line := strings.Replace(string(buildLine.Find(page)), "-o starling ", "-o '"+binary+"' ", 1)
	build := exec.Command("sh", "-c", line)
	build.Dir = "../.."
	build.Env = append(os.Environ(), "CGO_ENABLED=1", "GOFLAGS=") // what the line says must win
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	f, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Errorf("%s: the binary needs a dynamic linker", line)
		}
	}
	if libraries, err := f.ImportedLibraries(); len(libraries) > 0 {
		t.Errorf("%s: the binary needs %v, %v", line, libraries, err)
	}
	notices, err := os.ReadFile("../../cmd/starling/licences.txt")
	if err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range info.Deps {
		if !strings.Contains(string(notices), "\n"+m.Path+" "+m.Version+"\n") {
			t.Errorf("the licence of %s %s is not in cmd/starling/licences.txt: run go generate ./cmd/starling", m.Path, m.Version)
		}
	}
}
