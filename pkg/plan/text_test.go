package plan_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// texts are one of each order of cuBLASLt, and every word of the grammar.
var texts = []string{
	"hopper-wgmma-binary16-binary32",
	"hopper-wgmma-binary16-binary32 | every 2048 > binary16",
	"hopper-wgmma-e4m3-binary32 | every 128 | every 2048 > binary16",
	"ampere-mma-binary16-binary32 group 8 tile 32 > binary16",
	"ampere-mma-binary16-binary32 group 8 tile 32 | every 2048 + running binary16 > binary16",
	"ampere-mma-bfloat16-binary32 tile 64 | every 1000 + partial bfloat16 > bfloat16 fused-beta",
	"ieee-fma-binary16-binary32 | every 256 + zero | parts 2 + zero > binary16",
	"ieee-fma-binary16-binary32 | lanes 32 vector 4 + butterfly | parts 3 > binary16",
	"ieee-fma-binary16-binary32 | every 16 | lanes 32 > binary16",
	"ieee-fma-bfloat16-binary32 | lanes 2 vector 1 + zero | lanes 128 vector 2 + butterfly | lanes 148 vector 256 + folds 128,64,32,4,1 > bfloat16",
	"ieee-fma-binary16-binary32 | lanes 16 upto 64 nominal 2048 + butterfly | parts 4 grain 64 floor",
	"hopper-wgmma-e4m3-binary32 | every 128 + fused > bfloat16",
	"hopper-wgmma-e4m3-binary32(e5m2,e4m3) | every 128 + zero fused-second > fused-beta",
	"ieee-fma-binary32-binary32 | at 100,200 + folds 1",
	"arm-fdot-e4m3-binary16 | parts 4 + butterfly zero partial binary16 running tf32",
	"ieee-fma-tf32-binary16(e4m3,binary32) | at 1",
}

// A text is the text of what it is read as, in JSON too.
func TestTextsAreReadAndWritten(t *testing.T) {
	for _, text := range texts {
		p, err := plan.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if p.String() != text || p.Name != text {
			t.Errorf("%s is written as %s, named %s", text, p, p.Name)
		}
		p.Name, p.Doc = "a name", "where it is known from"
		data, err := json.Marshal(p)
		var q plan.Plan
		if err := json.Unmarshal(data, &q); err != nil {
			t.Errorf("%s: %v", data, err)
		}
		if err != nil || !reflect.DeepEqual(p, q) {
			t.Errorf("%s: %v, %+v, want %+v", data, err, q, p)
		}
	}
	if p, err := plan.Parse(" hopper-wgmma-e4m3-binary32|every\t128+zero>binary16\n"); err != nil || p.String() != "hopper-wgmma-e4m3-binary32 | every 128 + zero > binary16" {
		t.Errorf("%v, %v", p, err)
	}
	thought := devices.HopperF16()
	thought.Name = "thought"
	if data, err := json.Marshal(plan.Plan{Order: plan.Run{Device: thought}}); err == nil {
		t.Errorf("a device that is not in the catalogue is written as %s", data)
	}
}

// What is built by hand is read as it was.
func TestTextsMeanTheirFields(t *testing.T) {
	fma := devices.IEEEF16()
	for text, want := range map[string]plan.Plan{
		"ampere-mma-binary16-binary32 group 8 tile 32 > binary16": {
			Order: plan.Run{Device: devices.AmpereF16(), Group: 8, Tile: 32}, Output: tcore.Binary16},
		"ieee-fma-binary16-binary32 | lanes 16 upto 64 nominal 100 + butterfly | parts 3 grain 2 floor + zero": {
			Order: plan.Parts{Cut: plan.Cut{Count: 3, Grain: 2, Floor: true}, Merge: plan.Merge{Zero: true},
				Each: plan.Parts{Cut: plan.Cut{Lanes: 16, Vector: -64, Nominal: 100}, Merge: plan.Merge{Folds: []int{8, 4, 2, 1}}, Each: plan.Run{Device: fma}}}},
		"hopper-wgmma-e4m3-binary32 | every 128 + fused-second > bfloat16 fused-beta": {
			Order:  plan.Parts{Cut: plan.Cut{Length: 128}, Each: plan.Run{Device: devices.HopperE4M3()}, Merge: plan.Merge{Scale: plan.FusedSecond}},
			Output: tcore.BFloat16, FusedBeta: true},
	} {
		p, err := plan.Parse(text)
		p.Name = ""
		if err != nil || !reflect.DeepEqual(p, want) {
			t.Errorf("%s: %v, %+v, want %+v", text, err, p, want)
		}
	}
}

