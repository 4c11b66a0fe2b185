package bound

import (
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/truncation"
)

// noDistribution returns why the losses of the products of a run do not follow
// from the distribution of the products, or "".
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

// martingaleShares are the shares of the probability of failure of a bound that
// reads a run: for the losses of all outputs, for the sampling error of the
// distribution of the products, and for the sampling error of the characters of
// what is kept of them.
var martingaleShares = map[string]float64{"martingale": 3. / 4, "distribution": 3. / 16, "characters": 1. / 16}

// A lossSum adds up the expected losses of the products of the blocks of an
// output.
type lossSum struct {
	losses *truncation.Losses
	cell   roundoff.Failure // of each cell of the distribution that is used
	ends   roundoff.Failure // of each distribution of rounding losses
	tail   roundoff.Failure // of this output

	leastX, leastY int // least exponents of the factors

	mean     float64 // expected loss
	slack    float64 // upper bound of the error of mean
	cumulant truncation.Cumulant
	first    float64 // g of the first block that can lose something; 0 before that block

	rows      perExponent[*lossRow]
	roundings map[roundingKind]truncation.RoundingLoss
}

// A lossRow contains the loss bounds of products aligned to one exponent, and
// the accumulated errors of their expected losses. Errors that come from the
// same estimate add up with their signs.
type lossRow struct {
	*truncation.LossesAt
	errors [2]float64 // if the running sum sets the exponent, and if a product does
	blocks [2]struct {
		products int
		truncation.LossBound
	} // the last bounds that were computed
	terms perExponent[lossTerm]
}

// block returns [truncation.LossesAt.Block]. It caches the last result, because
// many blocks need the same one.
func (r *lossRow) block(products int, set bool) truncation.LossBound {
	b := &r.blocks[bit(set)]
	if b.products != products {
		b.products, b.LossBound = products, r.Block(products, set)
	}
	return b.LossBound
}

// A lossTerm contains the losses of products of one exponent, for each sign.
type lossTerm struct {
	known  [2]bool
	losses [2]truncation.LossBound
	error  float64
}

// A lossReader says how a bound reads a run.
type lossReader struct {
	traced bool // whether the bound needs the trace
	// The number of cells of the distribution of products that the bound uses, at
	// each exponent to which blocks can be aligned.
	cells int
	// Whether the bound uses the distribution of sizes. If the distribution of
	// products is symmetric, both signs share one.
	sizes bool
	add   func(*lossSum, step)
}

// newLossSum returns an empty lossSum.
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

// alignments returns the number of exponents to which a block with a nonzero
// product can be aligned. It does not depend on the data.
func (k Problem) alignments() int {
	least := max(k.Device.A.Emin+k.Device.B.Emin, k.Device.Core.(tcore.Fused).ZeroExponent)
	greatest := k.Device.A.Emax + k.Device.B.Emax + 2 + int(math.Ceil(math.Log2(float64(k.K)))) // of a sum
	return max(k.Device.A.Emax+k.Device.B.Emax, min(k.Device.C.Emax, greatest)) - least + 1
}

// endings returns the number of distributions of rounding losses: for whole
// blocks and for the last one, for every exponent that they are aligned to, and
// for FractionBits + Precision units in the last place of the sum, at least as
// many as can occur.
func (k Problem) endings() float64 {
	c := k.Device.Core.(tcore.Fused)
	return float64(2 * k.alignments() * (c.FractionBits + c.Result.Precision))
}

// row returns the row of exponent E.
func (s *lossSum) row(E int) *lossRow {
	r := s.rows.at(E)
	if *r == nil {
		*r = &lossRow{LossesAt: s.losses.At(E, s.cell)}
	}
	return *r
}

// add adds the loss bound of a block or of a product. Its error is added to
// errors, the sum of the errors from the same estimate.
func (s *lossSum) add(b truncation.LossBound, errors *float64) {
	s.mean += b.Mean
	s.slack += b.Slack
	s.cumulant.Add(b.Variance, b.Largest)
	*errors += b.Error
}

// start records the grid of the first block that can lose something.
func (s *lossSum) start(at step) {
	if s.first == 0 {
		s.first = at.grid
	}
}

// radius returns an upper bound of the distance of the loss from its mean, for
// an output of n products. The range of θ depends on the first grid g alone:
// there, the standard deviation of the loss is about ng/10 or more for sums of
// mean zero, and at most n√n g/4 for sums of one sign.
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
