package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/cells"
	"github.com/starling-smc/starling/internal/formats"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/sets"
	"github.com/starling-smc/starling/internal/table"
	"github.com/starling-smc/starling/internal/tables"
	"github.com/starling-smc/starling/method"
)

func newDataShow() *cobra.Command {
	var (
		dir, target    string
		form           csvForm
		flags          tableFlags
		words, jsonOut bool
		drop           []string
		rows           int
	)
	cmd := &cobra.Command{
		Use:   "show FILE|SET",
		Short: "Describe a file, or a data set known by name",
		Long: `Show describes a file: NPY, IDX or CSV (packed with gzip or not), Parquet, safetensors, or a .bin of CIFAR. It detects the
format from the content. Missing values and NaN are counted; data.csv.missing says what fit makes of them.
Names that a spreadsheet takes for formulas are warned of.

The delimiter and the header of a CSV are guessed, unless they are given. Columns hold numbers or words, as fit takes them, and those
are told that fit leaves out. Numbers may be written with currencies, units and marks between thousands: how is told. With
--words=false every cell must be a number, nan, inf or empty, but in the column that --target names. The columns that --drop names are
ignored. With --json all values are listed if there are at most 4,096, else a summary of them. With --rows it looks at the first rows
alone: of a large file in a moment.

If NAME is both a data set and a file, the data set is shown: write ./NAME for the file.`,
		Example: `  starling data show mine.csv --target species --words
  starling data show train-images-idx3-ubyte.gz --json
  starling data show mnist7`,
		Args: cobra.ExactArgs(1),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			names, _ := setNames(cmd, args, typed)
			return names, cobra.ShellCompDirectiveDefault // files too
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o := data.CSV{Target: target, Drop: drop, Words: words}
			if err := form.tell(&o); err != nil {
				return err
			}
			if cmd.Flags().Changed("rows") && rows < 1 {
				return wrongUse("--rows %d: want 1 or more", rows)
			}
			out := cmd.OutOrStdout()
			list := sets.List(dir)
			if k := slices.IndexFunc(list, func(k sets.Known) bool { return k.Name == args[0] }); k >= 0 {
				if flags.told() || rows > 0 {
					return wrongUse("%s is a data set: %s are for CSV files, --rows is for files", args[0], flags.list())
				}
				return showSet(out, list[k], dir, jsonOut)
			}
			line := newProgress(false, jsonOut)
			defer line.end()
			look := formats.Look{CSV: o, Rows: rows, Watch: func(rows int, share float64) {
				line.show(method.Status{Phase: "read " + filepath.Base(args[0]), Share: share, Long: numeral.Several(rows, "row") + " so far; --rows looks at the first alone"})
			}}
			d, err := formats.Show(args[0], look)
			line.end()
			var many *tables.ColumnFault
			for errors.As(err, &many) && many.Setting == "drop" && len(look.CSV.Drop) < len(drop)+mostLeftOut {
				writeNotes(os.Stderr, []string{fmt.Sprintf("Column %q has more than %s different words, and is not shown: fit asks for data.csv.drop.", many.Column, numeral.Count(tables.MaxCategories))})
				look.CSV.Drop = append(look.CSV.Drop, many.Column)
				many = nil
				d, err = formats.Show(args[0], look)
				line.end()
			}
			var noCSV *formats.NotCSVError
			var noRows *formats.NoRowsError
			var kind *tables.ColumnTypeError
			if errors.As(err, &kind) {
				err = fmt.Errorf("%w with --drop %s", err, quoted(inList(kind.Name)))
			}
			var fault *tables.ColumnFault
			if errors.As(err, &fault) {
				err = errors.New(fault.Mended("--" + fault.Setting + " " + quoted(inList(fault.Column))))
			}
			var cell *tables.CellError
			if errors.As(err, &cell) {
				mend := "--drop " + quoted(inList(cell.Name))
				if target == "" && !cell.Missing {
					mend += ", or, if it holds the classes, name it with --target " + quoted(cell.Name)
				}
				or := ": "
				if cell.Date {
					or = ", or "
				}
				err = fmt.Errorf("%w%sleave the column out with %s", err, or, mend)
				look.CSV.Words, look.Watch = true, nil
				if !words {
					if _, still := formats.Show(args[0], look); still == nil {
						writeNotes(os.Stderr, []string{"fit takes a column of words as categories: the table is shown so without --words=false."})
					}
				}
			}
			if told := ofNumbers(err); told != nil {
				err = told
			}
			switch {
			case errors.As(err, &noCSV), errors.As(err, &noRows):
				return usageError{err}
			case errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(args[0], `./\`):
				return wrongUse("%s is neither a file nor a data set: starling data list shows the sets", args[0])
			case err != nil:
				return &starling.DataError{Err: err}
			}
			if names := formulas(d.Table); names != nil {
				writeNotes(os.Stderr, []string{fmt.Sprintf("Spreadsheets take %s for a formula: give other names before a file with them is opened there. "+
					"starling predict --safe-csv writes an apostrophe before such a class.", numeral.List(names))})
			}
			if jsonOut {
				return jsontext.Write(out, d)
			}
			showFile(out, d)
			return nil
		},
	}
	flags.cmd = cmd
	flags.text(&target, "target", "`COLUMN` of a CSV that may hold names: its name, or its number if there is no header")
	flags.columns(&drop, "drop", "`COLUMNS` of a CSV that are left out, whatever they hold: names, or numbers if there is no header")
	flags.yes(&words, "words", "columns of a CSV may hold words, as fit takes them")
	form.flags(&flags, "a CSV")
	cmd.Flags().IntVar(&rows, "rows", 0, "look at the first `N` rows of a table or an array alone")
	dataDir(cmd, &dir)
	asJSON(cmd, &jsonOut)
	return cmd
}

// mostLeftOut is how many columns with too many words are left out of what is shown.
const mostLeftOut = 20

// formulas lists the names of columns and classes that spreadsheets take for formulas, in quotes, at most five of them.
func formulas(t *formats.TableSummary) (names []string) {
	if t == nil {
		return nil
	}
	all := slices.Clone(t.Header)
	for _, c := range t.Columns {
		all = append(all, c.Names...)
	}
	for _, name := range all {
		if cells.Formula(name) && len(names) < 5 {
			names = append(names, `"`+cut(name, 30)+`"`)
		}
	}
	return names
}

// inList writes a name as an item of a flag's list.
func inList(name string) string {
	if name == "" || strings.ContainsAny(name, ",\"\n") {
		return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
	}
	return name
}

// part is the JSON of a part of a data set.
type part struct {
	Name     string   `json:"name"`
	Examples int      `json:"examples"`
	Shape    []int    `json:"shape"` // of one
	DType    string   `json:"dtype"`
	Classes  int      `json:"classes,omitempty"`
	Names    []string `json:"names,omitempty"`
	Outputs  int      `json:"outputs,omitempty"`
	Sum      string   `json:"sha256"`
}

// showSet describes a data set known by name: its parts, and the columns if it is a table.
func showSet(w io.Writer, known sets.Known, dir string, jsonOut bool) error {
	problem, err := data.Load(known.Name, dir)
	if err != nil {
		return &starling.DataError{Err: err}
	}
	var parts []part
	for _, of := range problem.Parts() {
		s, dtype := of.Set, "float32"
		if s.U8 != nil {
			dtype = "uint8"
		}
		parts = append(parts, part{of.Name, s.Len(), s.Shape, dtype, s.Classes, s.Names, s.Outputs, s.Checksum()})
	}
	var columns *formats.TableSummary
	if data.Tabular(known.Name) {
		t, _, err := data.LoadTable(known.Name, dir)
		if err != nil {
			return &starling.DataError{Err: err}
		}
		columns = formats.ShowTable(t)
	}
	if jsonOut {
		return jsontext.Write(w, struct {
			Set     string                `json:"set"`
			About   string                `json:"about"`
			Licence string                `json:"licence"`
			Target  string                `json:"target,omitempty"`
			Parts   []part                `json:"parts"`
			Table   *formats.TableSummary `json:"table,omitempty"`
		}{known.Name, known.About, known.Licence, known.Target, parts, columns})
	}
	beside(w, known.Name+":", known.About)
	beside(w, "licence:", known.Licence)
	fmt.Fprintln(w)
	var t table.Table
	t.Add("part", "examples", "shape", "dtype", "targets", "sha256")
	for _, p := range parts {
		targets := "–"
		switch {
		case p.Classes > 0:
			targets = numeral.Count(p.Classes) + " classes"
		case p.Outputs > 0:
			targets = numeral.Several(p.Outputs, "number")
		}
		t.Add(p.Name, numeral.Count(p.Examples), dimensions(p.Shape), p.DType, targets, p.Sum[:12])
	}
	t.Write(w)
	if columns != nil {
		fmt.Fprintf(w, "\ntarget: %s; ", known.Target)
		showTable(w, columns)
	}
	return nil
}
