package truncation

import "github.com/roundofflab/roundoff/internal/argument"

// check panics if an argument of a function of this package is out of range.
const check = argument.Package("truncation")
