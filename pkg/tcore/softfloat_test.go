package tcore

import (
	"bufio"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/vectest"
)

// The names of formats and modes in Berkeley TestFloat.
var (
	softFormats = map[string]Format{
		"f16": Binary16, "bf16": BFloat16, "f32": Binary32, "f64": Binary64,
	}
	softModes = map[string]RoundingMode{
		"near_even": ToNearestEven, "near_maxMag": ToNearestAway, "minMag": ToZero,
		"max": ToPositive, "min": ToNegative, "odd": ToOdd,
		"": ToNearestEven, // widening, exact
	}
)

// TestSoftFloat compares Encode, Decode, Add, Mul and FMA with the rows of
// Berkeley TestFloat, found in folder softfloat of $ROUNDOFF_VECTORS or else of
// shared/vectors beside the repository.
func TestSoftFloat(t *testing.T) {
	for _, file := range vectest.Published(t, "softfloat/*.txt.gz") {
		name := strings.TrimSuffix(filepath.Base(file), ".txt.gz")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			operation, f := softOperation(t, name)
			compareRows(t, file, operation, f)
		})
	}
}

// softOperation returns the function from operand codes to the result code that
// a file name such as f16_mulAdd_near_even stands for, and the result format.
func softOperation(t *testing.T, name string) (func(codes []uint64) uint64, Format) {
	from, rest, _ := strings.Cut(name, "_")
	f, ok := softFormats[from]
	if !ok {
		t.Fatalf("unknown format %q", from)
	}
	operation, suffix, _ := strings.Cut(rest, "_")
	if operation == "to" {
		to, suffix, _ := strings.Cut(suffix, "_")
		g, mode := softFormats[to], softMode(t, suffix)
		return func(c []uint64) uint64 { return g.Encode(f.Decode(c[0]), mode) }, g
	}
	mode := softMode(t, suffix)
	number := func(c uint64) float64 { return f.Decode(c) }
	switch operation {
	case "add":
		return func(c []uint64) uint64 { return f.Encode(f.Add(number(c[0]), number(c[1]), mode), mode) }, f
	case "mul":
		return func(c []uint64) uint64 { return f.Encode(f.Mul(number(c[0]), number(c[1]), mode), mode) }, f
	case "mulAdd":
		return func(c []uint64) uint64 {
			return f.Encode(f.FMA(number(c[0]), number(c[1]), number(c[2]), mode), mode)
		}, f
	}
	t.Fatalf("unknown operation %q", operation)
	return nil, f
}

func softMode(t *testing.T, suffix string) RoundingMode {
	mode, ok := softModes[suffix]
	if !ok {
		t.Fatalf("unknown rounding mode %q", suffix)
	}
	return mode
}

// compareRows reads rows "operand... result flags" of upper-case hex.
func compareRows(t *testing.T, file string, operation func([]uint64) uint64, f Format) {
	rows := 0
	s := bufio.NewScanner(vectest.Open(t, file))
	for ; s.Scan(); rows++ {
		fields := strings.Fields(s.Text())
		codes := make([]uint64, len(fields)-1)
		for i := range codes {
			code, err := strconv.ParseUint(fields[i], 16, 64)
			if err != nil {
				t.Fatalf("row %d: %v", rows+1, err)
			}
			codes[i] = code
		}
		n := len(codes) - 1
		got, want := operation(codes[:n]), codes[n]
		if got != want && !(math.IsNaN(f.Decode(got)) && math.IsNaN(f.Decode(want))) {
			t.Fatalf("row %d: %s gives %X", rows+1, s.Text(), got)
		}
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	if rows < 2000 {
		t.Errorf("%d rows, want at least 2000", rows)
	}
}
