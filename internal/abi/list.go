package abi

import (
	"runtime"

	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/internal/vector"
	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// Version is that of the functions: a library of another one may have others.
const Version = 5

// About answers with the versions of the library and of what built it.
func About() (string, error) {
	return write(struct {
		ABI     int    `json:"abi"`
		Version string `json:"version"`
		Go      string `json:"go"`
		System  string `json:"system"`
		Vector  string `json:"vector"`
	}{Version, question.Version(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH, vector.Detect().String()})
}

// Devices answers with the catalogue of devices, as roundoff devices lists it.
func Devices() (string, error) {
	type device struct {
		Name         string  `json:"name"`
		Architecture string  `json:"architecture"`
		Instruction  string  `json:"instruction"`
		A            string  `json:"a"`
		B            string  `json:"b"`
		C            string  `json:"c"`
		Scale        *string `json:"scale"` // null if there are none
		ScaleBlock   int     `json:"scale_block"`
		Terms        int     `json:"terms"`
	}
	list := []device{}
	for _, d := range question.Catalogue() {
		r := device{d.Name, d.Architecture, d.Instruction, d.A.Name, d.B.Name, d.C.Name, nil, d.ScaleBlock, d.BlockTerms()}
		if d.ScaleBlock > 0 {
			r.Scale = &d.Scale.Name
		}
		list = append(list, r)
	}
	return write(list)
}

// Formats answers with the formats of matrices and the recipes of quantisation.
func Formats() (string, error) {
	type format struct {
		Name      string  `json:"name"`
		Bits      int     `json:"bits"`
		Bytes     int     `json:"bytes"` // of an element of a matrix
		Precision int     `json:"precision"`
		Emin      int     `json:"emin"`
		Emax      int     `json:"emax"`
		Roundoff  float64 `json:"unit_roundoff"`
		Max       float64 `json:"max"`
	}
	type recipe struct {
		Name    string `json:"name"`
		Element string `json:"element"`
		Scale   string `json:"scale"`
		Along   int    `json:"along"`  // elements of a block along K, 0 for all
		Across  int    `json:"across"` // and across it
		Tensor  bool   `json:"tensor"`
		Source  string `json:"source"`
	}
	answer := struct {
		Formats []format `json:"formats"`
		Recipes []recipe `json:"recipes"`
	}{}
	for _, f := range []tcore.Format{tcore.Binary64, tcore.Binary32, tcore.TF32, tcore.BFloat16, tcore.Binary16, tcore.E5M2, tcore.E4M3, tcore.E5M2FNUZ,
		tcore.E4M3FNUZ, tcore.E3M2, tcore.E2M3, tcore.E2M1, tcore.E8M0, tcore.UE4M3, tcore.INT8, tcore.UINT8, tcore.INT32} {
		answer.Formats = append(answer.Formats, format{f.Name, f.Bits(), stored[f.Name].size, f.Precision, f.Emin, f.Emax, f.UnitRoundoff(), f.Max()})
	}
	for _, r := range quant.Recipes() {
		answer.Recipes = append(answer.Recipes, recipe{r.Name, r.Element.Name, r.Scale.Stored.Name, r.Block.Along, r.Block.Across, r.Tensor != nil, r.Source})
	}
	return write(answer)
}
