package method

import (
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/safetensors"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/smc"
)

// Kept states that are moved to files cost disk and not memory; what will not fit on the disk is refused before the run.
func TestKeptInFiles(t *testing.T) {
	job := newJob(t, 2)
	d := int64(job.Net.Dim())
	of := func(iterations int, as safetensors.Format) SMC {
		return SMC{
			Particles: 8, Islands: 3, Path: smc.Schedule[smc.Full]{Iterations: iterations}, Move: mcmc.Unadjusted{Steps: 1, Step: 0.1},
			Keep: smc.After{Iterations: 10, As: as},
		}
	}
	if few, many := of(1000, "").Memory(job), of(100_000, "").Memory(job); many.Bytes < 2*few.Bytes || many.Disk != 0 {
		t.Errorf("without a folder %d bytes for 1,000 iterations and %d for 100,000", few.Bytes, many.Bytes)
	}
	job.Files = true
	few, many := of(100_000, "").Memory(job), of(1_000_000, safetensors.BFloat16).Memory(job)
	if few.Bytes != many.Bytes || few.Disk != 3*8*(100_000-10)*d*4 || many.Disk != 3*8*(1_000_000-10)*d*2 {
		t.Errorf("in files %+v and %+v", few, many)
	}
	refused := func(as safetensors.Format, free int64) string {
		return strings.Join(faults(func(f *config.Faults) { of(100_000, as).Memory(job).CheckDisk(free, f) }), "\n")
	}
	said := func(free int64) string { return refused("", free) }
	// A checkpoint has the state, at float64 with its gradient, up to 2 MiB of states at float32 that are not in a file yet, held at float64,
	// those of the last iteration with them, two numbers of each kept state, and the step.
	unfiled := int64(2<<20)/(4*d) + 8
	if want := 8 * 3 * (1 + 2*8*d + unfiled*d + 2*8*(100_000-10)); few.Saved != want || few.Kept != 99_990 {
		t.Errorf("a checkpoint of %d bytes, want %d; %d iterations", few.Saved, want, few.Kept)
	}
	if got := said(2*few.Disk + 3*few.Saved); got != "" {
		t.Error(got)
	}
	if got := said(2*few.Disk + 3*few.Saved - 1); !strings.HasPrefix(got, "method.smc.keep: the states that are kept need about ") ||
		!strings.Contains(got, "keep fewer (those of 99,989 of 99,990 iterations would fit), or keep them as: bfloat16, or name a folder") {
		t.Error(got)
	}
	if got := said(few.Disk + 3*few.Saved); !strings.Contains(got, "or keep them as: bfloat16, or name") {
		t.Error(got)
	}
	for _, got := range []string{said(few.Disk + 3*few.Saved - 1), refused(safetensors.BFloat16, few.Disk+3*few.Saved-1)} {
		if !strings.Contains(got, "iterations would fit), or name a folder") {
			t.Errorf("bfloat16 does not fit, or is there: %s", got)
		}
	}
	one := 2*3*8*d*4 + 3*8*3*(1+2*8*d+8*d+2*8) // with the states of one iteration, all in the checkpoint
	if got := said(one); !strings.Contains(got, "keep fewer (those of 1 of 99,990 iterations would fit)") {
		t.Error(got)
	}
	if got := said(one - 1); !strings.Contains(got, "not even those of one iteration would fit, which need about 1 MB: take fewer particles or islands, or name a folder") {
		t.Error(got)
	}
}
