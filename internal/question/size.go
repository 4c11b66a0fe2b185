package question

import "fmt"

// MostTerms is the largest size in a question about bounds, which compute with
// sizes in binary64.
const MostTerms = 1 << 53

// A Size is an argument that counts, and its value.
type Size struct {
	Name  string
	Value int
}

// CheckSizes returns an error that names the first size that is not between 1
// and most, or nil.
func CheckSizes(most int, sizes ...Size) error {
	for _, s := range sizes {
		if s.Value < 1 || s.Value > most {
			return fmt.Errorf("-%s %d, want 1 to %d", s.Name, s.Value, most)
		}
	}
	return nil
}

// MostDrawn is the largest number of elements of matrices that are drawn and
// judged. They then take about a gigabyte.
const MostDrawn = 40_000_000

// CheckMatrices returns an error if a size is below 1, or if A, B and four
// times D have more than most elements together. D counts four times because
// several results are stored for each output.
func CheckMatrices(most, m, n, k int) error {
	M, N, K := float64(m), float64(n), float64(k)
	if min(m, n, k) < 1 || M*K+K*N+4*M*N > float64(most) {
		return fmt.Errorf("A is %d × %d and B %d × %d, want 1 to %d elements of them and four times their product together", m, k, k, n, most)
	}
	return nil
}

// MostElements is the largest number of elements of D: small files can have a
// product larger than any memory.
const MostElements = 1 << 28
