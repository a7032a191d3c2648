package starling

import (
	"encoding/hex"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"

	"github.com/starling-smc/starling/internal/depot"
)

// Build names the program as tasks and workers compare it.
func Build() string { return build() }

// build names the program: two programs of the same name compute the same bytes. Where the revision does not say what the program was
// built from, it is known by its own bytes.
var build = sync.OnceValue(func() string {
	release, revision := Version()
	if revision == "" || strings.HasSuffix(revision, "+changes") {
		revision = strings.TrimPrefix(revision+" ", " ") + "program " + ownSum()
	}
	return fmt.Sprintf("%s (%s, %s)", release, revision, runtime.Version())
})

// ownSum is the beginning of the SHA-256 of the program's file.
func ownSum() string {
	path, err := os.Executable()
	if err != nil {
		return "unknown"
	}
	sum, err := depot.Sum(path)
	if err != nil {
		return "unknown"
	}
	return hex.EncodeToString(sum[:8])
}
