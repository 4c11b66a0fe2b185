package nb

import "fmt"

// Check panics with the error if there is one, so that the cell fails where it
// can be seen.
func Check(err error) {
	if err != nil {
		panic(fmt.Sprintf("nb: %v", err))
	}
}
