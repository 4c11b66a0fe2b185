package quant

import "github.com/roundofflab/roundoff/pkg/tcore"

// Int8 is the integers from -127 to 127, as a format whose only exponent is 6:
// 64 to 127 are its normal numbers, 0 to 63 the subnormal ones. MXInt8 is the
// same in units of 2^-6. Their codes are those of two's complement.
var (
	Int8   = tcore.Format{Name: "int8", Precision: 7, Emin: 6, Emax: 6, Specials: tcore.FiniteOnly, Overflow: tcore.Saturate}
	MXInt8 = tcore.Format{Name: "mxint8", Precision: 7, Emin: 0, Emax: 0, Specials: tcore.FiniteOnly, Overflow: tcore.Saturate}
)

// isInteger reports whether codes of f are of two's complement.
func isInteger(f tcore.Format) bool { return f.Emin == f.Emax && f.Precision == 7 }

// encode returns the code of z, a number of f.
func encode(f tcore.Format, z float64) uint8 {
	if isInteger(f) {
		return uint8(int8(z / f.MinSubnormal()))
	}
	return uint8(f.Encode(z, tcore.ToNearestEven))
}

// decode returns the number of a code of f.
func decode(f tcore.Format, code uint8) float64 {
	if isInteger(f) {
		return float64(int8(code)) * f.MinSubnormal()
	}
	return f.Decode(uint64(code))
}
