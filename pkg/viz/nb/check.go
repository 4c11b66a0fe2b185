package nb

import "fmt"

// Check panics if err is not nil, so that the cell visibly fails.
func Check(err error) {
	if err != nil {
		panic(fmt.Sprintf("nb: %v", err))
	}
}
