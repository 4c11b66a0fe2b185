package study

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/roundofflab/roundoff/internal/typeset"
	"github.com/roundofflab/roundoff/pkg/cpu"
	"github.com/roundofflab/roundoff/pkg/infer"
	"github.com/roundofflab/roundoff/pkg/paper"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// processors are the architectures of the catalogue that are not of a GPU.
var processors = []string{"Sapphire Rapids", "Granite Rapids", "Arm"}

// InstructionTable returns the table of the dot-product instructions of
// processors in the catalogue: which of them this processor has, and why
// another cannot be asked.
func InstructionTable() *viz.Table {
	has := 0
	var rows [][]string
	known := slices.DeleteFunc(devices.All(), func(d tcore.Device) bool { return !slices.Contains(processors, d.Architecture) })
	for _, d := range append(known, devices.Integers()...) {
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
		rows = append(rows, []string{mnemonic(d), d.Architecture, factors(d), d.C.Name, terms, here})
	}
	t := viz.NewTable("instructions",
		fmt.Sprintf("This processor has %d of %d dot-product instructions.", has, len(rows)),
		"The instructions of processors in the catalogue, asked of the processor and of the system it runs under. Emulation stands in for one that is missing.",
		[]string{"Instruction", "first in", "factors", "sums", "products", "here"})
	for _, row := range rows {
		t.Row(row...)
	}
	return t
}

// factors returns the formats of the factors.
func factors(d tcore.Device) string {
	if d.A.Equal(d.B) {
		return d.A.Name
	}
	return d.A.Name + ", " + d.B.Name
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
			first, name = r.index, unitTitle(r.other)
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
		name := unitTitle(r.other)
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

// LearnedTable returns the table of the arithmetic of an instruction as it is
// derived from answers of this processor or, where that lacks the instruction,
// of its emulation: the parameters of the one record of a grammar that gives
// the answers. It returns an error if the instruction fails, or no record gives
// them.
func LearnedTable(ctx context.Context, d tcore.Device) (*viz.Table, error) {
	box, by := infer.Emulated(d, 32), "Emulated"
	switch unit, err := cpu.Open(d); {
	case err == nil:
		box, by = infer.Of(unit), "Asked of this processor"
	case !errors.Is(err, cpu.ErrNoMatrixUnit):
		return nil, err
	}
	learned, err := infer.Learn(ctx, box, paper.Seed)
	if err != nil {
		return nil, err
	}
	if !learned.Explained() {
		return nil, fmt.Errorf("study: %s: no record of %d gives the answers", d.Name, learned.Tried)
	}
	finding := fmt.Sprintf("One of %d records gives %d of %d random dot products.", learned.Tried, learned.Agreed, learned.Checked)
	t := viz.NewTable("learned-"+d.Name, finding,
		fmt.Sprintf("%s, with %d questions. Only formats and the number of products are known before. Others: values that no answer has told apart. Seed %d.",
			by, learned.Asked, paper.Seed),
		[]string{"Parameter", "value", "others"})
	for _, p := range learned.Parameters() {
		t.Row(p.Name, p.Value, typeset.List(p.Others))
	}
	return t, nil
}
