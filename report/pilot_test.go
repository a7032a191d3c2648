package report

import (
	"strings"
	"testing"

	"github.com/starling-smc/starling/method"
)

// A page says that a pilot run chose the temperatures, where one did.
func TestPageNamesThePilot(t *testing.T) {
	for _, pilot := range []bool{false, true} {
		f := shape{}.make(t)
		islands := f.run.Spec.Method.(method.SMC)
		islands.Pilot = pilot
		f.run.Spec.Method = islands
		v := f.view(t)
		if said := strings.Contains(v.ofPath(islands.Path.Curves(60)[0]).caption, "A pilot run chose"); said != pilot {
			t.Errorf("pilot %v: the caption of the temperatures names one: %v", pilot, said)
		}
		if said := strings.HasSuffix(v.ess().reference.note, "of the pilot"); said != pilot {
			t.Errorf("pilot %v: the effective sample size is said to be the pilot's: %v", pilot, said)
		}
		if said := strings.Contains(f.run.Spec.Title(), "on the temperatures of a pilot run"); said != pilot {
			t.Errorf("the title is %q", f.run.Spec.Title())
		}
	}
}
