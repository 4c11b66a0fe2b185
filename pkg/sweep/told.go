package sweep

import (
	"fmt"

	"github.com/roundofflab/roundoff/pkg/bound"
)

// Told says which description of the data the bounds are given.
type Told int

const (
	FromDistribution Told = iota // X and Y of the Generator
	FromMoments                  // the moments of the elements of A and of B ([bound.MomentsOf])
	FromFiles                    // all that [bound.Inspect] finds in A and B
	FromMatrices                 // A and B themselves, for what rounding or quantising them loses ([bound.Given])
)

var toldNames = []string{"distribution", "moments", "files", "matrices"}

// String returns distribution, moments, files or matrices.
func (t Told) String() string {
	if t < 0 || int(t) >= len(toldNames) {
		return fmt.Sprintf("Told(%d)", int(t))
	}
	return toldNames[t]
}

// ParseTold returns the Told of a word that String returns. An error says that
// there is none.
func ParseTold(s string) (Told, error) {
	for i, name := range toldNames {
		if s == name {
			return Told(i), nil
		}
	}
	return 0, fmt.Errorf("sweep: told from %q, want distribution, moments, files or matrices", s)
}

// A telling is one description of a product that the bounds are given: Told,
// and the sizes of the elements if ranges.
type telling struct {
	Told
	ranges bool
}

// tellings returns the descriptions of a plan, those that say less first.
func (p Plan) tellings() []telling {
	told := p.Told
	if len(told) == 0 {
		told = []Told{FromDistribution}
	}
	var all []telling
	for _, t := range told {
		if t != FromFiles {
			all = append(all, telling{t, false})
		}
		if t == FromFiles || p.Ranges && len(p.Recipes) == 0 {
			all = append(all, telling{t, true})
		}
	}
	return all
}

// tell returns the problem k with the description t of the matrices.
func (d *draw) tell(k bound.Problem, t telling) (bound.Problem, error) {
	switch t.Told {
	case FromMatrices:
		k.X, k.Y, k.Given = bound.Distribution{}, bound.Distribution{}, d.given(k.Recipes)
	case FromMoments, FromFiles:
		m := d.moments()
		if m.err != nil {
			return k, m.err
		}
		k.X, k.Y = m.x, m.y
		if t.Told == FromFiles {
			found := d.inspection()
			if found.err != nil {
				return k, found.err
			}
			k.Data = found.Inspection
		}
	}
	if t.ranges {
		r := d.ranges()
		k.RangeX, k.RangeY = r.x, r.y
		if k.Device.ScaleBlock > 0 {
			sx, sy := d.scales(k.Device)
			k.RangeX.Scale, k.RangeX.LeastScale = sx.span(k.Device.Scale)
			k.RangeY.Scale, k.RangeY.LeastScale = sy.span(k.Device.Scale)
		}
	}
	return k, nil
}
