package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"text/tabwriter"

	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/pkg/library"
	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/study"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// planCommands are the subcommands of roundoff plan.
var planCommands = []command{
	{"list", "list plans of all kinds, and what they are written as", planList},
	{"explain", "tell in words, or draw, how a plan adds K products", planExplain},
	{"diff", "tell where two plans part, and an input whose result differs", planDiff},
}

// planCommand runs a subcommand of roundoff plan.
func planCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	return subcommand(ctx, "plan", planCommands, "A plan is how a library adds the products of an element: what one accumulator adds, how K is cut,\n"+
		"how parts are merged, and what is rounded. Its text goes from the inside out: a device, then\n"+
		"| and a cut for each level of parts, then > and the format of the result.\n", args, stdout, stderr)
}

// planList lists the plans that have names.
func planList(_ context.Context, args []string, stdout, stderr io.Writer) error {
	flags := newFlags("plan list", "[-json]\n\n"+
		"Lists one plan of each kind that libraries of GPUs have, by a name that -plan knows, and the libraries that -library knows.\n\n", stderr)
	asJSON := flags.Bool("json", false, "print JSON")
	words, err := parseFlags(flags, args)
	if err != nil {
		return err
	}
	if len(words) > 0 {
		return misuse(flags, "%q given, want flags alone", words[0])
	}
	if *asJSON {
		z := plansListed{Plans: plan.Forms()}
		for _, e := range library.Plans() {
			z.Libraries = append(z.Libraries, libraryListed{e.Name, e.Doc, e.Source})
		}
		for _, p := range library.Profiles() {
			z.Profiles = append(z.Profiles, p.Name())
		}
		return writeJSON(stdout, z)
	}
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "plan\twhat it does\ttext")
	for _, p := range plan.Forms() {
		fmt.Fprintf(w, "%s\t%s\t%v\n", p.Name, p.Doc, p)
	}
	fmt.Fprintln(w, "\t\t\nlibrary\twhat is known\tsource")
	for _, e := range library.Plans() {
		fmt.Fprintf(w, "%s\t%s\t%s\n", e.Name, e.Doc, e.Source)
	}
	for _, p := range library.Profiles() {
		fmt.Fprintf(w, "cublaslt-%s\ton %s, with -config; measured on %s\tbitequiv 2026\n", p.Version, p.Architecture, p.Measured)
	}
	return w.Flush()
}

// plansListed is the list in JSON.
type plansListed struct {
	Plans     []plan.Plan     `json:"plans"`
	Libraries []libraryListed `json:"libraries"`
	Profiles  []string        `json:"profiles"` // of cuBLASLt
}

type libraryListed struct {
	Name   string `json:"name"`
	Doc    string `json:"doc"`
	Source string `json:"source"`
}

// explained is a plan in JSON, with its size.
type explained struct {
	Plan plan.Plan `json:"plan"`
	K    int       `json:"k"`
	Size plan.Size `json:"size"`
	Text string    `json:"text"`

	Notes []string `json:"notes,omitempty"` // what is to be said of a library's plan
}

// planExplain explains a plan.
func planExplain(_ context.Context, args []string, stdout, stderr io.Writer) error {
	var q planQuestion
	flags := newFlags("plan explain", "-plan TEXT [-k K] [-json] [-o FILE]\n\n"+
		"Tells how a plan adds K products: how K is cut, what an accumulator does, how parts are merged,\n"+
		"what one product meets on its way, and what is lost. -o also draws it.\n\n", stderr)
	q.flags(flags)
	asJSON := flags.Bool("json", false, "print JSON")
	path := flags.String("o", "", "draw which products meet where into this `file`, .svg or .png")
	words, err := parseFlags(flags, args)
	if err != nil {
		return err
	}
	draw, drawable := pictures[filepath.Ext(*path)]
	if *path != "" && !drawable {
		return misuse(flags, "-o %q, want a file.svg or file.png", *path)
	}
	if err := q.check(flags, words, question.MostTerms); err != nil {
		return err
	}
	p, err := q.plan()
	if err != nil {
		return err
	}
	if *path != "" {
		if err := draw.save(*path, study.PlanFigure(p.Plan, q.k)); err != nil {
			return err
		}
	}
	text := plan.Explain(p.Plan, q.k)
	if *asJSON {
		return writeJSON(stdout, explained{p.Plan, q.k, p.Size(q.k), text, p.Notes})
	}
	for _, note := range p.Notes {
		text += fmt.Sprintf("Note: %s.\n", note)
	}
	_, err = fmt.Fprintf(stdout, "%v\n\n%s", p, text)
	return err
}

// A picture is how a figure becomes a file.
type picture func(viz.Figure) ([]byte, error)

// pictures are those of the names of files.
var pictures = map[string]picture{".svg": viz.Figure.SVG, ".png": viz.Figure.PNG}

// save writes a figure into a file, whole or not at all.
func (draw picture) save(path string, f viz.Figure) error {
	file, err := newOutput(path)
	if err != nil {
		return err
	}
	defer file.drop()
	data, err := draw(f)
	if err != nil {
		return err
	}
	return file.write(func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}
