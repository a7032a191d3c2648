package main

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	gotoken "go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// code is a tree of Go packages. It reads each package once.
type code struct {
	root     string
	packages map[string]*pkg
	tests    map[string]map[string]bool // of a package's folder
}

// pkg is what one folder declares.
type pkg struct {
	declared map[string][]scope // a name may be declared in several files, for several systems
	err      error
}

// scope is a part of a file: a declaration, or the whole of it.
type scope struct {
	file  string // from the root
	text  string // of the file
	words []word
}

// word is a token of Go, or what stands between white space in another file.
type word struct {
	text     string
	from, to int // in the file
}

func newCode(root string) *code {
	return &code{root: root, packages: map[string]*pkg{}, tests: map[string]map[string]bool{}}
}

// broken returns the files that a fault changes, as it leaves them. It fails if an old text fits no place or several, or if
// there is no such test. It runs nothing.
func (c *code) broken(f *fault) (map[string]string, error) {
	if name, _, _ := strings.Cut(f.test.name, "/"); !c.testsOf(f.test.pkg)[name] {
		return nil, fmt.Errorf("there is no test %s in %s", name, f.test.pkg)
	}
	type change struct {
		scope    scope
		from, to int
		text     string
	}
	var changes []change
	for _, e := range f.edits {
		scopes, err := c.scopes(e)
		if err != nil {
			return nil, err
		}
		fits := 0
		for _, s := range scopes {
			places, err := s.find(e.old)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", e.place(), err)
			}
			fits += len(places)
			for _, p := range places {
				changes = append(changes, change{s, p.from, p.to, strings.TrimSuffix(e.new, "\n")})
			}
		}
		if fits != 1 {
			return nil, fmt.Errorf("%s: its text fits %d places, and must fit one: %s", e.place(), fits, strings.Join(strings.Fields(e.old), " "))
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(b.from, a.from) }) // from the end of a file to its beginning
	files := map[string]string{}
	behind := map[string]int{} // where the text begins that is changed already
	for _, ch := range changes {
		file := ch.scope.file
		text, ok := files[file]
		if !ok {
			text, behind[file] = ch.scope.text, len(ch.scope.text)
		}
		if ch.to > behind[file] {
			return nil, errors.New("two of its texts overlap in " + file)
		}
		files[file], behind[file] = text[:ch.from]+ch.text+text[ch.to:], ch.from
	}
	return files, nil
}

// scopes returns what an edit's declaration is.
func (c *code) scopes(e edit) ([]scope, error) {
	p := c.read(e.pkg)
	if p.err != nil {
		return nil, p.err
	}
	if scopes := p.declared[e.decl]; len(scopes) > 0 {
		return scopes, nil
	}
	if text, err := os.ReadFile(filepath.Join(c.root, e.pkg, e.decl)); err == nil && filepath.Ext(e.decl) != ".go" {
		return []scope{{filepath.Join(e.pkg, e.decl), string(text), fields(string(text))}}, nil
	}
	var fits []string
	for _, name := range slices.Sorted(maps.Keys(p.declared)) {
		for _, s := range p.declared[name] {
			if places, err := s.find(e.old); err == nil && len(places) == 1 {
				fits = append(fits, name)
			}
		}
	}
	if len(fits) > 0 && len(fits) < 4 {
		return nil, fmt.Errorf("there is no %s; its text fits %s", e.place(), strings.Join(fits, " and "))
	}
	return nil, fmt.Errorf("there is no %s", e.place())
}

// read parses a package, without its tests.
func (c *code) read(folder string) *pkg {
	folder = filepath.Clean(folder)
	if p, ok := c.packages[folder]; ok {
		return p
	}
	p := &pkg{declared: map[string][]scope{}}
	c.packages[folder] = p
	paths, _ := filepath.Glob(filepath.Join(c.root, folder, "*.go")) // an error is of the pattern
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		if err == nil {
			err = p.add(filepath.Join(folder, filepath.Base(path)), string(text))
		}
		p.err = cmp.Or(p.err, err)
	}
	return p
}

