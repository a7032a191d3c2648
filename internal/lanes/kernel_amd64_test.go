//go:build !purego

package lanes

import (
	"os"
	"testing"
)

// A processor that cannot run every kernel cannot test them.
func TestEveryKernelIsTested(t *testing.T) {
	const admit = "STARLING_ALLOW_MISSING_KERNELS"
	if n := len(supported()); n < 3 && os.Getenv(admit) != "1" {
		t.Fatalf("this processor runs only %v; %s=1 admits that the others are not tested", Kernels(), admit)
	}
}
