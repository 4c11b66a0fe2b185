package bound

import "github.com/roundofflab/roundoff/pkg/roundoff"

// ElArar bounds the error by Chebyshev's inequality, from a bound on its
// variance.
var ElArar = register(Bound{
	Name:    "el-arar",
	Source:  "El Arar, Sohier, de Oliveira Castro & Petit 2023",
	Formula: `\sqrt{N\,\frac{(1+u^2)^n - 1}{p}}`,
	Model:   MeanIndependent,
	Fails:   notOneFormat,
	Constant: func(k Problem, f roundoff.Failure) Value {
		return plain(k.theta(func(n int, u float64) float64 { return roundoff.Chebyshev(n, u, k.each(f)) }))
	},
})
