package atlas

import (
	"fmt"
	"math"
	"slices"

	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/sweep"
)

// A Recipe is a way to quantise both factors, described so that the data set
// can be read without this module.
type Recipe struct {
	Name string   `json:"name"` // as roundoff sweep -recipe has it
	A    Quantise `json:"a"`
	B    Quantise `json:"b"`
}

// A Quantise is the recipe of package quant for one factor.
type Quantise struct {
	Name    string `json:"name"`
	Element string `json:"element"`          // the format of the codes
	Scale   string `json:"scale"`            // the format of the scales
	Block   string `json:"block"`            // whose elements have a scale in common, across × along K
	Tensor  string `json:"tensor,omitempty"` // the format of another scale, of the whole matrix
	Source  string `json:"source"`
}

// FindRecipe returns the recipe of that name, as names.json has it. An error
// says that there is none.
func FindRecipe(name string) (Recipe, error) {
	r, err := sweep.FindRecipes(name)
	if err != nil {
		return Recipe{}, fmt.Errorf("atlas: %w", err)
	}
	of := func(r quant.Recipe) Quantise {
		z := Quantise{Name: r.Name, Element: r.Element.Name, Scale: r.Scale.Stored.Name, Block: r.Block.String(), Source: r.Source}
		if r.Tensor != nil {
			z.Tensor = r.Tensor.Stored.Name
		}
		return z
	}
	return Recipe{name, of(r.A), of(r.B)}, nil
}

// A RecipeCell has the errors e = D̂ - D of the products of one machine,
// recipe, distribution and K, D being the product before A and B are quantised,
// and bounds on them; none if no output could be judged.
type RecipeCell struct {
	Errors
	Recipe string

	Quantised   Part // what quantisation contributes to e, ÂB̂ - AB
	Accumulated Part // what sums, scales outside of the device and storing D do, D̂ - ÂB̂
	Bounds      []RecipeBound
}

// A Part is one of two parts of the errors, relative to |A||B|: its mean, its
// standard deviation and the largest of its sizes.
type Part struct{ Mean, Spread, Largest float64 }

// RMS returns the root mean square of the part.
func (p Part) RMS() float64 { return math.Hypot(p.Mean, p.Spread) }

// A RecipeBound is the result for one bound in a cell with a recipe: on all of
// the error or, if its name is [sweep.QuantisationRow], on what quantisation
// contributes.
type RecipeBound struct {
	Bound
	Told       sweep.Told // the distribution or the matrices
	Conversion float64    // the part of Constant that bounds what quantisation contributes
}

// Share returns the share that accumulation has in the sum of the mean squares
// of both parts of the error; NaN if both are 0.
func (c RecipeCell) Share() float64 {
	q, a := c.Quantised.RMS(), c.Accumulated.RMS()
	return a * a / (a*a + q*q)
}

// Rows returns the rows of the bounds of the cell as package sweep has them,
// without their sketches, for its functions.
func (c RecipeCell) Rows(m Manifest) []sweep.Row {
	rows := make([]sweep.Row, len(c.Bounds))
	for i, b := range c.Bounds {
		rows[i] = b.row(m)
		rows[i].Machine, rows[i].Recipe, rows[i].Data, rows[i].K = c.Machine, c.Recipe, c.Data, c.K
		rows[i].Represented, rows[i].Told, rows[i].Conversion = true, b.Told, b.Conversion
	}
	return rows
}

// Tightest returns the claimed bound on all of the error with the largest
// Tightness among those that are told the distribution or the matrices; ok is
// false if there is none.
func (c RecipeCell) Tightest(told sweep.Told) (best RecipeBound, ok bool) {
	for _, b := range c.Bounds {
		if b.Told == told && b.Name != sweep.QuantisationRow && b.Verdict == sweep.Holds && (!ok || b.Tightness > best.Tightness) {
			best, ok = b, true
		}
	}
	return best, ok
}

// OnQuantisation returns the claimed bound on what quantisation contributes,
// told the distribution or the matrices; ok is false if there is none.
func (c RecipeCell) OnQuantisation(told sweep.Told) (b RecipeBound, ok bool) {
	i := slices.IndexFunc(c.Bounds, func(b RecipeBound) bool {
		return b.Told == told && b.Name == sweep.QuantisationRow && b.Verdict == sweep.Holds
	})
	if i < 0 {
		return b, false
	}
	return c.Bounds[i], true
}

