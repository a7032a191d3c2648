package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// ownBytes are functions that take bytes and read nothing of a stranger's themselves.
var ownBytes = map[string]string{
	".Grid":                 "hands a config to ParseSpec",
	"internal/runs.RunPart": "hands the state of a part to its UnmarshalBinary, which the checkpoint's checksum has passed",
}

// TestEveryReaderIsFuzzed: an exported function of the library that takes bytes or an io.Reader, and may fail, reads what a stranger
// wrote: a fuzz target of some package reaches it, through functions and the methods of their packages. A function of one line
// hands its bytes on to one that is reached. A reader of an internal package is called, or stands in a table such as that of formats.
func TestEveryReaderIsFuzzed(t *testing.T) {
	all := functions(t)
	reached := map[string]bool{}
	var visit func(string)
	visit = func(name string) {
		if f := all[name]; f != nil && !reached[name] {
			reached[name] = true
			for other := range f.uses {
				visit(other)
			}
		}
	}
	for name, f := range all {
		if f.fuzzes {
			visit(name)
		}
	}
	used := map[string]bool{}
	for name, f := range all {
		for other := range f.uses {
			used[other] = used[other] || other != name && !f.test
		}
	}
	readers := 0
	for name, f := range all {
		if !f.reads {
			continue
		}
		readers++
		if ownBytes[name] == "" && strings.HasPrefix(name, "internal/") && !used[name] {
			t.Errorf("%s: nothing reads by %s: call it, or give it a row in the table of its kind (internal/formats)", f.file, name)
		}
		on := false
		for other := range f.uses {
			on = on || f.line && reached[other] && all[other].reads
		}
		if ownBytes[name] == "" && !reached[name] && !on {
			t.Errorf("%s: no fuzz target reaches the reader %s: write a func FuzzXxx(f *testing.F) that calls it", f.file, name)
		}
	}
	if readers < 20 {
		t.Errorf("%d readers were found", readers)
	}
	for name := range ownBytes {
		if all[name] == nil || !all[name].reads || reached[name] {
			t.Errorf("%s is no reader, or is fuzzed: take it off the list", name)
		}
	}
}

// function is a function, all methods of a name in a package, or all variables of a file.
type function struct {
	file                      string
	uses                      map[string]bool // what it names: functions as PACKAGE.NAME, methods of its package as PACKAGE.()NAME
	reads, fuzzes, line, test bool
}

// functions are those of all packages, by names as in uses.
func functions(t *testing.T) map[string]*function {
	all := map[string]*function{}
	for _, p := range list(t, "./...") {
		dir := relative(p.ImportPath)
		files, err := filepath.Glob(filepath.Join(p.Dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			syntax, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			imported := map[string]string{}
			for _, i := range syntax.Imports {
				if at, err := strconv.Unquote(i.Path.Value); err == nil && strings.HasPrefix(at, module) {
					imported[path.Base(at)] = relative(at)
				}
			}
			for _, d := range syntax.Decls {
				f := &function{file: file, uses: map[string]bool{}, test: strings.HasSuffix(file, "_test.go")}
				name := dir + " " + file
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
					name = f.describe(dir, fn)
				}
				if all[name] == nil {
					all[name] = f
				}
				all[name].name(dir, imported, d)
			}
		}
	}
	return all
}

// describe says what a function is, and returns its name.
func (f *function) describe(dir string, fn *ast.FuncDecl) string {
	f.line, f.fuzzes = len(fn.Body.List) == 1, f.test && strings.HasPrefix(fn.Name.Name, "Fuzz")
	if fn.Recv != nil {
		return dir + ".()" + fn.Name.Name
	}
	if own, ok := level[dir]; ok && own < level["report"] && !f.test && fn.Name.IsExported() && fails(fn.Type) {
		for _, p := range fn.Type.Params.List {
			f.reads = f.reads || isBytes(p.Type)
		}
	}
	return dir + "." + fn.Name.Name
}

// name adds what a declaration names.
func (f *function) name(dir string, imported map[string]string, d ast.Decl) {
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok {
				if of, ok := imported[x.Name]; ok {
					f.uses[of+"."+n.Sel.Name] = true
				}
			}
			f.uses[dir+".()"+n.Sel.Name] = true
		case *ast.Ident:
			f.uses[dir+"."+n.Name] = true
		}
		return true
	})
}

// fails reports whether a function returns an error.
func fails(fn *ast.FuncType) bool {
	if fn.Results == nil {
		return false
	}
	last, ok := fn.Results.List[len(fn.Results.List)-1].Type.(*ast.Ident)
	return ok && last.Name == "error"
}

// isBytes reports whether a type is []byte, io.Reader or another reader of io.
func isBytes(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.ArrayType:
		of, ok := e.Elt.(*ast.Ident)
		return e.Len == nil && ok && of.Name == "byte"
	case *ast.SelectorExpr:
		of, ok := e.X.(*ast.Ident)
		return ok && of.Name == "io" && strings.HasPrefix(e.Sel.Name, "Reader")
	}
	return false
}
