package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// A product contains the arguments of roundoff gemm: D = alpha op(A) op(B) +
// beta C.
type product struct {
	device, in, out    string
	a, b, c, d         string // files
	alpha, beta        float64
	transposeA         bool
	transposeB         bool
	splitK, promote    int
	compare            string
	recipe, kernel     string
	plan               planChoice
	planned            bool   // by a plan, not by device
	outGiven           bool   // the format of D is named
	accumulator        string // of a plan, which devices beside it have too
	operandA, operandB blas32.General
	accumulated        blas32.General
	integers           []uint64 // codes of C in int32, for -out int32
}

// machineFlags adds the flags that tell the machine.
func (p *product) machineFlags(flags *flag.FlagSet) {
	flags.StringVar(&p.device, "device", "hopper", "compute as this `device` does, an architecture or a name of roundoff devices")
	flags.StringVar(&p.in, "in", "binary16", "round A and B to this `format`, or to two, as in e4m3,e5m2")
	flags.StringVar(&p.out, "out", "binary32", "round the result to this `format`, and accumulate in it if the device can; int32: the sums of a device of integers")
	flags.IntVar(&p.splitK, "split-k", 1, "add this `number` of parts of K in binary32")
	flags.IntVar(&p.promote, "promote", 0, "add the sums of this `number` of products in binary32; 128 in many libraries for fp8")
	p.plan.flags(flags)
}

// gemmCommand multiplies matrices.
func gemmCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	p := product{}
	flags := newFlags("gemm", "[-flag ...] A.npy B.npy [-o D.npy]\n\n"+
		"Multiplies matrices of int8, uint8, int32, float16, float32, float64 or a type of ml_dtypes as a tensor core does,\n"+
		"bit for bit, and writes D = alpha A B + beta C as float64, which holds the numbers of all output\n"+
		"formats but binary64, of which D has 24 bits, and A and B must have as few. Bytes without a type,\n"+
		"as NumPy stores fp8, fp6 and fp4, are codes of -in. Scales of block-scaled devices are 1.\n"+
		"-out int32 writes what devices of integers add, C + A B modulo 2^32, as int32.\n"+
		"With -recipe, quantises A and B as a library does, multiplies codes and scales, and tells what is lost.\n\n", stderr)
	p.machineFlags(flags)
	flags.StringVar(&p.d, "o", "", "write D into this `file`")
	flags.StringVar(&p.c, "c", "", "read C from this `file`")
	flags.Float64Var(&p.alpha, "alpha", 1, "multiply the product by this `number`")
	flags.Float64Var(&p.beta, "beta", 0, "multiply C by this `number`")
	flags.BoolVar(&p.transposeA, "ta", false, "transpose A")
	flags.BoolVar(&p.transposeB, "tb", false, "transpose B")
	flags.StringVar(&p.compare, "compare", "", "say how D differs from that of these `devices`, as in ieee,ampere")
	flags.StringVar(&p.recipe, "recipe", "", "quantise A and B by this recipe, a `name` of roundoff quantise, or two, of A and of B; tell the errors")
	flags.StringVar(&p.kernel, "kernel", "", "apply the scales of -recipe as the kernel of this `name` does: deepgemm, deepseek, epilogue or alpha")
	words, err := parseFlags(flags, args)
	if err != nil {
		return err
	}
	if err := cmp.Or(p.checkPlan(flags), p.checkRecipe(flags, words)); err != nil {
		return err
	}
	if p.recipe != "" {
		p.a, p.b = words[0], words[1]
		return p.runQuantised(ctx, stdout)
	}
	if len(words) != 2 || p.d == "" && p.compare == "" || p.splitK < 1 || (p.beta != 0) != (p.c != "") {
		return misuse(flags, "want two files, -o or -compare, -split-k of 1 or more, and -c and -beta together")
	}
	for name, v := range map[string]float64{"alpha": p.alpha, "beta": p.beta} {
		if f := float64(float32(v)); math.IsNaN(f) || math.IsInf(f, 0) {
			return misuse(flags, "-%s %v, want a number of binary32", name, v)
		}
	}
	if p.out == tcore.INT32.Name && (p.alpha != 1 || p.beta != 0 && p.beta != 1 || p.compare != "") {
		return misuse(flags, "-alpha %v -beta %v -compare %q with -out int32, which is C + A B or A B: want 1, 0 or 1, and none", p.alpha, p.beta, p.compare)
	}
	p.a, p.b = words[0], words[1]
	return p.run(ctx, stdout, stderr)
}

