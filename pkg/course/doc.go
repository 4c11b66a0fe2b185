// Package course checks the answers to the assignments in
// notebooks/assignments.
//
// A check takes the student's function, calls it with inputs drawn from a seed,
// and compares what it returns with an oracle: exact arithmetic in math/big, an
// enumeration of all numbers of a format, or the property that was asked for.
// It returns if every answer is right and otherwise panics with the first call
// that is not, so that the cell of a notebook fails where it stands:
//
//	course.CheckRecursive(Recursive, 1)
//	// panic: course: Recursive(add, [0.25 0.5 … of 7]) = 0.75, want 1.25
//
// A check that has not returned after Deadline panics too: an endless loop
// costs its points, and nobody's time. No check writes to standard error.
//
//	assignment         checks
//	1-formats          CheckUnitRoundoff … CheckDoubleRounding, CheckSpacing
//	2-summation        CheckTwoSum … CheckBackwardError, CheckGrowth
//	3-fma              CheckRelativeError … CheckCancellation, CheckErrors
//	4-tensor-cores     CheckExponent … CheckTruncationConstant, CheckDrift
//
// The oracles compute otherwise than the packages that students use, wherever
// those would be the answer.
package course
