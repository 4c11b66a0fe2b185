package bound

import (
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/truncation"
)

// noDistribution returns why what the products of a run of the problem lose
// does not follow from their distribution, or "".
func noDistribution(k Problem) string {
	if why := noTrace(k); why != "" {
		return why
	}
	F := k.Device.Core.(tcore.Fused).FractionBits
	if bits := k.Device.A.Precision + k.Device.B.Precision - 2; bits > F {
		return fmt.Sprintf("products have %d bits after the point, %s keeps %d of the greatest", bits, k.Device.Name, F)
	}
	return ""
}

// martingaleShares are the parts of the failure of a bound that reads a run:
// for what is lost of all outputs, and for what samples leave open of the
// distribution of the products, and of the characters of what is kept of them.
var martingaleShares = map[string]float64{"martingale": 3. / 4, "distribution": 3. / 16, "characters": 1. / 16}

// A lossSum adds up what the products of the blocks of an output are expected
// to lose.
type lossSum struct {
	losses *truncation.Losses
	cell   roundoff.Failure // of each cell of the distribution that is used
	ends   roundoff.Failure // of each distribution of what rounding takes
	tail   roundoff.Failure // of this output

	leastX, leastY int // exponents of factors

	mean     float64 // of what is lost
	slack    float64 // how far the truth may be from it
	cumulant truncation.Cumulant
	first    float64 // g of the first block that can lose something; 0 before it

	rows      perExponent[*lossRow]
	roundings map[roundingKind]truncation.RoundingLoss
}

// lossRow is what is known of products aligned to one exponent, and how far all
// that were may have lost more than was taken, as far as that is the error of
// one estimate. Such errors add up with their signs.
type lossRow struct {
	*truncation.LossesAt
	errors [2]float64 // where the running sum sets the exponent, and where a product does
	blocks [2]struct {
		products int
		truncation.LossBound
	} // the last that were asked for
	terms perExponent[lossTerm]
}

// block returns [truncation.LossesAt.Block], which many blocks ask alike.
func (r *lossRow) block(products int, set bool) truncation.LossBound {
	b := &r.blocks[bit(set)]
	if b.products != products {
		b.products, b.LossBound = products, r.Block(products, set)
	}
	return b.LossBound
}

// lossTerm is what products of one exponent and of either sign lose.
type lossTerm struct {
	known  [2]bool
	losses [2]truncation.LossBound
	error  float64
}

// A lossReader is how a bound reads a run.
type lossReader struct {
	traced bool // it needs the trace
	cells  int  // of the distribution of products that it takes at each exponent which blocks can be aligned to
	sizes  bool // it takes the distribution of sizes, which a symmetric distribution has one of for both signs
	add    func(*lossSum, step)
}

// newLossSum returns an empty one.
func (r lossReader) newLossSum(k Problem, l *truncation.Losses, f roundoff.Failure) *lossSum {
	if r.sizes && (k.X.Symmetric() || k.Y.Symmetric()) {
		l = l.Symmetric()
	}
	account := f.Account(martingaleShares)
	n := float64(r.cells * k.alignments())
	return &lossSum{
		losses: l,
		cell:   account.Spend("distribution").Split(n),
		ends:   account.Spend("characters").Split(k.endings()),
		tail:   k.eachOutput(account.Spend("martingale")),
		leastX: k.Device.A.Emin, leastY: k.Device.B.Emin,
	}
}

// alignments returns how many exponents there are that blocks with a product
// which is not zero can be aligned to: no data are needed to know them.
func (k Problem) alignments() int {
	least := max(k.Device.A.Emin+k.Device.B.Emin, k.Device.Core.(tcore.Fused).ZeroExponent)
	greatest := k.Device.A.Emax + k.Device.B.Emax + 2 + int(math.Ceil(math.Log2(float64(k.K)))) // of sums
	return max(k.Device.A.Emax+k.Device.B.Emax, min(k.Device.C.Emax, greatest)) - least + 1
}

// endings returns how many distributions of roundings there are: of whole
// blocks and of the last one, by the exponent that they are aligned to and the
// unit in the last place of the sum, which has no more bits below its own than
// are kept.
func (k Problem) endings() float64 {
	c := k.Device.Core.(tcore.Fused)
	return float64(2 * k.alignments() * (c.FractionBits + c.Result.Precision))
}

// row returns the row of E.
func (s *lossSum) row(E int) *lossRow {
	r := s.rows.at(E)
	if *r == nil {
		*r = &lossRow{LossesAt: s.losses.At(E, s.cell)}
	}
	return *r
}

// add adds a block or a product, with the sum of the errors of its kind.
func (s *lossSum) add(b truncation.LossBound, errors *float64) {
	s.mean += b.Mean
	s.slack += b.Slack
	s.cumulant.Add(b.Variance, b.Largest)
	*errors += b.Error
}

// start notes a block that can lose something.
func (s *lossSum) start(at step) {
	if s.first == 0 {
		s.first = at.grid
	}
}

// radius returns how far what is lost is from its mean, at most, for an output
// of n products. The range of θ follows from the first grid alone: the
// deviation of what sums of mean zero lose is about a tenth of ng there, or
// more, and that of sums of one sign not more than n√n g/4.
func (s *lossSum) radius(n float64) float64 {
	t := s.slack
	for _, r := range s.rows.values {
		if r == nil {
			continue
		}
		t += math.Abs(r.errors[0]) + math.Abs(r.errors[1])
		for _, m := range r.terms.values {
			t += math.Abs(m.error)
		}
	}
	if s.first == 0 {
		return t
	}
	x := roundoff.Azuma(1, s.tail) / (n * s.first)
	return t + s.cumulant.Tail(4*x/math.Sqrt(n), 8*x, s.tail)
}

// bit returns 1 for true.
func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
