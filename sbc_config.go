package starling

import (
	"bytes"
	"fmt"

	"github.com/starling-smc/starling/internal/config"
)

// sbcLead begins the config of a check with its number of fits.
func sbcLead(fits int) []byte { return fmt.Appendf(nil, "# starling sbc --runs %d\n", fits) }

// differsSBC names the values in which two checks differ.
func differsSBC(was, is []byte) error {
	before, _, _ := bytes.Cut(was, []byte("\n"))
	now, _, _ := bytes.Cut(is, []byte("\n"))
	if err := config.Diff(was, is); err != nil || bytes.Equal(before, now) {
		return err
	}
	return fmt.Errorf("the check was begun as %q, and is %q now", before, now)
}
