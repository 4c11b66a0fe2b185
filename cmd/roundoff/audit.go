package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"regexp"

	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/pkg/audit"
	"github.com/roundofflab/roundoff/pkg/network"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
)

// An auditQuestion contains the arguments of roundoff audit.
type auditQuestion struct {
	recipes       []question.AuditRecipe
	devices       []tcore.Device
	promote, most int
	seed          uint64
	tolerance     float64
	activations   string // a folder, empty for none
}

// auditCommand tells what quantisation does to the products of a network.
func auditCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var q auditQuestion
	var recipes, device, page, inputs string
	var json bool
	flags := newFlags("audit", "[-flag ...] MODEL\n\n"+
		"Reads a trained network, MODEL.onnx or MODEL.safetensors, and tells for each of its products D = AB\n"+
		"of activations A and weights B what quantisation makes of it: E = ÂB̂ - AB, predicted from the errors\n"+
		"of the elements and measured, and what the sums of a device add, as it is emulated, each beside a\n"+
		"bound that holds always for these matrices. The activations are independent N(0,1), or yours:\n"+
		"-activations. Of a tensor in a file without a graph the shape alone says that it is a product. With\n"+
		"-run the network is computed whole, exactly and with all its products by each recipe: how errors pass\n"+
		"from layer to layer, and which decisions of the network change.\n\n", stderr)
	flags.StringVar(&recipes, "recipe", question.AuditRecipes, "quantise by these `recipes`, names of roundoff quantise, A:B for one of activations and one of weights")
	flags.StringVar(&device, "device", question.AuditDevices, "multiply on these `devices`, where they take what a recipe makes")
	flags.IntVar(&q.promote, "promote", 128, "where a scale belongs to all of K, multiply also with sums that leave the device after this `number` of products; 0: not")
	flags.StringVar(&q.activations, "activations", "", "take activations from the files of this `folder`, which lab/activations.py writes")
	flags.StringVar(&inputs, "run", "", "compute the network whole, from the arrays of this `file` of numpy.savez, one for each of its inputs")
	flags.Uint64Var(&q.seed, "seed", 1, "the `seed` of activations that are drawn")
	flags.Float64Var(&q.tolerance, "tolerance", 0, "count the products whose rms(E) is at most this `number` times rms(D)")
	flags.IntVar(&q.most, "worst", 5, "print this `number` of products for each recipe, the worst first; 0: all")
	flags.StringVar(&page, "html", "", "write a page with pictures, of all products, into this `file`")
	flags.BoolVar(&json, "json", false, "write JSON, of all products")
	words, err := parseFlags(flags, args)
	switch {
	case err != nil:
		return err
	case len(words) != 1:
		return misuse(flags, "want one model")
	case q.promote < 0 || q.most < 0:
		return misuse(flags, "-promote %d and -worst %d, want at least 0", q.promote, q.most)
	case inputs != "" && (page != "" || q.activations != "" || q.tolerance != 0):
		return misuse(flags, "-run computes activations, and has neither a page nor a tolerance: want it without -html, -activations and -tolerance")
	case q.tolerance < 0 || math.IsNaN(q.tolerance) || math.IsInf(q.tolerance, 0):
		return misuse(flags, "-tolerance %v, want a number of at least 0", q.tolerance)
	}
	if q.recipes, err = question.FindAuditRecipes(recipes); err != nil {
		return err
	}
	if q.devices, err = question.FindDevices(device, ""); err != nil {
		return err
	}
	m, err := network.Open(words[0])
	if err != nil {
		return err
	}
	defer m.Close()
	if inputs != "" {
		r, err := q.run(ctx, m, inputs)
		if err != nil {
			return err
		}
		if json {
			return writeJSON(stdout, r)
		}
		return r.write(stdout)
	}
	var file *output
	if page != "" {
		if file, err = newOutput(page); err != nil {
			return err
		}
		defer file.drop()
	}
	r, err := q.audit(ctx, m)
	if err != nil {
		return err
	}
	if file != nil {
		text, err := r.page(q)
		if err != nil {
			return err
		}
		if err := file.write(func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
			return err
		}
	}
	if json {
		return writeJSON(stdout, r)
	}
	return r.write(stdout, q)
}

// An auditReport is what is told of a network.
type auditReport struct{ question.AuditReport }

// audit computes the report. The error says that no product can be audited, or
// that a file of activations cannot be read.
func (q *auditQuestion) audit(ctx context.Context, m *network.Model) (*auditReport, error) {
	taken := 0
	r, err := question.AuditNetwork(ctx, m, question.AuditLaw(q.seed), q.recipes, q.devices, q.promote,
		func(i int, p network.Product, a *question.AuditedProduct) (blas32.General, error) {
			a.File = activationsFile(i, p.Name)
			x, err := q.activationsOf(p, a)
			if a.Data == a.File {
				taken++
			}
			return x, err
		})
	switch {
	case err != nil:
		return nil, err
	case q.activations != "" && taken == 0:
		return nil, fmt.Errorf("-activations %s: no file of a product, such as %s", q.activations, r.Products[0].File)
	}
	return &auditReport{*r}, nil
}

// unsafe matches what is not in the name of a file.
var unsafe = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// activationsFile returns the name of the file with activations of a product.
func activationsFile(index int, name string) string {
	name = unsafe.ReplaceAllString(name, "_")
	return fmt.Sprintf("%03d-%s.npy", index, name[max(0, len(name)-60):])
}

// activationsOf returns A: from its file, if there is one, else drawn.
func (q *auditQuestion) activationsOf(p network.Product, a *question.AuditedProduct) (blas32.General, error) {
	if q.activations != "" {
		path := filepath.Join(q.activations, a.File)
		switch x, err := readMatrix(path, tcore.Binary32, tcore.ToNearestEven); {
		case err == nil && p.Groups > 1:
			return x, fmt.Errorf("%s: activations of a convolution of %d groups, want one", path, p.Groups)
		case err == nil && x.Cols != p.K:
			return x, fmt.Errorf("%s is %d × %d, want %d columns for %s", path, x.Rows, x.Cols, p.K, question.Short(p.Name))
		case err == nil:
			a.Data = a.File
			return x, nil
		case !errors.Is(err, fs.ErrNotExist):
			return x, err
		}
	}
	a.Data = "N(0,1)"
	return audit.Normal(question.AuditRows, p.K, q.seed), nil
}
