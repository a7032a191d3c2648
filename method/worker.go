package method

import "github.com/starling-smc/starling/eval"

// worker is a part of a phase that counts its work. All parts of this package do.
type worker interface{ spent() eval.Work }
