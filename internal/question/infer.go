package question

import (
	"fmt"
	"strings"

	"github.com/roundofflab/roundoff/pkg/infer"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// Infer is a question about a black box: how it adds. What has to be told are
// the formats of its operands and their number.
type Infer struct {
	In         string `json:"in"`          // of the factors, or two, A's and B's
	Out        string `json:"out"`         // of c and the result
	Scale      string `json:"scale"`       // of the scales, "" if there are none
	ScaleBlock int    `json:"scale_block"` // factors that one scale covers
	K          int    `json:"k"`
	Order      bool   `json:"order"` // nothing but the order of the additions
	Seed       uint64 `json:"seed"`
}

// NewInfer returns the defaults.
func NewInfer() Infer { return Infer{In: "binary16", Out: "binary32", K: 16, Seed: 1} }

// Shape returns the shape of the box. The error names a format that there is
// not or in which no result is, or what is missing of scales.
func (q Infer) Shape() (infer.Shape, error) {
	s := infer.Shape{K: q.K, ScaleBlock: q.ScaleBlock}
	if (q.Scale == "") != (q.ScaleBlock == 0) {
		return s, fmt.Errorf("-scale %q and -scale-block %d, want both or neither", q.Scale, q.ScaleBlock)
	}
	first, second, two := strings.Cut(q.In, ",")
	if !two {
		second = first
	}
	for _, f := range []struct {
		flag, name string
		to         *tcore.Format
	}{{"in", first, &s.A}, {"in", second, &s.B}, {"out", q.Out, &s.C}, {"scale", q.Scale, &s.Scale}} {
		var ok bool
		if *f.to, ok = infer.FormatByName(f.name); !ok && (f.flag != "scale" || f.name != "") {
			return s, fmt.Errorf("-%s %q, want a format such as binary16, bfloat16, tf32, e4m3 or binary32", f.flag, f.name)
		}
	}
	if s.C.Equal(tcore.TF32) {
		return s, fmt.Errorf("-out %q, which factors have: results are in binary32", q.Out)
	}
	return s, nil
}
