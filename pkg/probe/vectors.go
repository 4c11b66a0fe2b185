package probe

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"

	"github.com/roundofflab/roundoff/internal/atomicfile"
	"github.com/roundofflab/roundoff/internal/tcvec"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// Provenance states the origin of recorded results: the GPU, its driver and
// library, the date, the seed of the operands, and the name of the emulated
// device if no GPU computed them.
type Provenance = tcvec.Provenance

// WriteVectors computes count random dot products on the unit, from all regimes
// in turn, and writes them with their provenance to a file of test vectors
// (tcvec1). It writes the file as a whole or not at all. The seed of the
// operands is that of the provenance; the expected results are those of the
// unit. The file is of kind silicon if a GPU computed the results, otherwise of
// kind T.
//
// The unit may differ from the emulation of its device: test vectors are made
// to record such differences. But if most finite results are farther from the
// emulation than any rounding can explain, as when a kernel did not run,
// WriteVectors returns an error. It panics if count is negative.
func WriteVectors(ctx context.Context, path string, u Unit, count int, from Provenance) error {
	if count < 0 {
		panic(fmt.Sprintf("probe: WriteVectors: count = %d, want 0 or more", count))
	}
	var file bytes.Buffer
	if err := writeRows(ctx, &file, u, count, from); err != nil {
		return err
	}
	return atomicfile.WriteFile(path, file.Bytes())
}

func writeRows(ctx context.Context, file io.Writer, u Unit, count int, from Provenance) error {
	kind := "silicon"
	if from.Emulated != "" {
		kind = "T"
	}
	d, k := u.Device(), u.K()
	w, err := tcvec.NewWriter(file, tcvec.HeaderOf(d, kind, k, count), from)
	if err != nil {
		return err
	}
	s := NewSampler(d, from.Seed)
	finite, far := 0, 0
	const batch = 100 * 10 // a multiple of the number of regimes, and small: ctx is checked after each batch
	for done := 0; done < count; done += batch {
		r, err := compute(ctx, u, s, min(batch, count-done))
		if err != nil {
			return err
		}
		n, m, err := r.far(ctx, d, k)
		if err != nil {
			return err
		}
		finite, far = finite+n, far+m
		for i := range r.d {
			row := tcvec.Row{Flags: flagAlone, Regime: byte(r.regime[i]), A: r.x[i*k : (i+1)*k], B: r.y[i*k : (i+1)*k],
				C: r.c[i], D: r.d[i], Second: r.d[i]}
			if z := d.C.Decode(r.d[i]); z != z {
				row.Flags |= flagNaN
			}
			if err := w.Write(row); err != nil {
				return err
			}
		}
	}
	if far > finite/2 {
		return fmt.Errorf("probe: %s did not compute: %d of %d results are farther from the emulation than any rounding takes them", d.Name, far, finite)
	}
	return w.Close()
}

// far returns the number of rows whose result is finite in the emulation of d,
// and the number of these for which the unit's result is farther from it than
// any rounding can explain. The limit is K + 2 errors of 2^-10 times the sum of
// magnitudes of all terms. This exceeds the error of alignment to 13 bits below
// the greatest term and that of rounding to binary16.
func (r rows) far(ctx context.Context, d tcore.Device, k int) (finite, far int, err error) {
	want := make([]uint64, len(r.d))
	if err := (emulated{d, k}).Dots(ctx, r.x, r.y, r.c, want); err != nil {
		return 0, 0, err
	}
	for i := range want {
		z := number(d.C, want[i])
		if math.IsNaN(z) || math.IsInf(z, 0) {
			continue
		}
		finite++
		size := math.Abs(number(d.C, r.c[i]))
		for l := i * k; l < (i+1)*k; l++ {
			size += math.Abs(number(d.A, r.x[l]) * number(d.B, r.y[l]))
		}
		if !(math.Abs(number(d.C, r.d[i])-z) <= float64(k+2)*0x1p-10*size+d.C.MinNormal()) {
			far++
		}
	}
	return finite, far, nil
}

// Flags of a row: flagAlone if there is no second source for the result,
// flagNaN if the result is a NaN.
const (
	flagAlone = 4
	flagNaN   = 32
)
