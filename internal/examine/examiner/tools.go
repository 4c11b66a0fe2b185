package examiner

import (
	"fmt"
	"io"
	"os"
	"reflect"

	"github.com/roundofflab/roundoff/internal/examine"
	"github.com/roundofflab/roundoff/pkg/course"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// A tool is a function that Python calls by its name.
type tool struct {
	name string
	f    any
}

// tools are what students who write Go find in the packages.
var tools = []tool{
	{"formats", formats},
	{"ieee_formats", func() []tcore.Format { return course.IEEEFormats }},
	{"max", tcore.Format.Max},
	{"min_normal", tcore.Format.MinNormal},
	{"min_subnormal", tcore.Format.MinSubnormal},
	{"unit_roundoff", tcore.Format.UnitRoundoff},
	{"round", func(f tcore.Format, x float64) float64 { return f.Round(x, tcore.ToNearestEven) }},
	{"truncate", func(f tcore.Format, x float64) float64 { return f.Round(x, tcore.ToZero) }},
	{"add", func(f tcore.Format, a, b float64) float64 { return f.Add(a, b, tcore.ToNearestEven) }},
	{"mul", func(f tcore.Format, a, b float64) float64 { return f.Mul(a, b, tcore.ToNearestEven) }},
	{"fma", func(f tcore.Format, a, b, c float64) float64 { return f.FMA(a, b, c, tcore.ToNearestEven) }},
	{"mac", func(f tcore.Format, a, b, c float64) float64 { return f.MAC(a, b, c, tcore.ToNearestEven) }},
	{"gamma", roundoff.Gamma},
	{"gamma_tilde", roundoff.GammaTilde},
	{"higham_mary_lambda", func(confidence, u, events float64) float64 {
		return roundoff.HighamMaryLambda(roundoff.FailureOf(confidence), u, events)
	}},
	{"fma_bound", roundoff.FMA},
	{"mpfma_bound", func() roundoff.MACBound {
		return roundoff.MPFMARepresentedInputs(roundoff.TensorCoreF32, roundoff.DBEA)
	}},
	{"uniform", course.Uniform},
	{"operands", course.Operands},
	{"binades", course.Binades},
	{"lengths", course.Lengths},
	{"backward_dot", backwardDot},
	{"distribution", course.Distribution},
}

// Tools answers calls of the tools over standard input and output, until the
// other end closes them. It returns the status with which the process is to
// end: 0, or 1 after saying what the other end did wrong.
func Tools() (status int) {
	if err := serveTools(connection{os.Stdin, os.Stdout}); err != nil {
		fmt.Fprintln(os.Stderr, "examiner:", err)
		return 1
	}
	return 0
}

// serveTools answers calls of the tools. Function 0 returns their names and
// notations, in their order.
func serveTools(conn io.ReadWriter) error {
	var names, notations []string
	functions := []any{func() (n, t []string) { return names, notations }}
	for _, t := range tools {
		names, notations = append(names, t.name), append(notations, examine.Notation(reflect.TypeOf(t.f)))
		functions = append(functions, t.f)
	}
	return examine.Serve(conn, functions...)
}

// formats returns the formats that the assignments name.
func formats() []tcore.Format {
	return append([]tcore.Format{tcore.Binary32, tcore.TF32, tcore.Binary64}, course.IEEEFormats...)
}

// backwardDot is course.BackwardDot, which panics about another package if y is
// shorter than x.
func backwardDot(d float64, x, y []float64) float64 {
	if len(x) != len(y) || len(x) == 0 {
		panic(fmt.Sprintf("course: backward_dot of %d and %d numbers, want as many, at least one", len(x), len(y)))
	}
	return course.BackwardDot(d, x, y)
}
