package starling

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/starling-smc/starling/baseline"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/smc"
)

// checkpoint is what a run needs to go on: how far each of its parts is, and whose parts they are. It holds no times:
// that of a finished run has the same bytes however often it was stopped. Parts are independent of each other, as
// randomness is keyed, so each may be as far as it likes.
type checkpoint struct {
	identity
	restarts [][]byte // a baseline.Restart each; nil: it has not begun
	islands  [][]byte // a smc.State each, likewise
}

// identity is what two runs must have in common for one to go on where the other stopped.
type identity struct {
	release, revision string
	config            []byte            // the resolved Spec
	data              map[string]string // checksum of each part
}

const checkpointKind = "starling.Checkpoint/1"

// writeTo writes a container of internal/ckpt.
func (c *checkpoint) writeTo(w io.Writer) error {
	sums, err := json.Marshal(c.data) // in the order of the names
	if err != nil {
		return err
	}
	e := ckpt.NewEncoder(checkpointKind)
	e.Bytes("release", []byte(c.release))
	e.Bytes("revision", []byte(c.revision))
	e.Bytes("config", c.config)
	e.Bytes("data", sums)
	e.Ints("parts", len(c.restarts), len(c.islands))
	for i, part := range c.restarts {
		e.Bytes(fmt.Sprint("restart ", i), part)
	}
	for i, part := range c.islands {
		e.Bytes(fmt.Sprint("island ", i), part)
	}
	_, err = e.WriteTo(w)
	return err
}

// readCheckpoint is the inverse of writeTo. The parts refer to b.
func readCheckpoint(b []byte) (*checkpoint, error) {
	d, err := ckpt.NewDecoder(b, checkpointKind)
	if err != nil {
		return nil, err
	}
	c := &checkpoint{identity: identity{
		release: string(d.Bytes("release")), revision: string(d.Bytes("revision")), config: d.Bytes("config"),
	}}
	sums := d.Bytes("data")
	var restarts, islands int
	d.Ints("parts", &restarts, &islands)
	parts := func(name string, n int) (parts [][]byte) {
		for i := 0; i < n && d.Err() == nil; i++ {
			part := slices.Clip(d.Bytes(fmt.Sprint(name, " ", i))) // what follows is another's
			if len(part) == 0 {
				part = nil
			}
			parts = append(parts, part)
		}
		return parts
	}
	c.restarts, c.islands = parts("restart", restarts), parts("island", islands)
	if err := d.Err(); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(sums, &c.data); err != nil {
		return nil, fmt.Errorf("checkpoint: checksums of the data: %w", err)
	}
	return c, nil
}

// unpack brings the parts back: nil where one has not begun.
func (c *checkpoint) unpack() (restarts []*baseline.Restart, islands []*smc.State, err error) {
	for i, part := range c.restarts {
		restarts = append(restarts, nil)
		if part != nil {
			restarts[i] = new(baseline.Restart)
			if err := restarts[i].UnmarshalBinary(part); err != nil {
				return nil, nil, fmt.Errorf("restart %d: %w", i, err)
			}
		}
	}
	for i, part := range c.islands {
		islands = append(islands, nil)
		if part != nil {
			islands[i] = new(smc.State)
			if err := islands[i].UnmarshalBinary(part); err != nil {
				return nil, nil, fmt.Errorf("island %d: %w", i, err)
			}
		}
	}
	return restarts, islands, nil
}

// empty says that nothing has begun.
func (c *checkpoint) empty() bool {
	begun := func(part []byte) bool { return part != nil }
	return !slices.ContainsFunc(c.restarts, begun) && !slices.ContainsFunc(c.islands, begun)
}

// listed is how many values that differ are worth a line: a run of quite another config differs in nearly all.
const listed = 8

// differ says how a run that was saved as was differs from what is to go on: nil if it does not.
func (is *identity) differ(was *identity) error {
	if was.release != is.release || was.revision != is.revision {
		return fmt.Errorf("the run was begun by starling %s, this is %s: go on with that version, or begin anew in another folder",
			versionText(was.release, was.revision), versionText(is.release, is.revision))
	}
	if err := configDiffers(was.config, is.config); err != nil {
		return err
	}
	return dataDiffer(was.data, is.data)
}

// Differs says in which values a resolved Spec differs from the run's, whatever their names are; nil if it does not. Each
// stands in a line of its own, as far as there are few.
func (r *Run) Differs(spec Spec) error {
	spec.Name = r.Spec.Name
	return configDiffers(r.Spec.YAML(), spec.YAML())
}

func versionText(release, revision string) string {
	if revision == "" {
		return release
	}
	return release + " (" + revision + ")"
}

// configDiffers lists the values of two resolved configs that differ, by their paths; nil if there are none.
func configDiffers(was, is []byte) error {
	if bytes.Equal(was, is) {
		return nil
	}
	before, f := parse(was)
	if f != nil {
		return &DataError{fmt.Errorf("the config of the run: %s", f.message)}
	}
	now, f := parse(is)
	if f != nil {
		return errors.New("the resolved config: " + f.message)
	}
	var paths []string
	old, young := map[string]string{}, map[string]string{}
	now.leaves("", func(path, value string) { young[path], paths = value, append(paths, path) })
	before.leaves("", func(path, value string) {
		if old[path] = value; young[path] == "" {
			paths = append(paths, path)
		}
	})
	var faults []fault
	for _, path := range paths {
		if a, b := old[path], young[path]; a != b {
			faults = append(faults, fault{path: path, message: fmt.Sprintf("%s, but the run was begun with %s", absent(b), absent(a))})
		}
	}
	if more := len(faults) - listed; more > 0 {
		faults = append(faults[:listed], fault{message: fmt.Sprintf("… and %d more", more)})
	}
	return configError("", faults)
}

func absent(value string) string {
	if value == "" {
		return "nothing"
	}
	return value
}

// leaves calls f for every value below n that has no parts.
func (n *node) leaves(path string, f func(path, value string)) {
	if len(n.items) == 0 {
		f(path, n.flow())
		return
	}
	for i, item := range n.items {
		step := fmt.Sprint(i)
		if n.table {
			step = n.keys[i].name
		}
		item.leaves(strings.TrimPrefix(path+"."+step, "."), f)
	}
}

// dataDiffer names the parts whose examples are not the same.
func dataDiffer(was, is map[string]string) error {
	var faults []error
	for _, part := range slices.Sorted(maps.Keys(is)) {
		switch old, ok := was[part]; {
		case !ok:
			faults = append(faults, fmt.Errorf("the run had no %s examples, the data have", part))
		case old != is[part]:
			faults = append(faults, fmt.Errorf("the %s examples are not those of the run: checksum %s, was %s", part, is[part], old))
		}
	}
	for _, part := range slices.Sorted(maps.Keys(was)) {
		if _, ok := is[part]; !ok {
			faults = append(faults, fmt.Errorf("the run had %s examples, the data have none", part))
		}
	}
	if faults == nil {
		return nil
	}
	return &DataError{errors.Join(faults...)}
}

// checksums are those of the parts of a problem.
func checksums(p *data.Problem) map[string]string {
	sums := map[string]string{"train": p.Train.Checksum()}
	if p.Validate != nil {
		sums["validate"] = p.Validate.Checksum()
	}
	if p.Test != nil {
		sums["test"] = p.Test.Checksum()
	}
	for _, g := range p.Groups {
		sums[g.Name] = g.Set.Checksum()
	}
	return sums
}
