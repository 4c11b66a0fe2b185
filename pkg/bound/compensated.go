package bound

import (
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// CompensatedDot is u + γ_n², for compensated sums, which carry the error of
// every addition along.
var CompensatedDot = register(Bound{
	Name:    "compensated",
	Source:  "Ogita, Rump & Oishi 2005, Sum2 and Dot2",
	Formula: `u + \gamma_{K-1}^2`,
	Model:   Model{Name: "nearest, compensated", Fails: notCompensated},
	Constant: func(k Problem, _ roundoff.Failure) Value {
		n := k.Length()
		if k.exactProducts() {
			n--
		}
		if n == 0 {
			return plain(0)
		}
		return plain(roundoff.CompensatedSum(n, k.unit(k.Device.C)))
	},
})

func notCompensated(k Problem) string {
	switch {
	case k.Order != tcore.Compensated:
		return "sums are not compensated"
	case k.stochastic():
		return "rounding is stochastic: the error of a sum may be no number of the format"
	}
	return ""
}
