//go:build !purego

package lanes

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// requiredVariable names the environment variable that lists kernels, with commas between them, whose absence is a failure.
const requiredVariable = "STARLING_REQUIRE_KERNELS"

// TestEveryKernelIsTested has a subtest for each kernel. It skips the kernels that this processor cannot run, which no test
// has run. .ci/run looks for these lines.
func TestEveryKernelIsTested(t *testing.T) {
	names := []string{isaAVX512.String(), isaAVX2.String(), isaGo.String()}
	var required []string
	if list := os.Getenv(requiredVariable); list != "" {
		required = strings.Split(list, ",")
	}
	for _, name := range required {
		if !slices.Contains(names, name) {
			t.Errorf("%s names %q: the kernels are %s", requiredVariable, name, strings.Join(names, ", "))
		}
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			switch {
			case slices.Contains(Kernels(), name):
			case slices.Contains(required, name):
				t.Fatalf("%s requires kernel %s, and this processor runs only %s", requiredVariable, name, strings.Join(Kernels(), ", "))
			default:
				t.Skipf("kernel %s was not run: this processor runs only %s", name, strings.Join(Kernels(), ", "))
			}
		})
	}
}

// The variables are read at start-up, so this test runs TestEveryKernelIsTested in another process, with the instructions
// of AVX-512 turned off.
func TestMissingKernel(t *testing.T) {
	for _, c := range []struct {
		required string
		passes   bool
		says     string
	}{
		{"", true, "--- SKIP: TestEveryKernelIsTested/avx512"},
		{"go", true, "--- SKIP: TestEveryKernelIsTested/avx512"},
		{"go,avx512", false, "requires kernel avx512"},
		{"avx1024", false, `names "avx1024"`},
	} {
		cmd := exec.Command(os.Args[0], "-test.v", "-test.run=^TestEveryKernelIsTested$")
		cmd.Env = append(os.Environ(), "GODEBUG=cpu.avx512f=off", requiredVariable+"="+c.required)
		out, err := cmd.CombinedOutput()
		if (err == nil) != c.passes || !strings.Contains(string(out), c.says) {
			t.Errorf("%s=%s: want %q, passed %v: %v\n%s", requiredVariable, c.required, c.says, c.passes, err, out)
		}
	}
}
