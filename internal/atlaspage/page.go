// Package atlaspage writes a page to look through an atlas of errors and
// bounds: one HTML file with the data set inside, which works without a server
// and without a network.
package atlaspage

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"

	"github.com/roundofflab/roundoff/pkg/atlas"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/sweep"
)

//go:embed page.html
var text string

//go:embed page.css
var style string

//go:embed page.js
var script string

var page = template.Must(template.New("page").Parse(text))

// Page returns the page of an atlas.
func Page(a *atlas.Atlas) ([]byte, error) {
	packed, err := pack(a)
	if err != nil {
		return nil, err
	}
	data, ks := a.Data(), a.Ks()
	shown := struct {
		Data string
		K    int
	}{data[min(2, len(data)-1)], ks[len(ks)/2]}
	var b bytes.Buffer
	err = page.Execute(&b, map[string]any{
		"Style": template.CSS(style), "Script": template.JS(script), "Packed": template.HTML(packed), "Shown": shown,
		"Rows": overview(a, shown.Data, shown.K), "Quantised": quantisedRows(a, shown.Data, shown.K), "Atlas": a, "Count": a.Count(),
	})
	return b.Bytes(), err
}

// A row is one machine in the table of all.
type row struct {
	Device                           atlas.Device
	RMS, Largest, Best, Tau, Run, Of string
}

// overview returns the table of all machines for one distribution and K.
func overview(a *atlas.Atlas, data string, k int) (rows []row) {
	for _, c := range a.Select(atlas.Query{Data: data, K: k}) {
		if c.Outputs == 0 {
			continue
		}
		d, _ := a.Device(c.Machine)
		r := row{Device: d, RMS: digits(c.RMS()), Largest: digits(c.Largest), Best: "none", Run: "none"}
		if c.Largest == 0 {
			r.Best, r.Run = "no errors", "no errors"
		} else if best, ok := c.Tightest(bound.Moments); ok {
			r.Best, r.Tau = best.Name, digits(best.Tightness)
		}
		if best, ok := c.Tightest(bound.Trace); ok && c.Largest > 0 {
			r.Run, r.Of = best.Name, digits(best.Tightness)
		}
		rows = append(rows, r)
	}
	return rows
}

// A quantisedRow is one machine with a recipe in the table of all.
type quantisedRow struct {
	Recipe, Machine string
	Numbers         []string
}

// quantisedRows returns the table of all recipes for one distribution and K.
func quantisedRows(a *atlas.Atlas, data string, k int) (rows []quantisedRow) {
	for _, name := range a.RecipeNames() {
		for _, c := range a.SelectRecipes(atlas.Query{Recipe: name, Data: data, K: k}) {
			if c.Outputs == 0 {
				continue
			}
			r := quantisedRow{name, c.Machine, []string{digits(c.RMS()), digits(c.Share()), digits(c.Quantised.RMS()), digits(c.Accumulated.RMS())}}
			for _, told := range []sweep.Told{sweep.FromDistribution, sweep.FromMatrices} {
				if b, ok := c.Tightest(told); ok {
					r.Numbers = append(r.Numbers, digits(b.Constant), digits(b.Tightness))
				} else {
					r.Numbers = append(r.Numbers, "none", "")
				}
			}
			rows = append(rows, r)
		}
	}
	return rows
}

