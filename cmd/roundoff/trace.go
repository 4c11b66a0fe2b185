package main

import (
	"context"
	"fmt"
	"io"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// traceCommand prints how an element of a product is summed.
func traceCommand(_ context.Context, args []string, stdout, stderr io.Writer) error {
	p := product{alpha: 1}
	var i, j int
	flags := newFlags("trace", "[-flag ...] A.npy B.npy\n\n"+
		"Prints how one element of AB is summed: every product that is not 0, what the device keeps of it and\n"+
		"what it cuts off, every block, every part that is added in binary32, and the exact result. With -plan, also\n"+
		"where the error comes from. Files are those of roundoff gemm.\n\n", stderr)
	p.machineFlags(flags)
	flags.IntVar(&i, "row", 0, "trace the element of this `row`, from 0")
	flags.IntVar(&j, "column", 0, "and of this `column`")
	words, err := parseFlags(flags, args)
	if err != nil {
		return err
	}
	if err := p.checkPlan(flags); err != nil {
		return err
	}
	if len(words) != 2 || p.splitK < 1 {
		return misuse(flags, "want two files, and -split-k of 1 or more")
	}
	p.a, p.b = words[0], words[1]
	k, err := p.adder()
	if err != nil {
		return err
	}
	k.say(stderr)
	if err := p.read(k.device.A, k.device.B, k.device.Convert); err != nil {
		return err
	}
	a, b := p.operandA, p.operandB
	if i < 0 || i >= a.Rows || j < 0 || j >= b.Cols {
		return fmt.Errorf("-row %d -column %d, want an element of a product of %d × %d", i, j, a.Rows, b.Cols)
	}
	x, y := matrix.Vectors(matrix.Rows(a, i, i+1))[0], matrix.Vectors(matrix.Transpose(matrix.Columns(b, j, j+1)))[0]
	text := ""
	switch m := k.GEMMer.(type) {
	case plan.Plan:
		if err := question.CheckPlan(m, a.Cols, 1, question.MostTraced); err != nil {
			return err
		}
		text = m.Trace(x, y).String()
	case tcore.Machine:
		text = m.Trace(x, y).String()
	}
	_, err = io.WriteString(stdout, text)
	return err
}
