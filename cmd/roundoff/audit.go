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
	"slices"
	"strings"

	"github.com/roundofflab/roundoff/pkg/audit"
	"github.com/roundofflab/roundoff/pkg/network"
	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
)

// What is audited unless the command line says otherwise.
const (
	auditRecipes = "torchao-e4m3-row,deepgemm-1x128:deepgemm-128x128,te-mxe4m3,mxe2m1-rceil,nvfp4-te-1x16,int8-row"
	auditDevices = "hopper-wgmma-e4m3-binary32,blackwell-tcgen05-e4m3-binary32,blackwell-tcgen05-mxe4m3-binary32," +
		"blackwell-tcgen05-mxe2m1-binary32,blackwell-tcgen05-f4ue4m3x16-binary32"
	drawnRows = 64 // of activations that are drawn
)

// An auditQuestion contains the arguments of roundoff audit.
type auditQuestion struct {
	recipes       []auditRecipe
	devices       []tcore.Device
	promote, most int
	seed          uint64
	tolerance     float64
	activations   string // a folder, empty for none
}

// An auditRecipe quantises activations by one recipe and weights by another.
type auditRecipe struct {
	name string
	a, b quant.Recipe
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
	flags.StringVar(&recipes, "recipe", auditRecipes, "quantise by these `recipes`, names of roundoff quantise, A:B for one of activations and one of weights")
	flags.StringVar(&device, "device", auditDevices, "multiply on these `devices`, where they take what a recipe makes")
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
	if q.recipes, err = findRecipes(recipes); err != nil {
		return err
	}
	if q.devices, err = findDevices(device, ""); err != nil {
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

// findRecipes returns the recipes of a list with commas.
func findRecipes(list string) (found []auditRecipe, err error) {
	for _, name := range words(list) {
		left, right, two := strings.Cut(name, ":")
		if !two {
			right = left
		}
		r := auditRecipe{name: name}
		for _, side := range []struct {
			name string
			to   *quant.Recipe
		}{{left, &r.a}, {right, &r.b}} {
			if *side.to, err = quant.Named(side.name); err != nil {
				return nil, fmt.Errorf("-recipe: no recipe %q, see roundoff quantise", side.name)
			}
		}
		if slices.ContainsFunc(found, func(f auditRecipe) bool { return f.name == name }) {
			return nil, fmt.Errorf("-recipe names %s twice", name)
		}
		found = append(found, r)
	}
	if found == nil {
		return nil, fmt.Errorf("-recipe %q names no recipe", list)
	}
	return found, nil
}

// An auditReport is what is told of a network, and its JSON.
type auditReport struct {
	Model    string           `json:"model"`
	Law      string           `json:"law"` // of activations that are drawn
	Products []auditedProduct `json:"products"`
	Left     []auditLeft      `json:"not_audited"`
}

type auditLeft struct {
	Name     string `json:"name"`
	Operator string `json:"operator"`
	Why      string `json:"why"`
}

type auditedProduct struct {
	Name     string          `json:"name"`
	Operator string          `json:"operator"`
	Tensor   string          `json:"tensor"`
	Input    string          `json:"input"` // the name of the activations in the graph
	File     string          `json:"file"`  // with activations, in the folder of -activations
	Data     string          `json:"data"`  // which activations it was audited with
	K        int             `json:"k"`
	N        int             `json:"n"`
	Groups   int             `json:"groups"`
	Window   *network.Window `json:"window,omitempty"`
	Greatest float64         `json:"max_over_sd"`
	Kurtosis float64         `json:"kurtosis"`
	Dead     int             `json:"dead_columns"`
	Errors   []auditedErrors `json:"errors"`
}

type auditedErrors struct {
	Recipe      string          `json:"recipe"`
	Activations float64         `json:"activations"`
	Weights     float64         `json:"weights"`
	Common      float64         `json:"common"`
	Predicted   float64         `json:"predicted"`
	Measured    float64         `json:"measured"`
	Bound       float64         `json:"bound"`
	Backward    float64         `json:"backward"`
	Largest     float64         `json:"largest"`
	Why         string          `json:"why,omitempty"` // there are no errors
	Devices     []auditedDevice `json:"devices"`
}

type auditedDevice struct {
	Device     string   `json:"device"`
	Promote    int      `json:"promote"`
	RMS        float64  `json:"accumulation"`
	Bound      *float64 `json:"accumulation_bound"` // null if there is none
	Total      float64  `json:"total"`
	TotalBound *float64 `json:"total_bound"`
	Overflow   int      `json:"overflow"`
}

// audit computes the report. The error says that no product can be audited, or
// that a file of activations cannot be read.
func (q *auditQuestion) audit(ctx context.Context, m *network.Model) (*auditReport, error) {
	r := &auditReport{Model: m.Path, Law: fmt.Sprintf("independent N(0,1), %d rows, seed %d", drawnRows, q.seed)}
	for _, l := range m.Left {
		r.Left = append(r.Left, auditLeft{l.Name, l.Operator, l.Why})
	}
	taken := 0
	for i, p := range m.Products {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		a := auditedProduct{Name: p.Name, Operator: p.Operator, Tensor: p.Tensor, Input: p.Input, File: activationsFile(i, p.Name),
			K: p.K, N: p.N, Groups: p.Groups, Window: p.Window}
		x, err := q.activationsOf(p, &a)
		if err != nil {
			return nil, err
		}
		if a.Data == a.File {
			taken++
		}
		if err := q.product(x, p, &a); err != nil {
			r.Left = append(r.Left, auditLeft{p.Name, p.Operator, err.Error()})
			continue
		}
		r.Products = append(r.Products, a)
	}
	switch {
	case r.Products == nil && r.Left != nil:
		return nil, fmt.Errorf("%s: no product can be audited: %s, %s: %s", m.Path, short(r.Left[0].Operator), short(r.Left[0].Name), r.Left[0].Why)
	case r.Products == nil:
		return nil, fmt.Errorf("%s: no product of activations and weights", m.Path)
	case q.activations != "" && taken == 0:
		return nil, fmt.Errorf("-activations %s: no file of a product, such as %s", q.activations, r.Products[0].File)
	}
	return r, nil
}

// unsafe matches what is not in the name of a file.
var unsafe = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// activationsFile returns the name of the file with activations of a product.
func activationsFile(index int, name string) string {
	name = unsafe.ReplaceAllString(name, "_")
	return fmt.Sprintf("%03d-%s.npy", index, name[max(0, len(name)-60):])
}

// activationsOf returns A: from its file, if there is one, else drawn.
func (q *auditQuestion) activationsOf(p network.Product, a *auditedProduct) (blas32.General, error) {
	if q.activations != "" {
		path := filepath.Join(q.activations, a.File)
		switch x, err := readMatrix(path, tcore.Binary32, tcore.ToNearestEven); {
		case err == nil && p.Groups > 1:
			return x, fmt.Errorf("%s: activations of a convolution of %d groups, want one", path, p.Groups)
		case err == nil && x.Cols != p.K:
			return x, fmt.Errorf("%s is %d × %d, want %d columns for %s", path, x.Rows, x.Cols, p.K, short(p.Name))
		case err == nil:
			a.Data = a.File
			return x, nil
		case !errors.Is(err, fs.ErrNotExist):
			return x, err
		}
	}
	a.Data = "N(0,1)"
	return audit.Normal(drawnRows, p.K, q.seed), nil
}

// product fills in what is told of a product.
func (q *auditQuestion) product(x blas32.General, p network.Product, a *auditedProduct) error {
	b, err := p.Weights()
	if err != nil {
		return err
	}
	s := audit.StatisticsOf(b)
	a.Greatest, a.Kurtosis, a.Dead = s.Greatest, s.Kurtosis, s.Dead
	l, err := audit.NewLayer(x, b)
	if err != nil {
		return err
	}
	for _, r := range q.recipes {
		e, err := l.Errors(r.a, r.b, q.devices, q.promote)
		z := auditedErrors{Recipe: r.name, Activations: e.Activations, Weights: e.Weights, Common: e.Common, Predicted: e.Predicted,
			Measured: e.Measured, Bound: e.Bound, Backward: e.Backward, Largest: e.Largest}
		if err != nil {
			z.Why = err.Error()
		}
		for _, d := range e.Devices {
			z.Devices = append(z.Devices, auditedDevice{d.Device, d.Promote, d.RMS, known(d.Bound), d.Total, known(d.TotalBound), d.Overflow})
		}
		a.Errors = append(a.Errors, z)
	}
	return nil
}