// SelectRecipes returns the cells with recipes of the query, those of devices
// that compute the same once. Those of int8 are of the machine
// [sweep.Integers], which is no device of the catalogue: every unit that adds
// integers in int32 computes them alike.
func (a *Atlas) SelectRecipes(q Query) (cells []RecipeCell) {
	machines := map[string]bool{}
	for _, d := range a.Devices {
		if q.Matches(d) {
			machines[d.Machine] = true
		}
	}
	integers := sweep.Integers
	if q.Matches(Device{Name: integers.Name, Factors: integers.Device.A.Name}) {
		machines[integers.Name] = true
	}
	for _, c := range a.Recipes {
		if machines[c.Machine] && (q.Recipe == "" || c.Recipe == q.Recipe) && (q.Data == "" || c.Data == q.Data) && (q.K == 0 || c.K == q.K) {
			cells = append(cells, c)
		}
	}
	return cells
}

// RecipeNames returns the names of the recipes in the order of the sweep.
func (a *Atlas) RecipeNames() []string {
	return distinct(a.Recipes, func(c RecipeCell) string { return c.Recipe })
}

// RecipeKs returns the lengths of the sums of cells with recipes in increasing
// order.
func (a *Atlas) RecipeKs() []int {
	ks := distinct(a.Recipes, func(c RecipeCell) int { return c.K })
	slices.Sort(ks)
	return ks
}

// recipeCell returns the cell of a row of errors with a recipe and the rows of
// bounds after it.
func recipeCell(rows []sweep.Row) RecipeCell {
	e := rows[0]
	c := RecipeCell{Errors: errorsOf(e), Recipe: e.Recipe}
	if e.Outputs > 0 {
		c.Quantised = Part{e.Quantised.Mean(), e.Quantised.Spread(), e.Quantised.Largest}
		c.Accumulated = Part{e.Accumulated.Mean(), e.Accumulated.Spread(), e.Accumulated.Largest}
	}
	for _, r := range rows[1:] {
		c.Bounds = append(c.Bounds, RecipeBound{boundOf(r), r.Told, r.Conversion})
	}
	return c
}

// A recipeRecord is a row of recipes.npz, and a recipeBoundRecord one of
// recipe_bounds.npz.
type (
	recipeRecord struct {
		RecipeCell
		machine, recipe, data, why int
	}
	recipeBoundRecord struct {
		RecipeBound
		cell, bound, told, certain, verdict int
	}
)

var recipeColumns = slices.Concat([]column[recipeRecord]{
	whole("machine", "|u1", "index in machines of names.json", func(r *recipeRecord) *int { return &r.machine }),
	whole("recipe", "|u1", "index in recipes of names.json", func(r *recipeRecord) *int { return &r.recipe }),
	whole("data", "|u1", "index in data of names.json", func(r *recipeRecord) *int { return &r.data }),
},
	errorColumns("; e is against AB before A and B are quantised", func(r *recipeRecord) (*Errors, *int) { return &r.Errors, &r.why }),
	partColumns("quantised", "what quantisation contributes to e/|A||B|", func(r *recipeRecord) *Part { return &r.Quantised }),
	partColumns("accumulated", "what sums and all after them contribute to e/|A||B|", func(r *recipeRecord) *Part { return &r.Accumulated }),
)

// partColumns returns the columns of a part of the error.
func partColumns(name, what string, at func(*recipeRecord) *Part) []column[recipeRecord] {
	return []column[recipeRecord]{
		real(name+"_mean", "the mean of "+what, func(r *recipeRecord) *float64 { return &at(r).Mean }),
		real(name+"_spread", "the standard deviation of "+what, func(r *recipeRecord) *float64 { return &at(r).Spread }),
		real(name+"_largest", "the largest size of "+what, func(r *recipeRecord) *float64 { return &at(r).Largest }),
	}
}

