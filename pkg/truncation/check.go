package truncation

import "github.com/roundofflab/roundoff/internal/argument"

// check panics about arguments of this package.
const check = argument.Package("truncation")
