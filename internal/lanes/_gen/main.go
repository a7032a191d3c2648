// Command _gen writes the assembly of package lanes, one family of kernels at a time; see ../generate.go.
package main

import (
	"flag"
	"log"

	. "github.com/mmcloughlin/avo/build"
)

var families = map[string]func(){
	"gemm":       gemm,
	"dot":        dot,
	"activation": activation,
	"loss":       loss,
	"layout":     layout,
	"density":    density,
	"philox":     philox,
	"leapfrog":   leapfrog,
	"affine":     affines,
	"predicted":  predicted,
}

func main() {
	family := flag.String("family", "", "family of kernels to generate")
	flag.Parse()
	emit, ok := families[*family]
	if !ok {
		log.Fatalf("unknown family %q", *family)
	}
	ConstraintExpr("!purego")
	emit()
	Generate()
}
