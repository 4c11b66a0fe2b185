package tcore

import "github.com/roundofflab/roundoff/internal/vector"

// features are the vector instructions that the matrix products use. Results do
// not depend on them.
var features = vector.Detect()
