package reproduce

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
)

// A part is the text of a cell as a program can contain it.
type part struct {
	imports      map[string]string // by the name that they give: what stands after the word import
	declarations string
	statements   string
	fresh        string // assigns to its variables what they are declared with

	declares map[string]bool // names, for all cells
	uses     map[string]bool // names that it neither imports nor declares
}

// parsePart reads the text of a cell: imports, declarations and, after a line
// %%, statements. It returns an error if that is not all.
func parsePart(source string) (*part, error) {
	declarations, statements, _ := strings.Cut("\n"+source+"\n", "\n%%\n")
	if command.MatchString(declarations) || command.MatchString(statements) {
		return nil, errors.New("a command to the kernel")
	}
	const head = "package p\n"
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, "", head+declarations, 0)
	if err != nil {
		return nil, err
	}
	body, err := parser.ParseFile(files, "", head+"func _() {\n"+statements+"\n}\n", 0)
	if err != nil {
		return nil, err
	}
	if len(body.Decls) != 1 {
		return nil, errors.New("a brace that ends the statements")
	}
	p := &part{imports: map[string]string{}, statements: statements, declares: map[string]bool{}, uses: map[string]bool{}}
	text := func(from, to token.Pos) string {
		return declarations[files.Position(from).Offset-len(head) : files.Position(to).Offset-len(head)]
	}
	end := f.Name.End() + 1 // of what has been read
	for _, d := range f.Decls {
		switch g, _ := d.(*ast.GenDecl); {
		case g == nil:
		case g.Tok == token.IMPORT:
			p.declarations += text(end, g.Pos())
			end = g.End()
			for _, s := range g.Specs {
				p.imports[importName(s.(*ast.ImportSpec))] = text(s.Pos(), s.End())
			}
		case g.Tok == token.VAR:
			for _, s := range g.Specs {
				p.fresh += assignment(s.(*ast.ValueSpec), text)
			}
		}
	}
	p.declarations += text(end, f.FileEnd)
	for name := range f.Scope.Objects {
		if name == "main" || strings.HasPrefix(name, "init") || name == ends {
			return nil, fmt.Errorf("%s has a meaning of its own", name)
		}
		p.declares[name] = true
	}
	for _, id := range append(f.Unresolved, body.Unresolved...) {
		if _, imported := p.imports[id.Name]; !imported && !p.declares[id.Name] {
			p.uses[id.Name] = true
		}
	}
	return p, nil
}

// command matches a line that is a command to the kernel.
var command = regexp.MustCompile(`(?m)^\s*[%!]`)

// assignment returns the statement that assigns to variables what they are
// declared with.
func assignment(s *ast.ValueSpec, text func(from, to token.Pos) string) string {
	names := text(s.Names[0].Pos(), s.Names[len(s.Names)-1].End())
	if len(s.Values) > 0 {
		return names + " = " + text(s.Values[0].Pos(), s.Values[len(s.Values)-1].End()) + "\n"
	}
	zero := "*new(" + text(s.Type.Pos(), s.Type.End()) + ")"
	return names + " = " + strings.Join(slices.Repeat([]string{zero}, len(s.Names)), ", ") + "\n"
}

// version is the last element of the path of a module's later version.
var version = regexp.MustCompile(`^v[0-9]+$`)

// importName returns the name that an import most likely gives a package.
func importName(s *ast.ImportSpec) string {
	if s.Name != nil {
		return s.Name.Name
	}
	p := strings.Trim(s.Path.Value, "\"`")
	if version.MatchString(path.Base(p)) {
		p = path.Dir(p)
	}
	return path.Base(p)
}