var recipeBoundColumns = []column[recipeBoundRecord]{
	whole("cell", "<i4", "row of recipes.npz", func(r *recipeBoundRecord) *int { return &r.cell }),
	whole("bound", "|u1", "index in bounds of names.json; quantisation bounds what quantisation contributes, all others bound e", func(r *recipeBoundRecord) *int { return &r.bound }),
	whole("told", "|u1", "0 if the bound is told the distribution, 1 if the matrices", func(r *recipeBoundRecord) *int { return &r.told }),
	whole("certain", "|u1", "1 if the bound holds always, 0 if with a probability", func(r *recipeBoundRecord) *int { return &r.certain }),
	whole("verdict", "|u1", "index in verdicts of names.json", func(r *recipeBoundRecord) *int { return &r.verdict }),
	whole("runs", "<i4", "products", func(r *recipeBoundRecord) *int { return &r.Runs }),
	whole("failed", "<i4", "products with an output above the bound", func(r *recipeBoundRecord) *int { return &r.Failed }),
	whole("outputs", "<i4", "outputs", func(r *recipeBoundRecord) *int { return &r.Outputs }),
	whole("violations", "<i4", "outputs above the bound", func(r *recipeBoundRecord) *int { return &r.Violations }),
	real("tightness", "the largest |e|/bound of a product, least over products", func(r *recipeBoundRecord) *float64 { return &r.Tightness }),
	real("largest", "the largest |e|/bound", func(r *recipeBoundRecord) *float64 { return &r.Largest }),
	real("constant", "the largest bound/|A||B|", func(r *recipeBoundRecord) *float64 { return &r.Constant }),
	real("conversion", "the part of it that bounds what quantisation contributes", func(r *recipeBoundRecord) *float64 { return &r.Conversion }),
}

// tellings are what bounds with recipes are told, by number.
var tellings = []sweep.Told{sweep.FromDistribution, sweep.FromMatrices}

// recipeRecords returns the rows of both tables with recipes, and takes up
// their words.
func (n *names) recipeRecords(all []RecipeCell) (cells []recipeRecord, bounds []recipeBoundRecord, err error) {
	var named []string
	for _, c := range all {
		for _, b := range c.Bounds {
			r := recipeBoundRecord{b, len(cells), n.bound(b.Bound), slices.Index(tellings, b.Told), 0, index(&n.Verdicts, string(b.Verdict))}
			if b.Deterministic {
				r.certain = 1
			}
			bounds = append(bounds, r)
		}
		r := recipeRecord{c, index(&n.Machines, c.Machine), index(&named, c.Recipe), index(&n.Data, c.Data), index(&n.Why, c.Why)}
		if r.recipe == len(n.Recipes) {
			recipe, err := FindRecipe(c.Recipe)
			if err != nil {
				return nil, nil, err
			}
			n.Recipes = append(n.Recipes, recipe)
		}
		cells = append(cells, r)
	}
	return cells, bounds, nil
}

// recipesOf returns the cells of both tables with recipes. An error names the
// row with a number that stands for nothing.
func recipesOf(n names, cellTable, boundTable File) (cells []RecipeCell, err error) {
	records, err := rowsOf(recipeColumns, cellTable)
	if err != nil {
		return nil, err
	}
	bounds, err := rowsOf(recipeBoundColumns, boundTable)
	if err != nil {
		return nil, err
	}
	for i, r := range records {
		if r.machine >= len(n.Machines) || r.recipe >= len(n.Recipes) || r.data >= len(n.Data) || r.why >= len(n.Why) {
			return nil, fmt.Errorf("atlas: row %d of %s: machine %d, recipe %d, data %d, why %d, and names.json has %d, %d, %d and %d",
				i, cellTable.Name, r.machine, r.recipe, r.data, r.why, len(n.Machines), len(n.Recipes), len(n.Data), len(n.Why))
		}
		c := r.RecipeCell
		c.Machine, c.Recipe, c.Data, c.Why = n.Machines[r.machine], n.Recipes[r.recipe].Name, n.Data[r.data], n.Why[r.why]
		cells = append(cells, c)
	}
	for i, r := range bounds {
		if r.cell < 0 || r.cell >= len(cells) || r.bound >= len(n.Bounds) || r.told >= len(tellings) || r.certain > 1 || r.verdict >= len(n.Verdicts) {
			return nil, fmt.Errorf("atlas: row %d of %s: cell %d, bound %d, told %d, certain %d, verdict %d, and there are %d cells, %d bounds, %d tellings and %d verdicts",
				i, boundTable.Name, r.cell, r.bound, r.told, r.certain, r.verdict, len(cells), len(n.Bounds), len(tellings), len(n.Verdicts))
		}
		b := r.RecipeBound
		b.Name, b.Told, b.Deterministic, b.Verdict = n.Bounds[r.bound].Name, tellings[r.told], r.certain != 0, sweep.Verdict(n.Verdicts[r.verdict])
		cells[r.cell].Bounds = append(cells[r.cell].Bounds, b)
	}
	return cells, nil
}
