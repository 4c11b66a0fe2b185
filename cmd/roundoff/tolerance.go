package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/pkg/tolerance"
	"gonum.org/v1/gonum/blas/blas64"
)

// A toleranceQuestion is the question of roundoff tolerance, with the form of
// the answer.
type toleranceQuestion struct {
	question.Tolerance
	ks         []int
	header, to string // files, "" for none
	json       bool
}

// mostTolerances is the largest number of outputs: several numbers are kept of
// each.
const mostTolerances = 1 << 26

// toleranceCommand prints how far outputs may be from the exact ones, and of
// those in a file which are further.
func toleranceCommand(_ context.Context, args []string, stdout, stderr io.Writer) error {
	q := toleranceQuestion{Tolerance: question.NewTolerance()}
	var ks string
	var want question.Maker
	flags := newFlags("tolerance", "[-flag ...] [A.npy B.npy [GOT.npy [WANT.npy]]]\n\n"+
		"Prints by how much outputs of a product may differ from the exact ones on a device: the tightest bound\n"+
		"that holds for it and for these matrices, for all outputs together, each with a tolerance of its own.\n"+
		"A and B are rounded to the formats of the device. Of the outputs in GOT it tells which are beyond, by how\n"+
		"much, and what would explain it, and fails if there are any; with WANT, those of another implementation,\n"+
		"they may differ by both tolerances together. "+
		"Of a device with scales A and B are products of elements and scales.\n\n"+
		"Without matrices it prints what always holds, |D - AB| <= relative |A||B| + underflow + stored |D|, for\n"+
		"devices and lengths K; -header writes that as constants for C.\n\n", stderr)
	flags.StringVar(&q.Device, "device", q.Device, "on this `device`, an architecture or a name of roundoff devices; without matrices several, or all")
	flags.StringVar(&q.In, "in", q.In, "the `format` of A and B, or two, as in e4m3,e5m2; binary16, or those of a device named in full")
	flags.StringVar(&q.Acc, "acc", q.Acc, "accumulate in this `format`; binary32, or that of a device named in full")
	flags.StringVar(&q.Out, "out", q.Out, "D is stored in this `format`; that in which the device adds")
	flags.IntVar(&q.SplitK, "split-k", q.SplitK, "K is cut into this `number` of parts, added in binary32; 0: it is not known into how many")
	flags.IntVar(&q.Promote, "promote", q.Promote, "the sums of this `number` of products are added in binary32")
	flags.IntVar(&q.Parts, "parts", q.Parts, fmt.Sprintf("where -split-k is not known, into at most this `number`; 0 is %d", tolerance.MostParts))
	flags.StringVar(&q.Orders, "orders", q.Orders, "the `orders` of additions that are possible: split, for an unknown number of parts, the same for\nall outputs, mixed, for another one for each, machine, for what the other flags say, or any")
	flags.StringVar(&q.Plan, "plan", q.Plan, "computed by this `plan` of a library: a name or text of roundoff plan, or 'cublaslt-13.1 h100 66,0,1,0,0,0,35'")
	flags.StringVar(&q.Confidence, "confidence", q.Confidence, "want this `probability` for all outputs together, or always, for bounds that assume nothing of the data")
	flags.StringVar(&q.Emulate, "emulate", "", "GOT must also be what the device computes for some number of parts: `sums`, but for the order of adding\nthem, or bits, where they are added from the first to the last")
	flags.StringVar(&want.Device, "want-device", "", "WANT is computed on this `device`, the same if it is not named")
	flags.StringVar(&want.In, "want-in", "", "from this `format`")
	flags.StringVar(&want.Acc, "want-acc", "", "accumulated in this `format`")
	flags.StringVar(&want.Out, "want-out", "", "and stored in this `format`")
	flags.StringVar(&ks, "k", "256,1024,4096,16384", "the `terms` of each sum, without matrices")
	flags.StringVar(&q.header, "header", "", "write the constants for C into this `file`")
	flags.StringVar(&q.to, "o", "", "write the tolerance of each output into this `file`, as float64")
	flags.BoolVar(&q.json, "json", false, "write JSON")
	words, err := parseFlags(flags, args)
	if err != nil {
		return err
	}
	switch {
	case len(words) == 1 || len(words) > 4:
		return misuse(flags, "%d files given, want none, A and B, these and outputs, or the outputs of two", len(words))
	case len(words) == 0 && (given(flags, "o", "emulate", "want-device", "want-in", "want-acc", "want-out", "plan", "confidence")):
		return misuse(flags, "-o, -emulate, -plan, -confidence and -want-... go with matrices")
	case len(words) > 0 && given(flags, "k", "header"):
		return misuse(flags, "-k and -header go without matrices")
	case len(words) < 4 && given(flags, "want-device", "want-in", "want-acc", "want-out"):
		return misuse(flags, "-want-device, -want-in, -want-acc and -want-out go with WANT.npy")
	case q.Emulate != "" && len(words) != 3:
		return misuse(flags, "-emulate goes with three files, A, B and GOT")
	}
	if len(words) == 0 {
		if q.ks, err = question.Each(ks, strconv.Atoi); err != nil {
			return misuse(flags, "-k %q, want integers between commas", ks)
		}
		for _, k := range q.ks {
			if err := checkSizes(flags, question.MostTerms, question.Size{Name: "k", Value: k}); err != nil {
				return err
			}
		}
		device := q.Device
		if !given(flags, "device") {
			device = ""
		}
		return q.constants(stdout, stderr, device)
	}
	operands, err := readOperands(words[0], words[1])
	if err != nil {
		return err
	}
	if operands.A.Rows > mostTolerances/operands.B.Cols {
		return fmt.Errorf("the product of %s and %s has %d × %d elements, want at most %d", words[0], words[1], operands.A.Rows, operands.B.Cols, mostTolerances)
	}
	q.Operands = operands.Operands
	var outputs [2]*blas64.General
	for i, file := range words[2:] {
		m, err := readNumbers(file)
		if err != nil {
			return err
		}
		outputs[i] = &m
	}
	if outputs[1] != nil {
		q.Want = &want
	}
	var file *output
	if q.to != "" {
		if file, err = newOutput(q.to); err != nil {
			return err
		}
		defer file.drop()
	}
	z, err := q.Results(outputs[0], outputs[1])
	if err != nil {
		return err
	}
	if file != nil {
		if err := file.write(func(w io.Writer) error {
			return writeRows(w, z.Limits.Rows, z.Limits.Cols, z.Limits.Stride, z.Limits.Data)
		}); err != nil {
			return err
		}
	}
	return q.write(stdout, z)
}

