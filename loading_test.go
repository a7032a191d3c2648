package starling

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestLoadingNeedsMemory: a table that does not fit is refused before it is read, with what it needs. A run that needs less is
// begun.
func TestLoadingNeedsMemory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.csv")
	save(t, file, []byte("a,b,c,y\n"+strings.Repeat("1,2,3,4\n5,6,7,8\n3,2,1,x\n", 40000))) // 1 MB, and a fault in line 4
	spec := tiny(t, fmt.Sprintf("{csv: {file: %s, target: y}}", file), "{gaussian: {sd: 0.5}}", 1)
	for _, c := range []struct {
		limit int64
		want  string
	}{
		{36 << 20, "data: to read the examples, the run needs about 40 MB of memory, but only 36 MB are available (GOMEMLIMIT sets another limit)"},
		{60 << 20, "holds names such as"}, // it was read
		{0, "holds names such as"},
	} {
		_, err := Fit(t.Context(), spec, Options{Memory: c.limit})
		if err == nil || !strings.Contains(err.Error(), c.want) || !errors.As(err, new(*ConfigError)) {
			t.Errorf("limit %d: %v, want %q", c.limit, err, c.want)
		}
	}
}
