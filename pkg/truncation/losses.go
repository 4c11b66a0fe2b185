package truncation

import (
	"math"
	"sync"
)

// Losses tabulates what products of one distribution lose when they are aligned
// to an exponent E and truncated to multiples of g = 2^(E-F): Y = sgn(p) D, D =
// |p| mod g. Results for each E are computed once and stored. It may be used by
// several goroutines.
//
// It assumes that a product of exponent E itself loses nothing, as
// [Accumulator] does.
type Losses struct {
	Products *ProductDistribution
	F        int

	mu        sync.Mutex
	belows    map[int]lossMoments
	tallies   map[tallyKind]*lossTallies
	estimates map[lossesKind]*LossesAt
	ends      map[endKind]RoundingLoss
	chars     map[[2]int][]character
	moments   map[float64]float64
	powers    map[int]*powerSums
	symmetric *Losses
}

// Losses returns the table for an alignment to an exponent E that keeps F bits
// below 2^E.
func (p *ProductDistribution) Losses(F int) *Losses {
	return &Losses{Products: p, F: F, belows: map[int]lossMoments{}, tallies: map[tallyKind]*lossTallies{},
		estimates: map[lossesKind]*LossesAt{}, ends: map[endKind]RoundingLoss{}, chars: map[[2]int][]character{}, moments: map[float64]float64{}, powers: map[int]*powerSums{}}
}

// Symmetric returns the table for [ProductDistribution.Symmetric] of the
// distribution, and stores it for the next call.
func (l *Losses) Symmetric() *Losses {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.symmetric == nil {
		l.symmetric = l.Products.Symmetric().Losses(l.F)
	}
	return l.symmetric
}

// LogMoment returns [ProductDistribution.LogMoment] of the distribution, and
// stores it for the next call.
func (l *Losses) LogMoment(x float64) float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if m, ok := l.moments[x]; ok {
		return m
	}
	m := l.Products.LogMoment(x)
	l.moments[x] = m
	return m
}

// lossMoments are E(Y; e < E) and E(Y²; e < E), the means of Y and Y² times the
// indicator of e < E, e being the exponent of a product.
type lossMoments struct{ mean, square float64 }

// below returns these moments of what products aligned to E lose.
func (l *Losses) below(E int) lossMoments {
	l.mu.Lock()
	defer l.mu.Unlock()
	if m, ok := l.belows[E]; ok {
		return m
	}
	p, g, scale := l.Products, math.Ldexp(1, E-l.F), math.Ldexp(1, l.F-E)
	var m lossMoments
	for i, v := range p.value {
		if p.exp[i] < E {
			y := v - float64(g*math.Trunc(v*scale))
			m.mean += p.weight[i] * y
			m.square += p.weight[i] * y * y
		}
	}
	if p.symmetric {
		m.mean = 0
	}
	l.belows[E] = m
	return m
}