// write writes the answer. The error says that outputs are beyond their
// tolerance.
func (q *toleranceQuestion) write(w io.Writer, z question.Tolerated) error {
	if q.json {
		if err := writeJSON(w, z); err != nil {
			return err
		}
	} else {
		text := z.Words()
		if z.Report != nil {
			text += z.Report.String() + "\n"
		}
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
	}
	if z.Report != nil && !z.Report.Within() {
		return errors.New("outputs are beyond their tolerance")
	}
	return nil
}

// constants writes what holds without matrices, as a table, JSON or a header.
func (q *toleranceQuestion) constants(stdout, stderr io.Writer, device string) error {
	var file *output
	var err error
	devices, err := question.FindDevices(device, q.In)
	if err != nil {
		return err
	}
	if q.header != "" {
		if file, err = newOutput(q.header); err != nil {
			return err
		}
		defer file.drop()
	}
	all, why := q.Constants(devices, q.ks)
	if len(all) == 0 {
		return errors.New(strings.Join(slices.Compact(why), "\n"))
	}
	for _, w := range why {
		fmt.Fprintf(stderr, "not in it: %s\n", strings.TrimPrefix(w, "tolerance: "))
	}
	switch {
	case file != nil:
		return file.write(func(w io.Writer) error { return writeConstants(w, all) })
	case q.json:
		return writeJSON(stdout, all)
	}
	t := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "device\tk\torders\tbound\trelative\tunderflow\tstored")
	for _, c := range all {
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%.3e\t%s\t%s\n", c.Device, c.K, c.Orders, c.Bound, c.Relative, nonzero("%.1e", c.Underflow), nonzero("%.1e", c.Stored))
	}
	return t.Flush()
}

// writeConstants writes the constants for C.
func writeConstants(w io.Writer, all []tolerance.Constant) error {
	var b strings.Builder
	b.WriteString(`/* Tolerances of matrix products, written by roundoff tolerance -header. They are theorems:
 *
 *     |d - sum of x y| <= ROUNDOFF_..._K4096 * sum of |x y| + ROUNDOFF_..._K4096_UNDERFLOW
 *                         + ROUNDOFF_..._K4096_STORED * |d|
 *
 * for every sum of at most so many products K on that device, for all factors that are numbers of its
 * formats, unless the result overflows. Above the constants of a device stands what is known of the
 * order of additions, as -orders of roundoff tolerance says, and behind each the bound that it is from.
 * STORED is 0 unless the sum is rounded to another format. */
#ifndef ROUNDOFF_TOLERANCE_H
#define ROUNDOFF_TOLERANCE_H
`)
	device := ""
	for _, c := range all {
		if c.Device != device {
			device = c.Device
			fmt.Fprintf(&b, "\n/* %s, %s */\n", device, c.Orders)
		}
		fmt.Fprintf(&b, "#define %s %.17g /* %s */\n#define %[1]s_UNDERFLOW %.17[4]g\n#define %[1]s_STORED %.17[5]g\n", c.C(), c.Relative, c.Bound, c.Underflow, c.Stored)
	}
	b.WriteString("\n#endif\n")
	_, err := io.WriteString(w, b.String())
	return err
}
