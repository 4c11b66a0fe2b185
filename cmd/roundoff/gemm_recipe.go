package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// checkRecipe reports flags of gemm that a product of quantised matrices does
// not take, and returns errUsage then.
func (p *product) checkRecipe(flags *flag.FlagSet, words []string) error {
	switch {
	case p.recipe == "" && p.kernel != "":
		return misuse(flags, "-kernel is for -recipe")
	case p.recipe != "" && given(flags, "in", "alpha", "beta", "c", "split-k", "compare"):
		return misuse(flags, "-recipe goes without -in, -alpha, -beta, -c, -split-k and -compare")
	case p.recipe != "" && strings.Contains(p.recipe, "int8") && given(flags, "device", "promote"):
		return misuse(flags, "-recipe %s goes without -device and -promote: sums of integers are exact", p.recipe)
	case p.recipe != "" && p.out == tcore.INT32.Name:
		return misuse(flags, "-out int32 is before scales, -recipe after them: roundoff quantise -codes writes integers, gemm -in int8 -device sapphirerapids -out int32 their product")
	case p.recipe != "" && len(words) != 2:
		return misuse(flags, "want two files")
	}
	return nil
}

// runQuantised reads the operands, quantises them, multiplies them as a library
// does, writes D if it has a file, and tells the errors.
func (p *product) runQuantised(ctx context.Context, stdout io.Writer) error {
	left, right, k, err := question.QuantisedProduct{Recipe: p.recipe, Kernel: p.kernel, Device: p.device, Out: p.out, Promote: p.promote}.Find()
	if err != nil {
		return err
	}
	if err := p.read(tcore.Binary32, tcore.Binary32, tcore.ToNearestEven); err != nil {
		return err
	}
	x, y := p.operandA, p.operandB
	if p.transposeA {
		x = matrix.Transpose(x)
	}
	if p.transposeB {
		y = matrix.Transpose(y)
	}
	a, errA := left.Quantise(x, quant.Left)
	b, errB := right.Quantise(y, quant.Right)
	if err := cmp.Or(errA, errB); err != nil {
		return err
	}
	d, err := k.Multiply(a, b)
	if err := cmp.Or(err, ctx.Err()); err != nil {
		return err
	}
	if p.d != "" {
		file, err := newOutput(p.d)
		if err != nil {
			return err
		}
		defer file.drop()
		if err := file.write(func(w io.Writer) error { return writeMatrix(w, d) }); err != nil {
			return err
		}
	}
	fmt.Fprintf(stdout, "%s by %s, %s by %s; kernel %s on %s, scaled %s\n",
		p.a, left.Name, p.b, right.Name, k.Name, cmp.Or(k.Machine.Device.Name, "int32"), whereScaled(k, a, b))
	exact, quantised := product64(matrix.Float64(x), matrix.Float64(y)), product64(a.Values(), b.Values())
	return writeErrors(stdout, exact, quantised, matrix.Float64(d))
}

// whereScaled says where a kernel applies scales.
func whereScaled(k quant.Kernel, a, b *quant.Quantised) string {
	switch {
	case k.Machine.Device.ScaleBlock > 0 && (a.Recipe.Tensor != nil || b.Recipe.Tensor != nil):
		return "by the device and at the end"
	case k.Machine.Device.ScaleBlock > 0:
		return "by the device"
	case k.Every == 0:
		return "at the end"
	}
	return fmt.Sprintf("every %d products", k.Every)
}

// product64 returns AB in binary64.
func product64(a, b blas64.General) blas64.General {
	z := blas64.General{Rows: a.Rows, Cols: b.Cols, Stride: b.Cols, Data: make([]float64, a.Rows*b.Cols)}
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, a, b, 0, z)
	return z
}

// writeErrors writes what a product loses by quantisation, by sums and scales,
// and altogether, as a table.
func writeErrors(out io.Writer, exact, quantised, d blas64.General) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "error\trms / rms of AB\tmax / mean of |AB|")
	for _, line := range []struct {
		name     string
		from, to blas64.General
	}{{"quantisation", exact, quantised}, {"sums, scales, D", quantised, d}, {"together", exact, d}} {
		var squares, size, greatest, sum float64
		for i, x := range line.from.Data {
			e := line.to.Data[i] - x
			squares, greatest = squares+e*e, math.Max(greatest, math.Abs(e))
			size, sum = size+exact.Data[i]*exact.Data[i], sum+math.Abs(exact.Data[i])
		}
		fmt.Fprintf(w, "%s\t%.3g\t%.3g\n", line.name, math.Sqrt(squares/size), greatest/(sum/float64(len(exact.Data))))
	}
	return w.Flush()
}