// run reads the operands, multiplies them, writes D and compares the devices.
func (p *product) run(ctx context.Context, stdout, stderr io.Writer) error {
	k, err := p.adder()
	if err != nil {
		return err
	}
	k.say(stderr)
	rivals, err := p.rivals()
	if err != nil {
		return err
	}
	if err := p.read(k.device.A, k.device.B, k.device.Convert); err != nil {
		return err
	}
	if err := p.affordable(k); err != nil {
		return err
	}
	var file *output
	if p.d != "" {
		if file, err = newOutput(p.d); err != nil {
			return err
		}
		defer file.drop()
	}

	bar := newProgress(stderr, k.name)
	if p.out == tcore.INT32.Name {
		d, err := p.multiplyIntegers(ctx, k.device, bar)
		if err != nil {
			return err
		}
		_, n := shape(p.operandB, p.transposeB)
		return file.write(func(w io.Writer) error { return writeIntegers(w, d, n) })
	}
	d, err := p.multiply(ctx, k.GEMMer, bar)
	if err != nil {
		return err
	}
	if file != nil {
		if err := file.write(func(w io.Writer) error { return writeMatrix(w, d) }); err != nil {
			return err
		}
	}
	if len(rivals) == 0 {
		return nil
	}
	c := p.comparison(k.name, d)
	for _, r := range rivals {
		z, err := p.multiply(ctx, r, newProgress(stderr, r.Name))
		if err != nil {
			return err
		}
		c.add(r.Name, z)
	}
	return c.write(stdout)
}

// machine returns the machine for the product on the device of that name.
func (p *product) machine(name string) (tcore.Machine, error) {
	d, err := question.FindDevice(name, p.in, cmp.Or(p.accumulator, p.out))
	if err != nil {
		return tcore.Machine{}, err
	}
	out, err := p.output(d)
	if err != nil {
		return tcore.Machine{}, err
	}
	m := tcore.Machine{Name: d.Name, Device: d, SplitK: p.splitK, Promote: p.promote, Output: out}
	return m, m.Check()
}

// output returns the format of the results of device d.
func (p *product) output(d tcore.Device) (tcore.Format, error) {
	switch {
	case p.out != tcore.INT32.Name:
		return question.FindFormat(p.out)
	case !question.SumsIntegers(d):
		return tcore.Format{}, fmt.Errorf("-out int32: %s adds in %s, want a device of integers, as -in int8 -device sapphirerapids", d.Name, d.C.Name)
	case p.splitK > 1 || p.promote > 0:
		return tcore.Format{}, fmt.Errorf("-out int32: -split-k %d -promote %d add in binary32, want neither", p.splitK, p.promote)
	}
	return tcore.INT32, nil
}

// rivals returns the machines that -compare names.
func (p *product) rivals() ([]tcore.Machine, error) {
	if p.compare == "" {
		return nil, nil
	}
	var rivals []tcore.Machine
	for _, name := range strings.FieldsFunc(p.compare, func(r rune) bool { return r == ',' }) {
		k, err := p.machine(name)
		if err != nil {
			return nil, err
		}
		rivals = append(rivals, k)
	}
	if len(rivals) == 0 {
		return nil, fmt.Errorf("-compare %q names no device", p.compare)
	}
	return rivals, nil
}

// read reads the operands, rounds them to a and b, and checks that their sizes
// match.
func (p *product) read(a, b tcore.Format, mode tcore.RoundingMode) (err error) {
	if p.operandA, err = readMatrix(p.a, a, mode); err != nil {
		return err
	}
	if p.operandB, err = readMatrix(p.b, b, mode); err != nil {
		return err
	}
	m, l := shape(p.operandA, p.transposeA)
	l2, n := shape(p.operandB, p.transposeB)
	if l != l2 {
		return fmt.Errorf("%s is %d × %d and %s is %d × %d: they do not fit", p.a, m, l, p.b, l2, n)
	}
	if m > question.MostElements/n {
		return fmt.Errorf("the product is %d × %d, want at most %d elements", m, n, question.MostElements)
	}
	if p.c == "" {
		return nil
	}
	c, err := readNumbers(p.c)
	if err != nil {
		return err
	}
	if c.Rows != m || c.Cols != n {
		return fmt.Errorf("%s is %d × %d, want %d × %d", p.c, c.Rows, c.Cols, m, n)
	}
	if p.out == tcore.INT32.Name {
		p.integers = encoded(tcore.INT32, c.Data)
	} else {
		p.accumulated, _, err = question.RoundMatrix(p.c, c, tcore.Binary32, tcore.ToNearestEven)
	}
	return err
}

