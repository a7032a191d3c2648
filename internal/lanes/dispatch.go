package lanes

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// isa is an implementation of the kernels.
type isa int

const (
	isaGo isa = iota
	isaAVX2
	isaAVX512
)

func (k isa) String() string { return [...]string{"go", "avx2", "avx512"}[k] }

// kernelVariable names the environment variable that overrides the choice of kernels.
const kernelVariable = "STARLING_KERNEL"

var (
	current     isa   // what the kernels run on
	environment error // why the value of kernelVariable was refused
)

func init() {
	current = supported()[0]
	if name := os.Getenv(kernelVariable); name != "" {
		if _, err := SetKernel(name); err != nil {
			environment = fmt.Errorf("environment variable %s: %w", kernelVariable, err)
		}
	}
}

// Kernel names the implementation in use: "avx512", "avx2" or "go". It is the first of [Kernels], unless the
// environment variable STARLING_KERNEL named another one at start-up.
func Kernel() string { return current.String() }

// KernelError reports a value of STARLING_KERNEL that names no implementation which this build and processor can run.
func KernelError() error { return environment }

// Kernels lists the implementations that this build and processor can run, the best first. "go" is always among them.
func Kernels() []string {
	var names []string
	for _, k := range supported() {
		names = append(names, k.String())
	}
	return names
}

// SetKernel selects an implementation, for tests and measurements, and returns a function that restores the previous one.
// No kernel may run at the same time.
func SetKernel(name string) (restore func(), err error) {
	all := supported()
	i := slices.IndexFunc(all, func(k isa) bool { return k.String() == name })
	if i < 0 {
		return nil, fmt.Errorf("kernel %q is not available here, only %s", name, strings.Join(Kernels(), ", "))
	}
	former := current
	current = all[i]
	return func() { current = former }, nil
}
