package study

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/roundofflab/roundoff/internal/typeset"
	"github.com/roundofflab/roundoff/pkg/cpu"
	"github.com/roundofflab/roundoff/pkg/paper"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// InstructionTable returns the table of the dot-product instructions of
// processors in the catalogue: which of them this processor has, and why
// another cannot be asked.
func InstructionTable() *viz.Table {
	has := 0
	var rows [][]string
	for _, d := range DefaultProcessor.Devices {
		here, terms := "yes", "–"
		switch unit, err := cpu.Open(d); {
		case errors.Is(err, cpu.ErrNoMatrixUnit):
			here = "no: " + errors.Unwrap(err).Error()
		case err != nil:
			here = err.Error()
		default:
			has++
			terms = fmt.Sprint(unit.K())
		}
		rows = append(rows, []string{mnemonic(d), d.Architecture, d.A.Name, d.C.Name, terms, here})
	}
	t := viz.NewTable("instructions",
		fmt.Sprintf("This processor has %d of %d dot-product instructions.", has, len(rows)),
		"The instructions of processors in the catalogue, asked of the processor and of the system it runs under. Emulation stands in for one that is missing, with the same bits.",
		[]string{"Instruction", "first in", "factors", "sums", "products", "here"})
	for _, row := range rows {
		t.Row(row...)
	}
	return t
}

// parting is the first of some dot products that another machine computes
// otherwise.
type parting struct {
	other       tcore.Device
	index       int // -1 if there is none
	here, there float64
}

// PartingTable returns the table of the first of n dot products of 32 pairs of
// U(-1,1), rounded to bfloat16, in which TDPBF16PS of this processor, or its
// emulation, and other machines part. It returns an error if the instruction
// fails.
func PartingTable(n int) (*viz.Table, error) {
	rows, by, err := partings(n)
	if err != nil {
		return nil, err
	}
	first, name := n, ""
	for _, r := range rows {
		if r.index >= 0 && r.index < first {
			first, name = r.index, machineTitle(tcore.Machine{Device: r.other})
		}
	}
	finding := fmt.Sprintf("In %d dot products no other machine has other bits.", n)
	if name != "" {
		finding = fmt.Sprintf("%s has other bits from dot product %d on.", name, first)
	}
	who := "Emulated"
	if by == thisProcessor {
		who = "TDPBF16PS is this processor's, the others are emulated"
	}
	t := viz.NewTable("parting", finding,
		fmt.Sprintf("%s. %d dot products of 32 pairs of bfloat16 numbers from U(−1,1), sums in binary32, seed %d. Bits are counted from the last, 0.", who, n, paper.Seed),
		[]string{"Machine", "first other result", "here", "there", "first other bit", "difference"})
	for _, r := range rows {
		name := machineTitle(tcore.Machine{Device: r.other})
		if r.index < 0 {
			t.Row(name, "–", "–", "–", "–", "–")
			continue
		}
		h, o := tcore.Binary32.Encode(r.here, tcore.ToNearestEven), tcore.Binary32.Encode(r.there, tcore.ToNearestEven)
		t.Row(name, fmt.Sprint(r.index), fmt.Sprintf("%08x", h), fmt.Sprintf("%08x", o), fmt.Sprint(bits.Len64(h^o)-1), typeset.Number(r.there-r.here, 2))
	}
	return t, nil
}

// partings returns where other machines part from the first instruction of
// [DefaultProcessor], and who computed that.
func partings(n int) (rows []parting, by string, err error) {
	const k = 32
	others := []tcore.Device{devices.AVX512BF16(), devices.AmpereBF16(), devices.HopperBF16(), devices.BlackwellBF16(), devices.CDNA2BF16(), devices.CDNA3BF16()}
	for _, d := range others {
		rows = append(rows, parting{other: d, index: -1})
	}
	dot, by, err := chainer(DefaultProcessor.Devices[0], k)
	if err != nil {
		return nil, "", err
	}
	rng := rand.New(rand.NewPCG(paper.Seed, 0))
	x, y := make([]float64, k), make([]float64, k)
	for i := range n {
		for l := range k {
			x[l] = tcore.BFloat16.Round(2*rng.Float64()-1, tcore.ToNearestEven)
			y[l] = tcore.BFloat16.Round(2*rng.Float64()-1, tcore.ToNearestEven)
		}
		here, err := dot(x, y, 0)
		if err != nil {
			return nil, "", err
		}
		for j, r := range rows {
			if r.index >= 0 {
				continue
			}
			if there := r.other.Dot(x, y, 0); math.Float64bits(there) != math.Float64bits(here) {
				rows[j] = parting{r.other, i, here, there}
			}
		}
	}
	return rows, by, nil
}
