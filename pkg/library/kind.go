package library

import (
	"fmt"
	"math"
	"strings"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// Kind is the format of the factors of a product.
type Kind int

const (
	FP16 Kind = iota // binary16
	BF16             // bfloat16
	FP8              // e4m3
	FP32             // binary32
)

var kinds = []struct {
	name            string
	factors, output tcore.Format // output is that of cuBLASLt's D
}{
	FP16: {"fp16", tcore.Binary16, tcore.Binary16},
	BF16: {"bf16", tcore.BFloat16, tcore.BFloat16},
	FP8:  {"fp8", tcore.E4M3, tcore.Binary16},
	FP32: {"fp32", tcore.Binary32, tcore.Binary32},
}

// ParseKind returns the kind of that name, "fp16", "bf16", "fp8" or "fp32". The
// error names them.
func ParseKind(name string) (Kind, error) {
	var known []string
	for k, r := range kinds {
		if strings.EqualFold(name, r.name) {
			return Kind(k), nil
		}
		known = append(known, r.name)
	}
	return 0, fmt.Errorf("library: kind %q, want one of %s", name, strings.Join(known, ", "))
}

func (k Kind) known() bool { return k >= 0 && int(k) < len(kinds) }

func (k Kind) String() string {
	if !k.known() {
		return fmt.Sprintf("Kind(%d)", int(k))
	}
	return kinds[k].name
}

// Factors returns the format of the factors. It panics if k is no constant of
// this package.
func (k Kind) Factors() tcore.Format {
	if !k.known() {
		panic(fmt.Sprintf("library: %v, want a constant of package library", k))
	}
	return kinds[k].factors
}

// Shape is a product of an M × K by a K × N matrix: M counts the rows of D, N
// its columns.
type Shape struct{ M, N, K int }

func (s Shape) String() string { return fmt.Sprintf("%d × %d × %d", s.M, s.N, s.K) }

// Check returns an error that names the first size that no library takes: one
// below 1, or beyond the 32 bits of an int.
func (s Shape) Check() error {
	for _, f := range []struct {
		name  string
		value int
	}{{"M", s.M}, {"N", s.N}, {"K", s.K}} {
		if f.value < 1 || f.value > math.MaxInt32 {
			return fmt.Errorf("library: %s = %d, want 1 to %d", f.name, f.value, math.MaxInt32)
		}
	}
	return nil
}