// digits returns x with three significant digits, as the script does.
func digits(x float64) string {
	if 0 < x && x < 1e-3 {
		return strconv.FormatFloat(x, 'e', 2, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// A table is what the script reads: dictionaries, and columns of numbers with
// three digits. The bounds of cell i are those from First[i] to First[i+1]-1.
type table struct {
	Devices []device     `json:"devices"`
	Data    []string     `json:"data"`
	Ks      []int        `json:"ks"`
	Bounds  []namedBound `json:"bounds"`

	Machine []int    `json:"machine"`
	Of      []int    `json:"of"` // distribution
	K       []int    `json:"k"`
	Outputs []int    `json:"outputs"`
	Why     []string `json:"why"`
	RMS     []number `json:"rms"`
	Mean    []number `json:"mean"`
	Largest []number `json:"largest"`
	First   []int    `json:"first"`

	Bound      []int    `json:"bound"`
	Ranges     []int    `json:"ranges"`  // 1: also told the sizes of the elements
	Verdict    []int    `json:"verdict"` // 0 holds, 1 not on this machine, 2 not for these data
	Violations []int    `json:"violations"`
	Tau        []number `json:"tau"`
	Constant   []number `json:"constant"`

	Quantised quantised `json:"quantised"`
}

// A quantised is what the script reads of cells with recipes. Bounds are the
// tightest that are told the distribution, Law, or the matrices, Given; null if
// there is none.
type quantised struct {
	Recipes []recipe `json:"recipes"`
	Units   []string `json:"units"` // machines
	Ks      []int    `json:"ks"`

	Recipe      []int    `json:"recipe"`
	Unit        []int    `json:"unit"`
	Of          []int    `json:"of"` // distribution
	K           []int    `json:"k"`
	Outputs     []int    `json:"outputs"`
	Why         []string `json:"why"`
	RMS         []number `json:"rms"`
	Lost        []number `json:"lost"` // RMS of what quantisation contributes
	Accumulated []number `json:"accumulated"`
	Share       []number `json:"share"`
	LostLaw     []number `json:"lost_law"` // bound on what quantisation contributes, told the distribution
	Law         []number `json:"law"`
	LawTau      []number `json:"law_tau"`
	Given       []number `json:"given"`
	GivenTau    []number `json:"given_tau"`
}

type recipe struct {
	Name string `json:"name"`
	Says string `json:"says"`
}

type device struct {
	Name    string `json:"name"`
	Machine int    `json:"machine"` // index of the device whose cells it has
	Kind    string `json:"kind"`
	Factors string `json:"factors"`
	Says    string `json:"says"`
}

type namedBound struct {
	Name   string `json:"name"`
	Needs  int    `json:"needs"`
	Sure   bool   `json:"sure"` // deterministic
	Source string `json:"source"`
}

// A number is written with three digits; what is not finite as null.
type number float64

// MarshalJSON returns the number.
func (x number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
		return []byte("null"), nil
	}
	return []byte(digits(float64(x))), nil
}

// tableOf returns the table of an atlas.
func tableOf(a *atlas.Atlas) table {
	t := table{Data: a.Data(), Ks: a.Ks(), Bounds: []namedBound{}, Machine: []int{}, First: []int{0}}
	at := map[string]int{}
	for i, d := range a.Devices {
		at[d.Name] = i
		says := fmt.Sprintf("%s, %s: factors in %s, sums in %s, %s", d.Architecture, d.Instruction, d.Factors, d.Sums, d.Family)
		if d.Scale != "" {
			says += ", scales " + d.Scale
		}
		t.Devices = append(t.Devices, device{d.Name, at[d.Machine], d.Architecture, d.Factors, says})
	}
	seen := map[string]int{}
	for _, c := range a.Cells {
		t.Machine, t.Of, t.K = append(t.Machine, at[c.Machine]), append(t.Of, slices.Index(t.Data, c.Data)), append(t.K, slices.Index(t.Ks, c.K))
		t.Outputs, t.Why = append(t.Outputs, c.Outputs), append(t.Why, c.Why)
		t.RMS, t.Mean, t.Largest = append(t.RMS, number(c.RMS())), append(t.Mean, number(c.Mean)), append(t.Largest, number(c.Largest))
		for _, b := range c.Bounds {
			i, ok := seen[b.Name]
			if !ok {
				i = len(t.Bounds)
				seen[b.Name] = i
				of, _ := bound.Find(b.Name)
				t.Bounds = append(t.Bounds, namedBound{b.Name, int(of.Needs), b.Deterministic, of.Source})
			}
			t.Bound, t.Verdict = append(t.Bound, i), append(t.Verdict, slices.Index([]string{"holds", "machine", "data"}, string(b.Verdict)))
			ranges := 0
			if b.Ranges {
				ranges = 1
			}
			t.Ranges = append(t.Ranges, ranges)
			t.Violations = append(t.Violations, b.Violations)
			t.Tau, t.Constant = append(t.Tau, number(b.Tightness)), append(t.Constant, number(b.Constant))
		}
		t.First = append(t.First, len(t.Bound))
	}
	return t
}

// says describes how a recipe quantises a factor.
func says(q atlas.Quantise) string {
	text := fmt.Sprintf("%s with scales in %s of blocks %s", q.Element, q.Scale, q.Block)
	if q.Tensor != "" {
		text += " and one of the matrix in " + q.Tensor
	}
	return text + " (" + q.Source + ")"
}

// quantisedOf returns the columns of cells with recipes.
func quantisedOf(a *atlas.Atlas, data []string) (q quantised, err error) {
	q = quantised{Recipes: []recipe{}, Units: []string{}, Ks: a.RecipeKs(), Recipe: []int{}}
	for _, name := range a.RecipeNames() {
		r, err := atlas.FindRecipe(name)
		if err != nil {
			return q, err
		}
		text := says(r.A)
		if r.A != r.B {
			text = "A: " + text + "; B: " + says(r.B)
		}
		q.Recipes = append(q.Recipes, recipe{name, text})
	}
	for _, c := range a.Recipes {
		if !slices.Contains(q.Units, c.Machine) {
			q.Units = append(q.Units, c.Machine)
		}
		q.Recipe = append(q.Recipe, slices.IndexFunc(q.Recipes, func(r recipe) bool { return r.Name == c.Recipe }))
		q.Unit, q.Of, q.K = append(q.Unit, slices.Index(q.Units, c.Machine)), append(q.Of, slices.Index(data, c.Data)), append(q.K, slices.Index(q.Ks, c.K))
		q.Outputs, q.Why = append(q.Outputs, c.Outputs), append(q.Why, c.Why)
		q.RMS, q.Lost, q.Accumulated = append(q.RMS, number(c.RMS())), append(q.Lost, number(c.Quantised.RMS())), append(q.Accumulated, number(c.Accumulated.RMS()))
		q.Share = append(q.Share, number(c.Share()))
		lost, ok := c.OnQuantisation(sweep.FromDistribution)
		q.LostLaw = append(q.LostLaw, known(lost.Constant, ok))
		law, ok := c.Tightest(sweep.FromDistribution)
		q.Law, q.LawTau = append(q.Law, known(law.Constant, ok)), append(q.LawTau, known(law.Tightness, ok))
		given, ok := c.Tightest(sweep.FromMatrices)
		q.Given, q.GivenTau = append(q.Given, known(given.Constant, ok)), append(q.GivenTau, known(given.Tightness, ok))
	}
	return q, nil
}

// known returns x, NaN if it is not known.
func known(x float64, ok bool) number {
	if !ok {
		return number(math.NaN())
	}
	return number(x)
}

// pack returns the table as compressed JSON, in base64.
func pack(a *atlas.Atlas) (string, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	t := tableOf(a)
	if t.Quantised, err = quantisedOf(a, t.Data); err != nil {
		return "", err
	}
	if err := json.NewEncoder(z).Encode(t); err != nil {
		return "", err
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
}
