package starling

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"path/filepath"
	"strings"
	"testing"
)

// TestPosteriorOfOtherLearned: a posterior whose learned tensors have another shape, or of another number of islands, is refused where a
// run is opened to predict or to be evaluated again.
func TestPosteriorOfOtherLearned(t *testing.T) {
	spec := func(sets ...string) Spec {
		return regression(t, "both", append([]string{"model.random=last",
			"method={smc: {particles: 4, islands: 2, path: {constant: {epochs: 1, batch: 20}}, move: {leapfrog: {steps: 1, step: 0.01}}}}"}, sets...)...)
	}
	_, dir := kept(t, spec())
	good := read(t, dir, posteriorFile)
	for name, c := range map[string]struct {
		spec Spec
		want string
	}{
		"wider":      {spec("model.layers.0.dense=9"), "tensor 0.weight is F32 [2 9 2] in the file, want F32 [2 8 2]: particles share it"},
		"islands":    {spec("method.smc.islands=3"), "has the particles of 3 islands, and the run has 2: want the file that the run wrote"},
		"one island": {spec("method.smc.islands=1"), "has the particles of 1 island, and the run has 2: want"},
		"roles":      {spec("model.random=first"), "tensor 0.weight is random in the file, learned in the network: want the layers to be random that were when the file was written"},
	} {
		_, other := kept(t, c.spec)
		rewrite(t, dir, posteriorFile, read(t, other, posteriorFile))
		var bad *DataError
		if _, err := OpenRun(dir); !errors.As(err, &bad) || !strings.Contains(err.Error(), posteriorFile+": ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %T %v, want %q", name, err, err, c.want)
		}
		rewrite(t, dir, posteriorFile, good)
		if _, err := OpenRun(dir); err != nil {
			t.Errorf("after %s: %v", name, err)
		}
	}
}

// TestCheckpointOfOlderState: a checkpoint whose islands have the state of an older kind is refused, with what to do, and stays.
func TestCheckpointOfOlderState(t *testing.T) {
	spec := regression(t, "both", "model.random=first", "method={smc: {particles: 4, path: {constant: {epochs: 9, batch: 20}}, move: {leapfrog: {steps: 1, step: 0.01}}}}")
	dir := filepath.Join(t.TempDir(), "run")
	interruptAfter(t, dir, spec, 6)
	for _, file := range []string{checkpointFile, previousFile} {
		old := bytes.Clone(read(t, dir, file))
		if !olderState(old) {
			t.Fatalf("%s has no state of an island", file)
		}
		save(t, filepath.Join(dir, file), old)
	}
	before := read(t, dir, checkpointFile)
	var bad *DataError
	_, err := resume(t.Context(), dir, spec, Options{})
	if !errors.As(err, &bad) || !bytes.Equal(read(t, dir, checkpointFile), before) {
		t.Errorf("%T %v", err, err)
	}
	for _, want := range []string{checkpointFile + ` is refused: phase "islands": part 0: `, `holds "smc.State/09", not "smc.State/10": another version of the program wrote it`, "or begin anew in another folder"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// olderState makes the states in a container of internal/ckpt, or in one inside it, those of kind 09, with the checksums of that. It
// reports whether there was one.
func olderState(container []byte) (found bool) {
	const head, section = 24, 16
	for rest := container[head:]; len(rest) > 0; {
		n, m := binary.LittleEndian.Uint32(rest[4:])>>8, binary.LittleEndian.Uint64(rest[8:])
		whole := rest[:section+uint64(n)+m]
		switch name, data := string(whole[section:section+n]), whole[section+n:]; {
		case name == "kind" && string(data) == "smc.State/10":
			copy(data, "smc.State/09")
			found = true
		case bytes.HasPrefix(data, []byte("STARLING")):
			found = olderState(data) || found
		}
		binary.LittleEndian.PutUint32(whole, crc32.Checksum(whole[4:], crc32.MakeTable(crc32.Castagnoli)))
		rest = rest[len(whole):]
	}
	return found
}
