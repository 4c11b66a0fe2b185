// Package examine lets a function of one process be called from another that
// does not trust it.
//
// Who asks holds one end of a connection and gets a function from [Remote]; who
// answers holds the other and calls [Serve]. Arguments and results are values,
// and functions that are handed over as arguments are called back where they
// are. Nothing else of either process can be reached from the other:
//
//	sum := examine.Remote(conn, reflect.TypeFor[func(add course.Add, x []float64) float64]())
//	sum.Interface().(func(course.Add, []float64) float64)(add, x) // runs where Serve was called
//
// It is how submissions are graded: checks run in one process, what students
// wrote in another.
package examine
