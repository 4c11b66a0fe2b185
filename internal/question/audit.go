package question

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/roundofflab/roundoff/pkg/audit"
	"github.com/roundofflab/roundoff/pkg/network"
	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/sweep"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
)

// What is audited unless the command line says otherwise.
const (
	AuditRecipes = "torchao-e4m3-row,deepgemm-1x128:deepgemm-128x128,te-mxe4m3,mxe2m1-rceil,nvfp4-te-1x16,int8-row"
	AuditDevices = "hopper-wgmma-e4m3-binary32,blackwell-tcgen05-e4m3-binary32,blackwell-tcgen05-mxe4m3-binary32," +
		"blackwell-tcgen05-mxe2m1-binary32,blackwell-tcgen05-f4ue4m3x16-binary32"
	AuditRows = 64 // of activations that are drawn
)

// AuditLaw says how activations are drawn that are not given.
func AuditLaw(seed uint64) string {
	return fmt.Sprintf("independent N(0,1), %d rows, seed %d", AuditRows, seed)
}

// An AuditReport is what is told of a network, and its JSON.
type AuditReport struct {
	Model    string           `json:"model"`
	Law      string           `json:"law"` // of activations that are drawn
	Products []AuditedProduct `json:"products"`
	Left     []AuditLeft      `json:"not_audited"`
}

type AuditLeft struct {
	Name     string `json:"name"`
	Operator string `json:"operator"`
	Why      string `json:"why"`
}

type AuditedProduct struct {
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
	Errors   []AuditedErrors `json:"errors"`
}

type AuditedErrors struct {
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
	Devices     []AuditedDevice `json:"devices"`
}

type AuditedDevice struct {
	Device     string   `json:"device"`
	Promote    int      `json:"promote"`
	RMS        float64  `json:"accumulation"`
	Bound      *float64 `json:"accumulation_bound"` // null if there is none
	Total      float64  `json:"total"`
	TotalBound *float64 `json:"total_bound"`
	Overflow   int      `json:"overflow"`
}

// An AuditRecipe quantises activations by one recipe and weights by another.
type AuditRecipe struct {
	Name string
	A, B quant.Recipe
}

// FindAuditRecipes returns the recipes of a list with commas.
func FindAuditRecipes(list string) (found []AuditRecipe, err error) {
	for _, name := range Words(list) {
		r, err := sweep.FindRecipes(name)
		if err != nil {
			return nil, fmt.Errorf("-recipe: %s", strings.TrimPrefix(err.Error(), "sweep: quant: "))
		}
		if slices.ContainsFunc(found, func(f AuditRecipe) bool { return f.Name == name }) {
			return nil, fmt.Errorf("-recipe names %s twice", name)
		}
		found = append(found, AuditRecipe{name, r.A, r.B})
	}
	if found == nil {
		return nil, fmt.Errorf("-recipe %q names no recipe", list)
	}
	return found, nil
}

// Named returns the device, and after how many products sums leave it.
func (d AuditedDevice) Named() string {
	name := strings.TrimSuffix(d.Device, "-binary32")
	if d.Promote > 0 {
		return fmt.Sprintf("%s every %d", name, d.Promote)
	}
	return name
}

// Over returns an error or a bound, or how many outputs have none.
func (d AuditedDevice) Over(x *float64) string {
	switch {
	case d.Overflow > 0:
		return fmt.Sprintf("%d overflow", d.Overflow)
	case x == nil:
		return "-"
	}
	return fmt.Sprintf("%.1e", *x)
}

// AuditErrors returns what each recipe makes of a layer, and each device that
// takes what it makes. A recipe that does not fit has the reason in its place.
func AuditErrors(l *audit.Layer, recipes []AuditRecipe, devices []tcore.Device, promote int) (all []AuditedErrors) {
	for _, r := range recipes {
		e, err := l.Errors(r.A, r.B, devices, promote)
		z := AuditedErrors{Recipe: r.Name, Activations: e.Activations, Weights: e.Weights, Common: e.Common, Predicted: e.Predicted,
			Measured: e.Measured, Bound: e.Bound, Backward: e.Backward, Largest: e.Largest}
		if err != nil {
			z.Why = err.Error()
		}
		for _, d := range e.Devices {
			z.Devices = append(z.Devices, AuditedDevice{d.Device, d.Promote, d.RMS, Known(d.Bound), d.Total, Known(d.TotalBound), d.Overflow})
		}
		all = append(all, z)
	}
	return all
}

// Known returns a pointer to x, for JSON, or nil if it is NaN or infinite.
func Known(x float64) *float64 {
	if x-x != 0 {
		return nil
	}
	return &x
}

// AuditNetwork audits every product of a network with the activations that a
// function returns, which also says in Data where they are from. The error says
// that no product can be audited, or is that of the function.
func AuditNetwork(ctx context.Context, m *network.Model, law string, recipes []AuditRecipe, devices []tcore.Device, promote int,
	activations func(i int, p network.Product, a *AuditedProduct) (blas32.General, error)) (*AuditReport, error) {
	r := &AuditReport{Model: m.Path, Law: law}
	for _, l := range m.Left {
		r.Left = append(r.Left, AuditLeft{l.Name, l.Operator, l.Why})
	}
	for i, p := range m.Products {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		a := AuditedProduct{Name: p.Name, Operator: p.Operator, Tensor: p.Tensor, Input: p.Input, K: p.K, N: p.N, Groups: p.Groups, Window: p.Window}
		x, err := activations(i, p, &a)
		if err != nil {
			return nil, err
		}
		b, err := p.Weights()
		if err == nil {
			err = a.Audit(x, b, recipes, devices, promote)
		}
		if err != nil {
			r.Left = append(r.Left, AuditLeft{p.Name, p.Operator, err.Error()})
			continue
		}
		r.Products = append(r.Products, a)
	}
	switch {
	case r.Products == nil && r.Left != nil:
		l := r.Left[0]
		return nil, fmt.Errorf("%s: no product can be audited: %s, %s: %s", m.Path, Short(l.Operator), Short(l.Name), l.Why)
	case r.Products == nil:
		return nil, fmt.Errorf("%s: no product of activations and weights", m.Path)
	}
	return r, nil
}

// Audit fills in what is told of the product of activations and weights.
func (a *AuditedProduct) Audit(x, b blas32.General, recipes []AuditRecipe, devices []tcore.Device, promote int) error {
	s := audit.StatisticsOf(b)
	a.Greatest, a.Kurtosis, a.Dead = s.Greatest, s.Kurtosis, s.Dead
	l, err := audit.NewLayer(x, b)
	if err != nil {
		return err
	}
	a.Errors = AuditErrors(l, recipes, devices, promote)
	return nil
}

// Short returns the end of a long name, which a file may have made of anything.
func Short(name string) string { return EndOf(name, 40) }

// EndOf returns the last characters of a name, at most so many.
func EndOf(name string, most int) string {
	letters := []rune(strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) {
			return c
		}
		return unicode.ReplacementChar
	}, name))
	if len(letters) > most {
		return "…" + string(letters[len(letters)-most+1:])
	}
	return string(letters)
}
