// Package examine lets one process call a function of another process that it
// does not trust.
//
// The two processes have the ends of one connection. The caller obtains a
// function from [Remote]; the process that has the function calls [Serve].
// Arguments and results are sent as values. A function that is passed as an
// argument runs in the process of the caller, where it is called back. Neither
// process can access anything else in the other:
//
//	sum := examine.Remote(conn, reflect.TypeFor[func(add course.Add, x []float64) float64]())
//	sum.Interface().(func(course.Add, []float64) float64)(add, x) // runs where Serve was called
//
// Submissions of students are graded in this way: the checks run in one
// process, the code of the student in another.
package examine
