package probe

import (
	"cmp"
	"math"
	"slices"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// nanRules are the rules in words.
var nanRules = map[tcore.NaNRule]string{
	tcore.OneNaN:     "lost",
	tcore.FirstOfXYC: "kept, the first of x, y, c",
	tcore.FirstOfYCX: "kept, the first of y, c, x",
}

// nanRule returns the rule by which a unit of FMAs answers the last product and
// c of every choice of NaN, quiet and not, and invalid operations. If none is
// known, visible is false.
func (p *prober) nanRule() (rule tcore.NaNRule, visible bool) {
	a, b, c := p.d.A, p.d.B, p.d.C
	if a.Specials != tcore.IEEE || b.Specials != tcore.IEEE || c.Specials != tcore.IEEE {
		return tcore.OneNaN, false
	}
	values := func(f tcore.Format, payload uint64) []uint64 {
		quiet := uint64(1) << (f.Precision - 2)
		infinity, sign := f.Encode(math.Inf(1), tcore.ToZero), uint64(1)<<(f.Bits()-1)
		return []uint64{code(f, 1), code(f, 0), infinity, infinity | sign, infinity | quiet | payload, sign | infinity | quiet | payload, infinity | payload}
	}
	var x, y, z []uint64
	for _, u := range values(a, 5) {
		for _, v := range values(b, 6) {
			for _, w := range values(c, 7) {
				x, y, z = append(append(x, make([]uint64, p.k-1)...), u), append(append(y, make([]uint64, p.k-1)...), v), append(z, w)
			}
		}
	}
	got, want := make([]uint64, len(z)), make([]uint64, len(z))
	p.dots(x, y, z, got)
	for rule := range tcore.NaNRule(len(nanRules)) {
		d := p.d
		d.Core = tcore.Chain{NaN: rule}
		if rule != tcore.OneNaN {
			d.NaN = 0
		}
		p.err = cmp.Or(p.err, emulated{d, p.k}.Dots(p.ctx, x, y, z, want))
		if p.err == nil && slices.Equal(got, want) {
			return rule, true
		}
	}
	return tcore.OneNaN, false
}
