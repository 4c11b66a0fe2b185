package sweep

import (
	"fmt"

	"gonum.org/v1/gonum/mathext"
)

// ClopperPearson returns the exact confidence interval [lo, hi] of the
// probability of an event that occurred failed times in the given number of
// independent trials. Each end is on the wrong side of the probability with a
// chance of at most (1 - confidence)/2 (Clopper & Pearson 1934). It panics
// unless 0 <= failed <= trials, 1 <= trials and 0 < confidence < 1.
func ClopperPearson(failed, trials int, confidence float64) (lo, hi float64) {
	if failed < 0 || failed > trials || trials < 1 {
		panic(fmt.Sprintf("sweep: ClopperPearson: %d of %d, want 0 <= failed <= trials, 1 <= trials", failed, trials))
	}
	if !(0 < confidence && confidence < 1) {
		panic(fmt.Sprintf("sweep: ClopperPearson: confidence = %v, want 0 < confidence < 1", confidence))
	}
	α, x, n := 1-confidence, float64(failed), float64(trials)
	lo, hi = 0, 1
	if failed > 0 {
		lo = mathext.InvRegIncBeta(x, n-x+1, α/2)
	}
	if failed < trials {
		hi = mathext.InvRegIncBeta(x+1, n-x, 1-α/2)
	}
	return lo, hi
}
