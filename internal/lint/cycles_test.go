package lint

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// largestCycle is the largest number of files of a package that may use each other in a cycle
// (docs/adr/0009-cycles-of-files.md).
const largestCycle = 4

// largerCycles are the packages that may have a larger cycle, and why. A row fails when its number is larger than the
// package needs. A new row, or a larger number, needs a reason in the same page of docs/adr.
var largerCycles = map[string]struct {
	files  int
	reason string
}{
	"":     {25, "the Spec, its checks, data, engine and folder in one package: they are to be packages of their own"},
	"data": {21, "an array's file knows every reader, and the set its examples' sources"},
	"nn":   {11, "the program lists the ops of all layers, whose files use the program"},
	"smc":  {7, "the loop and its four parts share the Sampler; they are read together"},
}

// TestCyclesOfFiles: only few files of a package may use each other in a cycle, since they can only be understood together.
func TestCyclesOfFiles(t *testing.T) {
	packages, export := listExports(t)
	seen := map[string]bool{}
	for _, p := range packages {
		name := relative(p.ImportPath)
		graph, err := fileGraph(p, export)
		if err != nil {
			t.Errorf("%s: %v", p.ImportPath, err)
			continue
		}
		limit := largestCycle
		exception, excepted := largerCycles[name]
		if excepted {
			limit, seen[name] = exception.files, true
		}
		largest := 0
		for _, c := range components(graph) {
			largest = max(largest, len(c))
			if len(c) > 1 {
				t.Logf("package %q: %d files in a cycle: %s", name, len(c), strings.Join(c, ", "))
			}
			if len(c) > limit {
				t.Errorf("package %q: %d files use each other in a cycle, more than %d (docs/adr/0009-cycles-of-files.md):\n%s", name, len(c), limit, describe(graph, c))
			}
		}
		if excepted && largest < limit {
			t.Errorf("package %q has cycles of %d files at most: lower its row of %d in largerCycles, or remove it", name, largest, limit)
		}
	}
	for name := range largerCycles {
		if !seen[name] {
			t.Errorf("there is no package %q any more: remove it from largerCycles", name)
		}
	}
}

// listExports returns the module's packages, and the files of the compiler's export data for them and all their imports.
func listExports(t *testing.T) (own []goPackage, export map[string]string) {
	t.Helper()
	export = map[string]string{}
	for _, p := range list(t, "-export", "-deps", "./...") {
		export[p.ImportPath] = p.Export
		if p.ImportPath == module || strings.HasPrefix(p.ImportPath, module+"/") {
			own = append(own, p)
		}
	}
	return own, export
}

// fileGraph returns, for each written file of a package, the files that declare what it uses: types, functions, variables,
// fields, methods.
func fileGraph(p goPackage, export map[string]string) (map[string]map[string]bool, error) {
	set := token.NewFileSet()
	var files []*ast.File
	graph := map[string]map[string]bool{}
	for _, name := range p.GoFiles {
		path := filepath.Join(p.Dir, name)
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		f, err := parser.ParseFile(set, path, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
		if !ast.IsGenerated(f) {
			graph[name] = map[string]bool{}
		}
	}
	lookup := func(path string) (io.ReadCloser, error) {
		if export[path] == "" {
			return nil, fmt.Errorf("no export data of %s", path)
		}
		return os.Open(export[path])
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: importer.ForCompiler(set, "gc", lookup)}
	if _, err := config.Check(p.ImportPath, set, files, info); err != nil {
		return nil, err
	}
	for id, object := range info.Uses {
		if object.Pkg() == nil || object.Pkg().Path() != p.ImportPath || !object.Pos().IsValid() {
			continue
		}
		from, to := filepath.Base(set.Position(id.Pos()).Filename), filepath.Base(set.Position(object.Pos()).Filename)
		if from != to && graph[from] != nil && graph[to] != nil {
			graph[from][to] = true
		}
	}
	return graph, nil
}

// components returns the strongly connected components of a graph, by Tarjan's algorithm, each sorted.
func components(graph map[string]map[string]bool) (all [][]string) {
	number, low := map[string]int{}, map[string]int{}
	var stack []string
	var visit func(v string)
	visit = func(v string) {
		number[v] = len(number) + 1
		low[v] = number[v]
		stack = append(stack, v)
		for _, w := range slices.Sorted(maps.Keys(graph[v])) {
			if number[w] == 0 {
				visit(w)
				low[v] = min(low[v], low[w])
			} else if slices.Contains(stack, w) {
				low[v] = min(low[v], number[w])
			}
		}
		if low[v] == number[v] {
			at := slices.Index(stack, v)
			c := slices.Clone(stack[at:])
			stack = stack[:at]
			slices.Sort(c)
			all = append(all, c)
		}
	}
	for _, v := range slices.Sorted(maps.Keys(graph)) {
		if number[v] == 0 {
			visit(v)
		}
	}
	return all
}

// describe shows which file of a component uses which.
func describe(graph map[string]map[string]bool, component []string) string {
	var b bytes.Buffer
	for _, from := range component {
		var uses []string
		for _, to := range component {
			if graph[from][to] {
				uses = append(uses, to)
			}
		}
		fmt.Fprintf(&b, "\t%s uses %s\n", from, strings.Join(uses, ", "))
	}
	return b.String()
}

// The use of a method counts as a use of the file that declares it, even if neither file names the other's types. Generated
// files and declarations of other packages do not count.
func TestFileGraph(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.go": "package p\n\nimport \"strings\"\n\ntype A struct{ b B }\n\nvar _ = strings.ToUpper\n",
		"b.go": "package p\n\ntype B struct{ n int }\n\nfunc f() { g().run() }\n",
		"c.go": "package p\n\nfunc (a A) run() { a.b.n++ }\n\nfunc free[T any](t T) T { return t }\n",
		"d.go": "package p\n\nfunc g() A { return free(A{}) }\n",
		"e.go": "package p\n\nvar e = 1\n",
		"z.go": "// Code generated by hand. DO NOT EDIT.\n\npackage p\n\nfunc z() { f(); _ = e }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	_, export := listExports(t)
	graph, err := fileGraph(goPackage{ImportPath: "p", Dir: dir, GoFiles: []string{"a.go", "b.go", "c.go", "d.go", "e.go", "z.go"}}, export)
	if err != nil {
		t.Fatal(err)
	}
	want := "a.go: [b.go] b.go: [c.go d.go] c.go: [a.go b.go] d.go: [a.go c.go] e.go: [] "
	got := ""
	for _, f := range slices.Sorted(maps.Keys(graph)) {
		got += fmt.Sprintf("%s: %v ", f, slices.Sorted(maps.Keys(graph[f])))
	}
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if all := fmt.Sprint(components(graph)); all != "[[a.go b.go c.go d.go] [e.go]]" {
		t.Errorf("components %s", all)
	}
}
