package lanes

// fma32 is x·y + z rounded once to float32: Go's compiler turns the expression into FMADDS (the test of fma32 shows
// it on the machine that runs it).
func fma32(x, y, z float32) float32 { return x*y + z } //fused:wanted
