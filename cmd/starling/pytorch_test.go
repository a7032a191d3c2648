package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestPyTorchSnippet carries docs/pytorch.md out as it stands, with a Python that has torch and safetensors: the one
// that STARLING_PYTHON names, or python3. What PyTorch predicts from posterior.safetensors must be what starling does.
func TestPyTorchSnippet(t *testing.T) {
	python := os.Getenv("STARLING_PYTHON")
	if python == "" {
		python = "python3"
	}
	if out, err := exec.Command(python, "-c", "import torch, numpy, safetensors.torch").CombinedOutput(); err != nil {
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		t.Skipf("%s: Python has no torch: not run (%v, %s)", python, err, lines[len(lines)-1])
	}
	var script, files strings.Builder
	compared := 0
	for _, block := range blocks(t, "pytorch.md") {
		language, text := block[0], block[1]
		name := strings.TrimPrefix(strings.SplitN(text, "\n", 2)[0], "# ")
		switch language {
		case "sh":
			for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
				fmt.Fprintf(&script, "exec %s\n", line)
			}
		case "python":
			fmt.Fprintf(&script, "exec $PYTHON %s\n", name)
			if strings.Contains(text, "largest difference") {
				script.WriteString("stdout '^largest difference: ([0-9.]+e-(0[6-9]|[1-9][0-9])|0.0)$'\n")
				compared++
			}
			fallthrough
		case "yaml":
			fmt.Fprintf(&files, "-- %s --\n%s", name, text)
		default:
			t.Fatalf("docs/pytorch.md: a block of %s", language)
		}
	}
	if compared != 2 {
		t.Fatalf("docs/pytorch.md compares %d posteriors with PyTorch, want 2", compared)
	}
	runPage(t, script.String()+files.String(), func(env *testscript.Env) error {
		env.Setenv("PYTHON", python)
		return nil
	})
}
