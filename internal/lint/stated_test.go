package lint

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// decoders are the functions that take a number from the bytes of a file.
var decoders = []string{"Uint16", "Uint32", "Uint64", "Uvarint", "Varint", "ReadUvarint", "ReadVarint"}

// compared are files that compare such a number themselves.
var compared = map[string]string{
	"internal/ckpt/ckpt.go":      "Ints returns numbers of any sign, and refuses those that an int cannot hold",
	"cluster/exchange_frames.go": "cluster imports nothing of the project; stated refuses what no frame states",
}

// TestStatedNumbersAreChecked: a number that a file states becomes an int, to allocate and to cut by, in internal/stated alone, which
// compares it with the most that can be right. A reader that converts it by itself can forget to.
func TestStatedNumbersAreChecked(t *testing.T) {
	for _, p := range list(t, "./...") {
		name := relative(p.ImportPath)
		if own, ok := level[name]; !ok || own >= level["report"] || name == "internal/stated" {
			continue
		}
		for _, file := range p.GoFiles {
			faults := unchecked(t, filepath.Join(p.Dir, file), nil)
			if compared[name+"/"+file] != "" {
				if faults == nil {
					t.Errorf("%s/%s converts no number: take it off the list", name, file)
				}
				continue
			}
			for _, fault := range faults {
				t.Errorf("%s: write stated.Int(number, the most that can be right)", fault)
			}
		}
	}
	const wrong = `package p
func f(b []byte) {
	n := little.Uint32(b)
	m, k := binary.Uvarint(b)
	_, _, _ = int(little.Uint16(b)), int(n), int(m>>1)
	_, _, _ = int(k), int32(n), uint64(m)
}`
	if got := unchecked(t, "wrong.go", []byte(wrong)); len(got) != 3 {
		t.Errorf("of three conversions that are wrong, %v are found", got)
	}
}

// unchecked lists the conversions to int, in a file, of numbers that were decoded in the same function. The number of bytes that a number
// takes, the second result of Uvarint, is none.
func unchecked(t *testing.T, file string, text any) (faults []string) {
	t.Helper()
	set := token.NewFileSet()
	if b, ok := text.([]byte); ok && b == nil {
		text = nil
	}
	syntax, err := parser.ParseFile(set, file, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range syntax.Decls {
		stated := map[string]bool{}
		ast.Inspect(d, func(n ast.Node) bool {
			if a, ok := n.(*ast.AssignStmt); ok {
				for i, right := range a.Rhs {
					if name, ok := a.Lhs[i].(*ast.Ident); ok && decodes(right, stated) {
						stated[name.Name] = true
					}
				}
			}
			return true
		})
		ast.Inspect(d, func(n ast.Node) bool {
			c, ok := n.(*ast.CallExpr)
			if !ok || len(c.Args) != 1 {
				return true
			}
			if f, ok := c.Fun.(*ast.Ident); ok && f.Name == "int" && decodes(c.Args[0], stated) {
				faults = append(faults, fmt.Sprint(strings.TrimPrefix(set.Position(c.Pos()).String(), filepath.Dir(filepath.Dir(file))+"/")))
			}
			return true
		})
	}
	return faults
}

// decodes reports whether an expression is made of a decoded number: it is one, or computed from one.
func decodes(e ast.Expr, stated map[string]bool) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return stated[e.Name]
	case *ast.ParenExpr:
		return decodes(e.X, stated)
	case *ast.BinaryExpr:
		return decodes(e.X, stated) || decodes(e.Y, stated)
	case *ast.CallExpr:
		if f, ok := e.Fun.(*ast.SelectorExpr); ok {
			return len(e.Args) > 0 && slices.Contains(decoders, f.Sel.Name) // without arguments it is of a random stream
		}
		if f, ok := e.Fun.(*ast.Ident); ok && len(e.Args) == 1 && slices.Contains([]string{"uint64", "uint32", "uint16", "int64"}, f.Name) {
			return decodes(e.Args[0], stated)
		}
	}
	return false
}
