package main

import (
	"context"
	"io"

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
	var choice planChoice
	flags := newFlags("plan diff", "-plan TEXT -with TEXT [-k K] [-json]\n\n"+
		"Tells where two plans part for sums of K products: the first products that meet elsewhere, an input\n"+
		"of as few products as there is whose results differ, and by how much sums of random products do.\n\n", stderr)
	choice.flags(flags)
	with := flags.String("with", "", "compare with this `plan`, named as -plan is")
	k := flags.Int("k", 4096, "compare sums of this `number` of products")
	asJSON := flags.Bool("json", false, "print JSON")
	words, err := parseFlags(flags, args)
	if err != nil {
		return err
	}
	if len(words) > 0 || choice.text == "" || *with == "" {
		return misuse(flags, "want -plan, -with, and flags alone")
	}
	if err := checkSizes(flags, mostCompared, size{"k", *k}); err != nil {
		return err
	}
	p, err := choice.plan()
	if err != nil {
		return err
	}
	q, err := findPlan("with", *with)
	if err != nil {
		return err
	}
	for _, z := range []struct {
		flag string
		plan.Plan
	}{{"plan", p}, {"with", q}} {
		if err := checkSteps(z.flag, z.Plan, *k, 1024, mostTraced); err != nil {
			return err
		}
	}
	d := plan.Diff(p, q, *k)
	if !*asJSON {
		_, err = io.WriteString(stdout, d.String())
		return err
	}
	s := d.Random
	z := compared{p, q, *k, d.Equal, d.Words, nil, d.Tried, s.Differ, s.Dots, known(s.RMS), known(s.Largest), known(s.ErrorP), known(s.ErrorQ)}
	if e := d.Example; e != nil {
		z.Example = &comparedInput{e.At, e.X, e.Y, known(e.P), known(e.Q)}
	}
	return writeJSON(stdout, z)
}