// add adds the declarations of a file.
func (p *pkg) add(name, text string) error {
	files := gotoken.NewFileSet()
	file, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	all, err := tokens(text)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	declare := func(decl string, n ast.Node) {
		from, to := files.Position(n.Pos()).Offset, files.Position(n.End()).Offset
		first, _ := slices.BinarySearchFunc(all, from, func(w word, at int) int { return cmp.Compare(w.from, at) })
		last, _ := slices.BinarySearchFunc(all, to, func(w word, at int) int { return cmp.Compare(w.from, at) })
		p.declared[decl] = append(p.declared[decl], scope{name, text, all[first:last]})
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			decl := d.Name.Name
			if d.Recv != nil {
				decl = receiver(d.Recv.List[0].Type) + "." + decl
			}
			declare(decl, d)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				node := ast.Node(s)
				if !d.Lparen.IsValid() {
					node = d // with its keyword
				}
				switch s := s.(type) {
				case *ast.TypeSpec:
					declare(s.Name.Name, node)
				case *ast.ValueSpec:
					for _, n := range s.Names {
						declare(n.Name, node)
					}
				}
			}
		}
	}
	return nil
}

// receiver returns the name of a receiver's type, without star and type parameters.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// find returns the places where a text stands in a scope, words that stand behind each other.
func (s scope) find(text string) (places []word, err error) {
	var want []word
	if filepath.Ext(s.file) == ".go" {
		if want, err = tokens(text); err != nil {
			return nil, err
		}
	} else {
		want = fields(text)
	}
	if len(want) == 0 {
		return nil, errors.New("an old text is empty")
	}
	same := func(a, b word) bool { return a.text == b.text }
	for i := range len(s.words) - len(want) + 1 {
		if got := s.words[i : i+len(want)]; slices.EqualFunc(got, want, same) {
			places = append(places, word{from: got[0].from, to: got[len(got)-1].to})
		}
	}
	return places, nil
}

// tokens divides Go code. What formatting adds and takes away is left out: comments, semicolons, and the comma behind the last
// element of a list.
func tokens(text string) (words []word, err error) {
	var s scanner.Scanner
	file := gotoken.NewFileSet().AddFile("", -1, len(text))
	s.Init(file, []byte(text), func(_ gotoken.Position, why string) { err = cmp.Or(err, errors.New(why)) }, 0)
	for {
		pos, tok, lit := s.Scan()
		if tok == gotoken.EOF {
			return words, err
		}
		if tok == gotoken.SEMICOLON {
			continue
		}
		if lit == "" {
			lit = tok.String()
		}
		if n := len(words); n > 0 && words[n-1].text == "," && (tok == gotoken.RPAREN || tok == gotoken.RBRACK || tok == gotoken.RBRACE) {
			words = words[:n-1]
		}
		from := file.Offset(pos)
		words = append(words, word{lit, from, from + len(lit)})
	}
}

// fields divides a text at white space.
func fields(text string) (words []word) {
	for _, at := range regexp.MustCompile(`\S+`).FindAllStringIndex(text, -1) {
		words = append(words, word{text[at[0]:at[1]], at[0], at[1]})
	}
	return words
}

var testLine = regexp.MustCompile(`(?m)^func (\w+)\(t \*testing\.T\)`)

// testsOf returns the names of a package's tests.
func (c *code) testsOf(folder string) map[string]bool {
	if names, ok := c.tests[folder]; ok {
		return names
	}
	names := map[string]bool{}
	c.tests[folder] = names
	paths, _ := filepath.Glob(filepath.Join(c.root, folder, "*_test.go")) // an error is of the pattern
	for _, path := range paths {
		if text, err := os.ReadFile(path); err == nil {
			for _, m := range testLine.FindAllSubmatch(text, -1) {
				names[string(m[1])] = true
			}
		}
	}
	return names
}
