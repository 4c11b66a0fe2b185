package paper_test

import (
	"fmt"

	"github.com/roundofflab/roundoff/pkg/paper"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// The largest errors of the multiply-accumulate of Section 4.1: with one
// rounding u, with two roundings 1.5 u.
func ExampleMAC() {
	mac := paper.DefaultMAC.Run()
	u := tcore.Binary32.UnitRoundoff()
	fmt.Printf("without FMA %.2f u\n", mac.Plain.Largest()/u)
	fmt.Printf("with FMA    %.2f u\n", mac.FMA.Largest()/u)
	// Output:
	// without FMA 1.50 u
	// with FMA    1.00 u
}

// The constants ζ of the bounds on the paper's matrix product at 99 %
// confidence.
func ExampleGEMM_Constants() {
	for _, c := range paper.DefaultGEMM.Constants() {
		fmt.Printf("%-24s λ = %8.5f   ζ = %.3e\n", c.Name, c.Lambda, c.Zeta)
	}
	// Output:
	// DBEA                     λ =  0.00000   ζ = 2.446e-03
	// VIBEA, index as printed  λ = 11.38502   ζ = 1.843e-04
	// VIBEA                    λ = 11.53456   ζ = 1.867e-04
	// Higham & Mary 2019       λ =  7.12735   ζ = 1.154e-04
}

// Running Algorithm 1 symbolically shows which formula for c₁ is correct.
func ExampleRoundings() {
	const k, b = 8, 4
	additions, _ := paper.Roundings(k, b)
	for j := 1; j <= k; j++ {
		i := (j-1)/b + 1
		fmt.Println(j, additions[j-1], paper.PrintedCount(i, j, k/b, b), paper.CorrectedCount(i, j, k/b, b))
	}
	// Output:
	// 1 7 8 8
	// 2 7 7 7
	// 3 6 6 6
	// 4 5 5 5
	// 5 4 8 4
	// 6 3 7 3
	// 7 2 6 2
	// 8 1 5 1
}