// shape returns the numbers of rows and columns of m, or of its transpose.
func shape(m blas32.General, transposed bool) (rows, cols int) {
	if transposed {
		return m.Cols, m.Rows
	}
	return m.Rows, m.Cols
}

// bandOf returns how many of m rows are computed at once.
func bandOf(m int) int { return max(64, (m+49)/50) }

// multiply computes D in bands of rows, so that it can show its progress.
func (p *product) multiply(ctx context.Context, k tcore.GEMMer, bar *progress) (blas32.General, error) {
	m, _ := shape(p.operandA, p.transposeA)
	_, n := shape(p.operandB, p.transposeB)
	d := matrix.New(m, n)

	tA, tB := blas.NoTrans, blas.NoTrans
	a := p.operandA
	if p.transposeA {
		a = matrix.Transpose(a)
	}
	if p.transposeB {
		tB = blas.Trans
	}
	band := bandOf(m)
	for i := 0; i < m; i += band {
		if err := ctx.Err(); err != nil {
			bar.done()
			return d, err
		}
		j := min(i+band, m)
		k.GEMM(tA, tB, float32(p.alpha), between(a, i, j), p.operandB, float32(p.beta), between(p.accumulated, i, j), between(d, i, j))
		bar.set(j, m)
	}
	bar.done()
	return d, nil
}

// multiplyIntegers computes the codes of C + AB modulo 2^32 on a device of
// integers, in bands of rows as multiply does.
func (p *product) multiplyIntegers(ctx context.Context, d tcore.Device, bar *progress) ([]uint64, error) {
	a, b := p.operandA, p.operandB
	if p.transposeA {
		a = matrix.Transpose(a)
	}
	if !p.transposeB {
		b = matrix.Transpose(b)
	}
	m, n, k := a.Rows, b.Rows, a.Cols
	z := p.integers
	if z == nil {
		z = make([]uint64, m*n)
	}
	defer bar.done()
	columns, band := encoded(d.B, b.Data), bandOf(m)
	for i := 0; i < m; i += band {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		j := min(i+band, m)
		d.GridCodes(k, encoded(d.A, a.Data[i*k:j*k]), columns, z[i*n:j*n], z[i*n:j*n])
		bar.set(j, m)
	}
	return z, nil
}

// encoded returns the codes of x rounded to f, to nearest even.
func encoded[E float32 | float64](f tcore.Format, x []E) []uint64 {
	codes := make([]uint64, len(x))
	for i, v := range x {
		codes[i] = f.Encode(float64(v), tcore.ToNearestEven)
	}
	return codes
}

// between returns rows i to j-1 of m.
func between(m blas32.General, i, j int) blas32.General {
	if m.Data == nil {
		return m
	}
	m.Data, m.Rows = m.Data[i*m.Stride:j*m.Stride], j-i
	return m
}

// progress is a progress bar on a terminal. It shows nothing elsewhere.
type progress struct {
	w    io.Writer // nil: no terminal
	name string
}

func newProgress(w io.Writer, name string) *progress {
	f, ok := w.(*os.File)
	if !ok {
		return &progress{}
	}
	if s, err := f.Stat(); err != nil || s.Mode()&os.ModeCharDevice == 0 {
		return &progress{}
	}
	return &progress{w: w, name: name}
}

// set shows that n of total units are done.
func (p *progress) set(n, total int) {
	if p.w != nil {
		const width = 40
		full := n * width / total
		fmt.Fprintf(p.w, "\r%s [%s%s] %3d%%", p.name, strings.Repeat("#", full), strings.Repeat(".", width-full), 100*n/total)
	}
}

// done ends the line.
func (p *progress) done() {
	if p.w != nil {
		fmt.Fprintln(p.w)
	}
}
