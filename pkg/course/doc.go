// Package course checks the answers to the assignments in
// notebooks/assignments.
//
// A check calls the student's function with inputs drawn from a seed and
// compares the results with an oracle: exact arithmetic in math/big, an
// enumeration of all numbers of a format, or the property that the assignment
// asks for. It returns if every answer is right. Otherwise it panics with the
// first call that is wrong, so that the cell of the notebook fails:
//
//	course.CheckRecursive(Recursive, 1)
//	// panic: course: Recursive(add, [0.25 0.5 … of 7]) = 0.75, want 1.25
//
// A check that has not returned after Deadline, that of a figure after
// FigureDeadline, panics too, so that an endless loop fails without blocking
// the notebook. No check writes to standard error.
//
//	assignment         checks
//	1-formats          CheckUnitRoundoff … CheckDoubleRounding, CheckSpacing
//	2-summation        CheckTwoSum … CheckBackwardError, CheckGrowth
//	3-fma              CheckRelativeError … CheckCancellation, CheckErrors
//	4-tensor-cores     CheckExponent … CheckTruncationConstant, CheckDrift
//
// Where the packages that students use would give the answer, the oracles
// compute it by other means.
package course
