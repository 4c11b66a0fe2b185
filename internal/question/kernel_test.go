package question

import (
	"strings"
	"testing"
)

// A kernel that is not named is that which the recipes ask for, and scales sums
// of as many products as the shorter blocks have along K, where 0 is all of it.
func TestQuantisedProduct(t *testing.T) {
	for _, c := range []struct {
		recipe, kernel, device string
		want                   string
		every                  int
	}{
		{"deepgemm-1x128,deepgemm-128x128", "", "hopper", "deepgemm", 128},
		{"deepgemm-1x128,torchao-e4m3-row", "", "hopper", "deepgemm", 128},
		{"torchao-e4m3-row,deepgemm-128x128", "", "hopper", "deepgemm", 128},
		{"mxe4m3-floor", "", "hopper", "deepgemm", 32},
		{"mxe4m3-floor", "", "blackwell", "alpha", 0},
		{"torchao-e4m3-row", "", "hopper", "epilogue", 0},
		{"int8-row", "", "", "epilogue", 0},
		{"int8-1x128,int8-row", "", "", "deepseek", 128},
		{"deepgemm-1x128,deepgemm-128x128", "deepseek", "hopper", "deepseek", 128},
	} {
		_, _, k, err := QuantisedProduct{Recipe: c.recipe, Kernel: c.kernel, Device: c.device, Out: "binary32"}.Find()
		if err != nil || k.Name != c.want || k.Every != c.every {
			t.Errorf("%s on %q: %s every %d, %v, want %s every %d", c.recipe, c.device, k.Name, k.Every, err, c.want, c.every)
		}
	}
	for want, q := range map[string]QuantisedProduct{
		`no recipe "none"`:    {Recipe: "none", Out: "binary32", Device: "hopper"},
		`no kernel "none"`:    {Recipe: "int8-row", Kernel: "none", Out: "binary32"},
		`"pascal"`:            {Recipe: "mxe4m3-floor", Device: "pascal", Out: "binary32"},
		`no format "binary3"`: {Recipe: "int8-row", Out: "binary3"},
	} {
		if _, _, _, err := q.Find(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", q, err, want)
		}
	}
}
