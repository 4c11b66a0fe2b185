package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/pkg/plan"
)

// mostCompared is the largest K of plans that are compared by computing.
const mostCompared = 1 << 18

// compared are two plans and their difference in JSON.
type compared struct {
	Plan       plan.Plan      `json:"plan"`
	With       plan.Plan      `json:"with"`
	K          int            `json:"k"`
	Equal      bool           `json:"equal"`
	Words      []string       `json:"words,omitempty"`
	Example    *comparedInput `json:"example,omitempty"`
	Tried      int            `json:"tried"`
	Differ     int            `json:"differ"`
	Of         int            `json:"of"`
	RMS        *float64       `json:"rms"`
	Largest    *float64       `json:"largest"`
	ErrorRMS   *float64       `json:"errorRMS"`
	ErrorOther *float64       `json:"errorRMSWith"`
	Most       *float64       `json:"most"` // times Σ|xy|, plus underflow; null if not bounded
	Underflow  *float64       `json:"mostUnderflow"`
	Why        string         `json:"mostWhy,omitempty"`
}

// A comparedInput is an input whose results differ.
type comparedInput struct {
	At   []int     `json:"at"`
	X    []float64 `json:"x"`
	Y    []float64 `json:"y"`
	Plan *float64  `json:"plan"`
	With *float64  `json:"with"`
}

// planDiff compares two plans.
func planDiff(_ context.Context, args []string, stdout, stderr io.Writer) error {
	var of planQuestion
	flags := newFlags("plan diff", "-plan TEXT -with TEXT [-k K] [-json]\n\n"+
		"Tells where two plans part for sums of K products: the first products that meet elsewhere, an input\n"+
		"of as few products as there is whose results differ, and by how much sums of random products do.\n\n", stderr)
	of.flags(flags)
	with := flags.String("with", "", "compare with this `plan`, named as -plan is")
	asJSON := flags.Bool("json", false, "print JSON")
	words, err := parseFlags(flags, args)
	if err != nil {
		return err
	}
	if *with == "" {
		return misuse(flags, "want -with, another plan")
	}
	if err := of.check(flags, words, mostCompared); err != nil {
		return err
	}
	first, err := of.plan()
	if err != nil {
		return err
	}
	product, err := of.product()
	if err != nil {
		return err
	}
	second, err := findPlan("with", *with, product)
	if err != nil {
		return err
	}
	p, q := first.Plan, second.Plan
	for _, z := range []struct {
		flag string
		plan.Plan
	}{{"plan", p}, {"with", q}} {
		if err := question.CheckSteps(z.flag, z.Plan, of.k, 1024, question.MostTraced); err != nil {
			return err
		}
	}
	d := plan.Diff(p, q, of.k)
	constant, underflow, why := mostDiffering(p, q, of.k)
	if !*asJSON {
		text := d.String()
		if !d.Equal {
			text += "\n" + mostWords(constant, underflow, why)
		}
		for _, note := range slices.Concat(first.Notes, second.Notes) {
			text += fmt.Sprintf("Note: %s.\n", note)
		}
		_, err = io.WriteString(stdout, text)
		return err
	}
	s := d.Random
	z := compared{p, q, of.k, d.Equal, d.Words, nil, d.Tried, s.Differ, s.Dots, question.Known(s.RMS), question.Known(s.Largest), question.Known(s.ErrorP), question.Known(s.ErrorQ), question.Known(constant), question.Known(underflow), why}
	if e := d.Example; e != nil {
		z.Example = &comparedInput{e.At, e.X, e.Y, question.Known(e.P), question.Known(e.Q)}
	}
	return writeJSON(stdout, z)
}
