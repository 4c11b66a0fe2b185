// Grader runs the checks of a cell on the answers of a student, and its status
// is the mark. It is built for grading alone, where no submission sees it:
//
//	grader '%%
//	course.CheckUlp(Ulp, 1)
//	course.CheckUlp(Ulp, 20261)'
//
// It exits with 0 if every check returns. Otherwise it exits with another
// status and writes a line "panic: …" with the call, its result and the
// expected result.
package main

import (
	"fmt"
	"os"

	"github.com/roundofflab/roundoff/internal/examine/examiner"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: grader CELL")
		os.Exit(2)
	}
	os.Exit(examiner.Check(os.Args[1]))
}
