package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/spec"
)

// generate returns the contents of both files. Keys without a meaning are an error that names their fields.
func generate(root string) (text, page []byte, err error) {
	known, err := comments(root)
	if err != nil {
		return nil, nil, err
	}
	parts, err := os.ReadFile(filepath.Join(root, partsFile))
	if err != nil {
		return nil, nil, err
	}
	maps.Copy(known, partLines(string(parts)))
	network, filters := config.Describe[spec.Spec](spec.Families...), config.Describe[spec.Filtering](spec.FilterFamilies...)
	for i := range filters {
		filters[i].Family = spec.FilterFamily(filters[i].Family)
	}
	var missing []string
	used := map[string]string{}
	for _, k := range slices.Concat(network, filters) {
		var names []string
		if k.Struct != "" {
			names = append(names, k.Struct+"."+k.Field)
		}
		if k.Part != "" {
			names = append(names, k.Family+" "+k.Part)
		}
		for _, part := range k.Names {
			names = append(names, k.Family+" "+part)
		}
		for _, name := range names {
			if known[name] == "" {
				missing = append(missing, fmt.Sprintf("%s: %s has no comment that says what it means", k.Path, name))
			}
			used[name] = known[name]
		}
	}
	if missing != nil {
		return nil, nil, errors.New(strings.Join(missing, "\n"))
	}
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(used)) {
		fmt.Fprintf(&b, "%s\t%s\n", name, used[name])
	}
	return b.Bytes(), writePage(spec.Meant(network, used), spec.Meant(filters, used)), nil
}

// comments reads the comments of all fields of structs in the packages of the tree: mcmc.HMC.Steps. A field without one has what the
// comment of its type says the type is.
func comments(root string) (map[string]string, error) {
	types, fields, of := map[string]string{}, map[string]string{}, map[string]string{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && file != root && (strings.HasPrefix(d.Name(), "_") || strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		pkg := parsed.Name.Name
		for _, decl := range parsed.Decls {
			general, ok := decl.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, s := range general.Specs {
				t, ok := s.(*ast.TypeSpec)
				if !ok {
					continue
				}
				doc := t.Doc
				if doc == nil {
					doc = general.Doc
				}
				types[pkg+"."+t.Name.Name] = whatIs(t.Name.Name, first(doc.Text()))
				structure, ok := t.Type.(*ast.StructType)
				if !ok {
					continue
				}
				for _, f := range structure.Fields.List {
					for _, name := range f.Names {
						at := pkg + "." + t.Name.Name + "." + name.Name
						text := f.Doc.Text()
						if text == "" {
							text = f.Comment.Text()
						}
						fields[at] = whatIs(name.Name, oneLine(text))
						of[at] = typeOf(pkg, f.Type)
					}
				}
				for _, f := range structure.Fields.List {
					for _, name := range f.Names {
						at := pkg + "." + t.Name.Name + "." + name.Name
						fields[at] = inKeys(fields[at], structure)
					}
				}
			}
		}
		return nil
	})
	for name, text := range fields {
		if text == "" {
			fields[name] = types[of[name]]
		}
	}
	return fields, err
}

// inKeys writes the other fields of a struct that a comment names as a config writes them.
func inKeys(text string, structure *ast.StructType) string {
	for _, f := range structure.Fields.List {
		if f.Tag == nil || len(f.Names) != 1 {
			continue
		}
		tag, _ := strconv.Unquote(f.Tag.Value)
		key, _, _ := strings.Cut(reflect.StructTag(tag).Get("yaml"), ",")
		if key != "" && key != "-" && len(key) > 2 { // letters are symbols
			word := regexp.MustCompile(`([^A-Za-z.] ?)\b` + f.Names[0].Name + `\b`)
			text = word.ReplaceAllString(text, "${1}"+key)
		}
	}
	return text
}

// typeOf names the type of a field, of the items of a list, or of what a pointer points at.
func typeOf(pkg string, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return pkg + "." + e.Name
	case *ast.SelectorExpr:
		return fmt.Sprint(e.X, ".", e.Sel)
	case *ast.StarExpr:
		return typeOf(pkg, e.X)
	case *ast.ArrayType:
		return typeOf(pkg, e.Elt)
	}
	return ""
}

// oneLine joins the lines of a comment.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// first is the first sentence of a text, without its full stop.
func first(text string) string {
	text = oneLine(text)
	if i := strings.Index(text, ". "); i >= 0 {
		text = text[:i]
	}
	return strings.TrimSuffix(text, ".")
}

// whatIs is the comment of a name without the name, "the number of moves" for "Every is the number of moves", and without what is for
// Go programs alone and stands in brackets: that the value is nil, or what it is "in Go".
func whatIs(name, text string) string {
	for _, verb := range []string{"is ", "are ", ""} {
		text = strings.TrimPrefix(text, name+" "+verb)
	}
	return strings.TrimSuffix(inGo.ReplaceAllString(text, ""), ".")
}

// inGo is what a comment says in brackets to Go programs.
var inGo = regexp.MustCompile(` \((nil|in Go)[^)]*\)`)

// partLines reads what the parts are from the tables of docs/parts.md: "move hmc".
func partLines(page string) map[string]string {
	all := map[string]string{}
	heading := ""
	for line := range strings.Lines(page) {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			heading = strings.ToLower(strings.ReplaceAll(strings.TrimSpace(title), " ", ""))
			continue
		}
		if cells := strings.Split(line, " | "); len(cells) > 2 && strings.HasPrefix(line, "| `") {
			name := strings.Trim(cells[0], "| `")
			all[heading+" "+name] = first(strings.TrimSuffix(strings.TrimSpace(cells[len(cells)-1]), "|"))
		}
	}
	return all
}
