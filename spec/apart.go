package spec

import (
	"strings"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/method"
)

// checkApart refuses an anchor for each island where there are no islands, or no restart for each of them.
func (s Spec) checkApart(f *config.Faults) {
	if !s.Prior.Anchor.Apart() || s.Method == nil {
		return
	}
	const at, leave = "prior.anchor.per", ": leave per out"
	needs := s.Method.Needs()
	if needs.Islands == 0 {
		f.Conflict([]string{at, s.At()}, "gives each island an anchor, and %s makes one posterior"+leave+", or take one of the methods %s", method.Methods.Name(s.Method),
			strings.Join(method.MethodsWhere(func(n method.Needs) bool { return n.Islands > 0 }), ", "))
	}
	if s.Model.Init != "" {
		f.Conflict([]string{at, "model.init"}, "gives each island a restart as its anchor, and model.init is one network for all"+leave+", or model.init")
	}
	if !s.Model.Random.All() {
		f.Conflict([]string{at, "model.random"}, "gives each island a restart as its anchor, and the layers that are not random would be those of another one"+
			leave+", or model.random")
	}
	if s.MAP != nil && s.MAP.Restarts < needs.Islands {
		f.Conflict([]string{at, "map.restarts", s.At()}, "%d islands have a restart each as their anchor, and there are %d: want map.restarts of at least %d, or fewer islands",
			needs.Islands, s.MAP.Restarts, needs.Islands)
	}
}
