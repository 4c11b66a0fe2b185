package playground

import (
	"math"

	"github.com/roundofflab/roundoff/internal/typeset"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// A Trace is what a device does to every term of a dot product, as bits that
// the page draws below each other.
type Trace struct {
	Device string  `json:"device"`
	Blocks []Block `json:"blocks"`
	More   int     `json:"more"` // blocks that are not drawn
}

// A Block is one step. A column is a power of two: the first is that of
// Top, the others follow downwards.
type Block struct {
	Start  int    `json:"start"` // number of the first product, counted from 1
	Top    int    `json:"top"`   // exponent of the first column
	Last   int    `json:"last"`  // exponent of the last column that is kept; above Top if all are
	Terms  []Term `json:"terms"`
	Sum    Term   `json:"sum"`    // of what is kept; its bits below the last of the result's format are not kept
	Result Term   `json:"result"` // the running sum after rounding
}

// A Term is a product, a sum of a group of them, or the running sum.
type Term struct {
	Name  string `json:"name"` // "x₁y₁", or "c"
	Value string `json:"value"`
	Sign  string `json:"sign"`
	Bits  string `json:"bits"` // 0 and 1 from the column of Top on, as far as there is a 1
	Kept  int    `json:"kept"` // how many of them are kept
	More  bool   `json:"more"` // there are ones beyond the last column drawn
	Lost  string `json:"lost"` // what is cut off, "" if nothing is
}

// A picture has at most so many columns, and so many blocks.
const (
	mostColumns = 96
	mostBlocks  = 16
)

// newTrace returns the picture of a trace.
func newTrace(d tcore.Device, t tcore.Trace) *Trace {
	group, result := 1, d.C
	if core, ok := d.Core.(tcore.Fused); ok {
		group, result = max(1, core.Group), core.Result
	}
	z := &Trace{Device: d.Name, More: max(0, len(t.Blocks)-mostBlocks)}
	for _, b := range t.Blocks[:len(t.Blocks)-z.More] {
		z.Blocks = append(z.Blocks, newBlock(b, result, group))
	}
	return z
}

// newBlock returns the picture of a block whose sum is rounded to a format, and
// whose terms are groups of so many products.
func newBlock(b tcore.TraceBlock, result tcore.Format, group int) Block {
	values := []float64{b.Sum, b.Result}
	for _, m := range b.Terms {
		values = append(values, m.Value)
	}
	top := math.MinInt
	for _, v := range values {
		if drawable(v) {
			top = max(top, math.Ilogb(v))
		}
	}
	if top == math.MinInt {
		top = 0
	}
	z := Block{Start: b.Start + 1, Top: top, Last: top + 1}
	if b.Unit > 0 {
		z.Top = max(top, b.Exponent)
		z.Last = math.Ilogb(b.Unit)
	}
	for _, m := range b.Terms {
		if !drawable(m.Value) {
			continue
		}
		t := newTerm(z, m.Value, z.Last)
		t.Name = termName(m.Index, group)
		if m.Lost != 0 {
			t.Lost = text(m.Lost)
		}
		z.Terms = append(z.Terms, t)
	}
	if drawable(b.Sum) {
		z.Sum = newTerm(z, b.Sum, lastBit(b.Result, result))
	}
	if drawable(b.Result) {
		z.Result = newTerm(z, b.Result, math.MinInt)
	}
	z.Sum.Value, z.Result.Value = text(b.Sum), text(b.Result)
	return z
}

// drawable reports whether x has bits to draw.
func drawable(x float64) bool { return x != 0 && !math.IsInf(x, 0) && !math.IsNaN(x) }

// lastBit returns the exponent of the last bit that a number of f has at the
// size of x.
func lastBit(x float64, f tcore.Format) int {
	if !drawable(x) {
		return math.MinInt
	}
	return max(math.Ilogb(x), f.Emin) - f.Precision + 1
}

// termName returns the name of the product of that index, of a group of them,
// or of the running sum.
func termName(index, group int) string {
	product := func(i int) string { return "x" + typeset.Subscript(i) + "y" + typeset.Subscript(i) }
	switch {
	case index < 0:
		return "c"
	case group > 1:
		return product(index+1) + "+…+" + product(index+group)
	}
	return product(index + 1)
}

// newTerm returns the bits of x in the columns of a block, of which those down
// to that of the exponent last are kept; all if that is above the first column.
func newTerm(b Block, x float64, last int) Term {
	t := Term{Value: text(x), Sign: "+"}
	if math.Signbit(x) {
		t.Sign = "−"
	}
	digits := []byte{}
	rest := math.Abs(x)
	for e := b.Top; rest != 0 && len(digits) < mostColumns; e-- {
		bit := math.Ldexp(1, e)
		if rest >= bit {
			digits, rest = append(digits, '1'), rest-bit
		} else {
			digits = append(digits, '0')
		}
	}
	t.Bits, t.Kept, t.More = string(digits), len(digits), rest != 0
	if last <= b.Top && last != math.MinInt {
		t.Kept = min(len(digits), b.Top-last+1)
	}
	return t
}