// An error names the column and the word.
func TestErrorsOfTextsNameThePlace(t *testing.T) {
	const d = "hopper-wgmma-e4m3-binary32"
	for text, want := range map[string]string{
		"":                                   `column 1, the end: want a device`,
		"hoper":                              `column 1, "hoper": want a device`,
		d + " every 128":                     `column 28, "every": want | and a cut`,
		d + " | evry 128":                    `column 30, "evry": want every, parts, lanes, at, halves or head`,
		d + " | every":                       `column 35, the end: want a number from 1 to 16777216 after every`,
		d + " | every 0":                     `column 36, "0": want a number`,
		d + " | every 16777217":              `column 36, "16777217": want a number`,
		d + " | every 8 + zeroo":             `column 40, "zeroo": want folds, butterfly`,
		d + " | every 8 +":                   ``,
		d + " | at 3,x":                      `column 35, "x": want a number`,
		d + " | at 3,2":                      `column 30, "at": these parts.Cut.At[1] = 2`,
		d + " | at 3,":                       `column 35, the end: want a number`,
		d + " group 33":                      `column 28, "group": the run.Group = 33, want 0 to 32`,
		d + " group 4 group 4":               `column 36, "group": stands twice`,
		d + " tile 32 group 4":               `column 36, "group": want group before tile`,
		d + " tile 5":                        `column 28, "tile": the run.Tile = 5`,
		d + "(e4m3)":                         `column 1, "hopper-wgmma-e4m3-binary32(e4m3)": want (x,y)`,
		d + "(binary16,e4m3)":                `column 1, "hopper-wgmma-e4m3-binary32(binary16,e4m3)": want (x,y)`,
		d + " >":                             `column 29, the end: want fused-beta or a format`,
		d + " > binary64":                    `column 30, "binary64": want fused-beta or a format`,
		d + " > e4m3 e4m3":                   `column 35, "e4m3": want | and a cut`,
		d + " | lanes 3 + butterfly":         `column 40, "butterfly": want it of a number`,
		d + " | lanes 4 + zero butterfly":    `column 45, "butterfly": want it once`,
		d + " | lanes 4 + butterfly folds 1": `column 50, "folds": want it once`,
		d + " | lanes 4 + folds 1 butterfly": `column 48, "butterfly": want it once`,
		d + " | lanes 4 + folds 2,2":         `column 30, "lanes": these parts.Merge.Folds = [2 2]`,
		d + " | every 4 + partial":           `column 47, the end: want a format after partial`,
		d + " | lanes 4 + fused":             `column 30, "lanes": these parts.Merge.Scale = fused`,
		d + " | every 4 + fused | every 8 + fused-second": `column 48, "every": these parts.Each.Merge.Scale`,
		"blackwell-tcgen05-mxe4m3-binary32":               `column 1, "blackwell-tcgen05-mxe4m3-binary32": the run.Device`,
		"hopper-mma-binary64-binary64":                    `column 1, "hopper-mma-binary64-binary64": the run.Device`,
		"é" + d:                                           `column 1, "éhopper`,
		d + " | é":                                        `column 30, "é"`,
	} {
		_, err := plan.Parse(text)
		if want == "" != (err == nil) || err != nil && !strings.HasPrefix(err.Error(), "plan: "+want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// FuzzParse: what is read is written and read again as it was.
func FuzzParse(f *testing.F) {
	for _, text := range texts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := plan.Parse(text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "plan: ") {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		q, err := plan.Parse(p.String())
		if err != nil || !reflect.DeepEqual(p, q) {
			t.Errorf("%q is read as %s and then as %s, %v", text, p, q, err)
		}
	})
}

// Orders that are drawn at random are read as they were written, as are texts
// whose words are mixed.
func TestDrawnTexts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var words []string
	for _, text := range texts {
		words = append(words, strings.Fields(text)...)
	}
	read := 0
	for range 200000 {
		line := strings.Fields(texts[rng.IntN(len(texts))])
		for range 1 + rng.IntN(3) {
			line[rng.IntN(len(line))] = words[rng.IntN(len(words))]
		}
		p, err := plan.Parse(strings.Join(line, " "))
		if err != nil {
			continue
		}
		read++
		if q, err := plan.Parse(p.String()); err != nil || !reflect.DeepEqual(p, q) {
			t.Fatalf("%q is read as %s and then as %s, %v", line, p, q, err)
		}
	}
	if read < 1000 {
		t.Errorf("%d texts are read, want a thousand at least", read)
	}
}

// A plan is written in a line.
func ExampleParse() {
	p, err := plan.Parse("hopper-wgmma-e4m3-binary32 | every 128 > binary16")
	fmt.Println(p.Order.(plan.Parts).Cut.Length, p.Device().Name, err)
	_, err = plan.Parse("hopper-wgmma-e4m3-binary32 | evry 128")
	fmt.Println(err)
	// Output:
	// 128 hopper-wgmma-e4m3-binary32 <nil>
	// plan: column 30, "evry": want every, parts, lanes, at, halves or head
}
