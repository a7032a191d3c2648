package paper

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/jsontext"
)

// Figures that take minutes, such as predictions by a thousand networks, are computed once a run and kept beside its folder.

// figuresFile is the file of the figures of a run in a folder.
func figuresFile(dir string) string { return dir + ".figures" }

// figures are the slow Measures of a run.
type figures struct {
	Run     string            `json:"run"` // checksum of its manifest
	Figures map[string]Values `json:"figures"`
}

// readFigures reads what is kept of a run with that checksum: nothing, nil, if the folder had another run then.
func readFigures(dir, checksum string) (map[string]Values, error) {
	text, err := os.ReadFile(figuresFile(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var f figures
	if err := jsontext.Read(text, &f); err != nil {
		return nil, &starling.DataError{Err: fmt.Errorf("%s does not hold the figures of a run, and may be removed: %w", figuresFile(dir), err)}
	}
	if f.Run != checksum {
		return nil, nil
	}
	return f.Figures, nil
}

// keepFigures keeps the slow ones of a run, if they are not all kept already.
func (t *Table) keepFigures(dir, checksum string, all, kept map[string]Values) error {
	f, fresh := figures{checksum, map[string]Values{}}, false
	for _, m := range t.Figures {
		if m.Slow {
			f.Figures[m.Name] = all[m.Name]
			_, ok := kept[m.Name]
			fresh = fresh || !ok
		}
	}
	if !fresh {
		return nil
	}
	return ckpt.Replace(figuresFile(dir), "", func(w io.Writer) error { return jsontext.Write(w, f) })
}
