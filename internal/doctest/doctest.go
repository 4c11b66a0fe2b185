// Package doctest lists the exported functions and methods of a package that
// have no example.
package doctest

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// Plain are the names of methods that need no example: the name of a type, and
// the methods that interfaces of the standard library and of figures require of
// every type.
var Plain = []string{
	"String", "Error", "Unwrap", "MarshalJSON", "UnmarshalJSON",
	"Name", "Caption", "SVG", "PNG", "CSV", "HTML",
}

// Missing returns the exported functions and methods of the package in the
// folder dir that have no example, such as "Gamma" and "Format.Round", in
// alphabetical order. For a constructor or a method of a type, a call in an
// example of the type is sufficient. Methods named in [Plain] and methods of
// unexported types need no example.
func Missing(dir string) ([]string, error) {
	pkg, err := read(dir)
	if err != nil {
		return nil, err
	}
	var missing []string
	look := func(name string, f *doc.Func, ofType ...*doc.Example) {
		if len(f.Examples) == 0 && !slices.ContainsFunc(ofType, calls(f.Name)) {
			missing = append(missing, name)
		}
	}
	for _, f := range pkg.Funcs {
		look(f.Name, f)
	}
	for _, t := range pkg.Types {
		for _, f := range t.Funcs {
			look(f.Name, f, t.Examples...)
		}
		for _, m := range t.Methods {
			if !slices.Contains(Plain, m.Name) {
				look(t.Name+"."+m.Name, m, t.Examples...)
			}
		}
	}
	slices.Sort(missing)
	return missing, nil
}

// calls returns a function that reports whether an example uses a function or
// method x.Name.
func calls(name string) func(*doc.Example) bool {
	return func(e *doc.Example) (found bool) {
		ast.Inspect(e.Code, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == name {
				found = true
			}
			return !found
		})
		return found
	}
}

// read returns the documentation of a package, from its files for this system
// and its tests.
func read(dir string) (*doc.Package, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("doctest: %s: %w", dir, fs.ErrNotExist)
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, path := range paths {
		f, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return doc.NewFromFiles(fset, files, strings.TrimSuffix(filepath.ToSlash(dir), "/"))
}
