package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"testing"
)

// TestOffersHaveNames: what a part may offer beside its interface is an interface with a name and a comment, beside the type that offers it,
// so that a newcomer finds all of them. A type assertion or a case does not spell it out.
func TestOffersHaveNames(t *testing.T) {
	files := token.NewFileSet()
	assertions := 0
	for _, p := range list(t, "./...") {
		for _, name := range p.GoFiles {
			tree, err := parser.ParseFile(files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(tree, func(n ast.Node) bool {
				var asked []ast.Expr
				switch n := n.(type) {
				case *ast.TypeAssertExpr:
					asked = []ast.Expr{n.Type}
					assertions++
				case *ast.CaseClause:
					asked = n.List
				}
				for _, one := range asked {
					if one, ok := one.(*ast.InterfaceType); ok {
						t.Errorf("%s asks for an interface without a name", files.Position(one.Pos()))
					}
				}
				return true
			})
		}
	}
	if assertions < 50 {
		t.Errorf("%d type assertions seen: the test looks in the wrong places", assertions)
	}
}
