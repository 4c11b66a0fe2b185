package abi

import (
	"fmt"
	"strings"
)

// Header returns the header of the library, for C and C++.
func Header() string {
	var b strings.Builder
	fmt.Fprintf(&b, `/* roundoff.h: emulated matrix units and bounds on rounding errors, for C and C++.
 * Written by go generate from the table in internal/abi; not to be edited.
 *
 * Every function returns a code below and, unless answer is NULL, stores in *answer a text of UTF-8
 * that ends with a zero byte: JSON if the code is ROUNDOFF_OK, unless the function says otherwise, and
 * if it is not what is wrong, with the name of the argument and its value. The caller frees it by
 * roundoff_free. A question is an object in JSON; NULL and "" ask with all defaults, and a key that
 * there is not is an error. Nothing of the caller's is kept. All functions may be called by several
 * threads at the same time, but by no child of a fork(2) whose parent has called or loaded this
 * library: the threads that it needs are not there.
 */
#ifndef ROUNDOFF_H
#define ROUNDOFF_H

#include <stdint.h>

#define ROUNDOFF_ABI %d

enum {
	ROUNDOFF_OK = %d,
	ROUNDOFF_ARGUMENT = %d,  /* an argument is wrong */
	ROUNDOFF_FAILED = %d,    /* a file, or what it contains, is not as it has to be */
	ROUNDOFF_CANCELLED = %d, /* *cancel was not 0; what was to be written may be written in part */
	ROUNDOFF_FAULT = %d      /* a mistake of this library */
};

/* A matrix in the memory of the caller, which has to be readable, or writable where a function
 * stores it: elements are codes of the format, little-endian, in 1, 2, 4 or 8 bytes.
 * roundoff_formats lists them. Strides may be negative, and 0 where a matrix is only read. */
typedef struct {
	const char *format; /* "binary32", "binary64", "binary16", "bfloat16", "e4m3", ... */
	void *data;         /* the element of row 0 and column 0 */
	int64_t rows, columns;
	int64_t row_stride, column_stride; /* in bytes */
} roundoff_matrix;

/* A box answers dot products, as many as the matrices have rows, in a way that is to be found out. It
 * stores c[i] + the products of row i of x and of y in d[i], as codes: x and y have k columns, c and d one,
 * and scale_x and scale_y, NULL if there are no scales, k / "scale_block". Rows follow each other without
 * gaps. The matrices are there until it returns. It returns 0, or another number if it failed. */
typedef int (*roundoff_box)(void *context, const roundoff_matrix *x, const roundoff_matrix *y,
	const roundoff_matrix *scale_x, const roundoff_matrix *scale_y, const roundoff_matrix *c,
	const roundoff_matrix *d);

#ifndef ROUNDOFF_TYPES_ONLY
#ifdef __cplusplus
extern "C" {
#endif

/* Frees an answer; NULL is no error. */
void roundoff_free(char *answer);
`, Version, OK, Argument, Failed, Cancelled, Fault)
	for _, f := range Functions {
		b.WriteString("\n/* " + strings.Join(f.Doc, "\n * "))
		for _, m := range f.Matrices {
			if strings.HasPrefix(m, "?") {
				b.WriteString("\n * May be NULL: " + strings.Join(optional(f.Matrices), ", ") + ".")
				break
			}
		}
		if f.Cancel {
			b.WriteString("\n * It ends soon after *cancel is not 0, unless cancel is NULL.")
		}
		b.WriteString(" */\n" + Prototype(f) + ";\n")
	}
	b.WriteString(`
/* What roundoff.course of the package for Python calls in a process that it starts for that; no part of
 * ROUNDOFF_ABI. It runs the checks of a cell on a function of the process at the other end of standard
 * input and output, or, if cell is NULL or "", computes what that process asks for. It takes SIGINT and
 * SIGABRT and does not return: it ends the process, with 0, or with another status and a line on
 * standard error. */
void roundoff_examine(const char *cell);
`)
	b.WriteString("\n#ifdef __cplusplus\n}\n#endif\n#endif /* ROUNDOFF_TYPES_ONLY */\n#endif /* ROUNDOFF_H */\n")
	return b.String()
}

// Prototype returns the declaration of a function in C.
func Prototype(f Function) string {
	var arguments []string
	if f.Question {
		arguments = append(arguments, "const char *question")
	}
	for _, m := range f.Matrices {
		arguments = append(arguments, "const roundoff_matrix *"+strings.TrimPrefix(m, "?"))
	}
	if f.Box {
		arguments = append(arguments, "roundoff_box box", "void *context")
	}
	if f.Cancel {
		arguments = append(arguments, "const int32_t *cancel")
	}
	text, line := "", "int roundoff_"+f.Name+"("
	for i, a := range append(arguments, "char **answer") {
		if i > 0 {
			line += ","
			if len(line)+len(a) > 98 {
				text, line = text+line+"\n", "\t"
			} else {
				line += " "
			}
		}
		line += a
	}
	return text + line + ")"
}

// optional returns the names of matrices that may be NULL.
func optional(matrices []string) (names []string) {
	for _, m := range matrices {
		if name, ok := strings.CutPrefix(m, "?"); ok {
			names = append(names, name)
		}
	}
	return names
}
