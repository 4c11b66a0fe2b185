// Package examiner runs the checks of a cell on a function of another process,
// in a process of its own, whose standard input and output are the connection
// to that process. A cell of Go is
//
//	%%
//	course.CheckUlp(Ulp, 1)
//	course.CheckUlp(Ulp, 20261)
//
// and one of Python is course.check("ulp", ulp, 1): the name is that of the
// check in the letters of Python. No code of a student runs in this process.
//
// It also answers what Python asks: the functions of the list tools, for which
// the Go of students has packages.
//
// The library for C has this package for Python, internal/examine/grader for
// those who grade.
package examiner

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/roundofflab/roundoff/internal/examine"
	"github.com/roundofflab/roundoff/pkg/course"
)

// checks are the checks that a cell may call. The first argument of each is the
// student's function; some have a seed as a second argument.
var checks = map[string]any{
	"CheckUnitRoundoff":          course.CheckUnitRoundoff,
	"CheckFirstGap":              course.CheckFirstGap,
	"CheckUlp":                   course.CheckUlp,
	"CheckRoundNormal":           course.CheckRoundNormal,
	"CheckRoundTies":             course.CheckRoundTies,
	"CheckRoundSubnormal":        course.CheckRoundSubnormal,
	"CheckRoundOverflow":         course.CheckRoundOverflow,
	"CheckWorst":                 course.CheckWorst,
	"CheckDoubleRounding":        course.CheckDoubleRounding,
	"CheckSpacing":               course.CheckSpacing[examine.Sheet],
	"CheckTwoSum":                course.CheckTwoSum,
	"CheckRecursive":             course.CheckRecursive,
	"CheckPairwise":              course.CheckPairwise,
	"CheckBlocked":               course.CheckBlocked,
	"CheckCompensated":           course.CheckCompensated,
	"CheckBackwardError":         course.CheckBackwardError,
	"CheckGrowth":                course.CheckGrowth[examine.Sheet],
	"CheckRelativeError":         course.CheckRelativeError,
	"CheckFMADelta":              course.CheckFMADelta,
	"CheckMACDeltas":             course.CheckMACDeltas,
	"CheckBackwardFMA":           course.CheckBackwardFMA,
	"CheckBackwardMAC":           course.CheckBackwardMAC,
	"CheckMixedFMA":              course.CheckMixedFMA,
	"CheckForwardBound":          course.CheckForwardBound,
	"CheckCancellation":          course.CheckCancellation,
	"CheckErrors":                course.CheckErrors[examine.Sheet],
	"CheckExponent":              course.CheckExponent,
	"CheckCut":                   course.CheckCut,
	"CheckBlock":                 course.CheckBlock,
	"CheckDot":                   course.CheckDot,
	"CheckFractionBits":          course.CheckFractionBits,
	"CheckViolation":             course.CheckViolation,
	"CheckDrift":                 course.CheckDrift[examine.Sheet],
	"CheckRecursiveConstant":     course.CheckRecursiveConstant,
	"CheckPairwiseConstant":      course.CheckPairwiseConstant,
	"CheckBlockedConstant":       course.CheckBlockedConstant,
	"CheckTruncationConstant":    course.CheckTruncationConstant,
	"CheckBackwardRepresented":   course.CheckBackwardRepresented,
	"CheckProbabilisticConstant": course.CheckProbabilisticConstant,
}

// check is one call in a cell.
type check struct {
	call  reflect.Value
	seeds []reflect.Value // arguments after the function
}

// comment matches a line of Python that is a comment.
var comment = regexp.MustCompile(`(?m)^[ \t]*#.*$`)

// parse returns the checks of a cell, all of which must concern the same
// function.
func parse(cell string) ([]check, error) {
	body := comment.ReplaceAllString(strings.TrimPrefix(cell, "%%"), "")
	file, err := parser.ParseFile(token.NewFileSet(), "cell", "package cell\nfunc _() {"+body+"\n}", 0)
	if err != nil {
		return nil, err
	}
	if len(file.Decls) != 1 {
		return nil, errors.New("more than calls of checks")
	}
	var found []check
	var function string
	for _, s := range file.Decls[0].(*ast.FuncDecl).Body.List {
		statement, ok := s.(*ast.ExprStmt)
		if !ok {
			return nil, fmt.Errorf("a %T, want calls of checks", s)
		}
		call, ok := statement.X.(*ast.CallExpr)
		if !ok {
			return nil, fmt.Errorf("a %T, want calls of checks", statement.X)
		}
		c, of, err := parseCall(call)
		if err != nil {
			return nil, err
		}
		if function != "" && of != function {
			return nil, fmt.Errorf("checks of %s and of %s", function, of)
		}
		function, found = of, append(found, c)
	}
	if len(found) == 0 {
		return nil, errors.New("no check")
	}
	return found, nil
}

func parseCall(call *ast.CallExpr) (c check, function string, err error) {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return c, "", errors.New("a call of something else than course.Check…")
	}
	name, args := selector.Sel.Name, call.Args
	if name == "check" && len(args) > 0 { // Python's
		if literal, ok := args[0].(*ast.BasicLit); ok && literal.Kind == token.STRING {
			name, args = checkOf(strings.Trim(literal.Value, "`\"")), args[1:]
		}
	}
	f, ok := checks[name]
	if x, isName := selector.X.(*ast.Ident); !ok || !isName || x.Name != "course" {
		return c, "", fmt.Errorf("%s is no check of pkg/course", name)
	}
	c.call = reflect.ValueOf(f)
	if t := c.call.Type(); len(args) != t.NumIn() {
		return c, "", fmt.Errorf("%s of %d arguments, want %d", name, len(args), t.NumIn())
	}
	of, ok := args[0].(*ast.Ident)
	if !ok {
		return c, "", fmt.Errorf("the first argument of %s is no name", name)
	}
	for _, a := range args[1:] {
		literal, ok := a.(*ast.BasicLit)
		if !ok {
			return c, "", fmt.Errorf("a seed of %s is no number", name)
		}
		seed, err := strconv.ParseUint(literal.Value, 0, 64)
		if err != nil {
			return c, "", err
		}
		c.seeds = append(c.seeds, reflect.ValueOf(seed))
	}
	return c, of.Name, nil
}

// checkOf returns the name of the check that Python calls mac_deltas:
// CheckMACDeltas. It returns the name itself if there is none.
func checkOf(python string) string {
	letters := "Check" + strings.ReplaceAll(python, "_", "")
	for name := range checks {
		if strings.EqualFold(name, letters) {
			return name
		}
	}
	return python
}

// run runs the checks on the function at the other end. It panics if a check
// panics.
func run(checks []check, conn io.ReadWriter) {
	f := examine.Remote(conn, checks[0].call.Type().In(0))
	for _, c := range checks {
		c.call.Call(append([]reflect.Value{f}, c.seeds...))
	}
}

type connection struct {
	io.Reader
	io.Writer
}

// Check runs the checks of a cell over standard input and output. It returns
// the status with which the process is to end: 0 if every check returns, or 2
// after saying what is wrong with the cell. A check panics with the call, its
// result and the expected result, also in a goroutine of its own when it is
// late: such a panic has to end the process.
func Check(cell string) (status int) {
	found, err := parse(cell)
	if err != nil {
		fmt.Fprintln(os.Stderr, "examiner:", err)
		return 2
	}
	run(found, connection{os.Stdin, os.Stdout})
	return 0
}
