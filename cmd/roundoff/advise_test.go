package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// ask runs the command line and returns its status and what it wrote.
func ask(t *testing.T, line string) (status int, out, errors string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	status = run(t.Context(), strings.Fields(line), &stdout, &stderr)
	return status, stdout.String(), stderr.String()
}

func TestAdvise(t *testing.T) {
	const question = "advise --m 1024 --n 8 --k 32768 --tolerance 2e-3 "
	t.Run("lists_every_device_those_that_meet_first", func(t *testing.T) {
		status, out, errs := ask(t, question+"--dist U(-1,1) --json")
		var advice []map[string]any
		if err := json.Unmarshal([]byte(out), &advice); status != 0 || err != nil || len(advice) != len(devices.All()) {
			t.Fatalf("status %d, %d devices, %v, %s", status, len(advice), err, errs)
		}
		for i, a := range advice {
			if i > 0 && a["meets"] == true && advice[i-1]["meets"] == false {
				t.Errorf("%v comes after one that misses", a["device"])
			}
			excess, bounded := a["excess"].(float64)
			if meets := bounded && excess <= 1; a["meets"] != meets || bounded == (a["bound"] == nil) || (a["gpu"] == nil) != (a["time_ratio"] == nil) {
				t.Errorf("%v", a)
			}
		}
	})
	t.Run("tells_the_drift_of_sums_that_cut_bits_off", func(t *testing.T) {
		for dist, drifts := range map[string]bool{"U(0,1)": true, "U(-1,1)": false} {
			_, out, _ := ask(t, question+"--represented=false --device hopper-wgmma-e4m3-binary32 --json --dist "+dist)
			var advice []struct{ Parts bound.Parts }
			if err := json.Unmarshal([]byte(out), &advice); err != nil || len(advice) != 1 {
				t.Fatalf("%v, %s", err, out)
			}
			p := advice[0].Parts
			if drifts != (p.Drift > 10*p.Accumulation) || drifts == (p.Drift == 0) {
				t.Errorf("%s: %+v", dist, p)
			}
			_, out, _ = ask(t, question+"--represented=false --device hopper-wgmma-e4m3-binary32 --dist "+dist)
			if drifts != strings.Contains(out, "drift 97 %  6.4e-01") || drifts == strings.Contains(out, "accumulation 100 %  -  ") {
				t.Errorf("%s: %s", dist, out)
			}
		}
	})
	t.Run("knows_the_rounding_of_factors", func(t *testing.T) {
		for flag, want := range map[string]bool{"": false, "--represented=false": true} {
			_, out, _ := ask(t, question+"--device hopper-wgmma-binary16-binary32 --json "+flag)
			if got := strings.Contains(out, `"meets": true`); got != want {
				t.Errorf("%q: meets = %v, want %v", flag, got, want)
			}
		}
	})
	t.Run("takes_sizes_and_moments_of_data", func(t *testing.T) {
		dir := t.TempDir()
		a := writeNumbers(t, dir, "a.npy", "(2, 2)", 1, -1, 3, 1000)
		b := writeNumbers(t, dir, "b.npy", "(2, 1)", 1, 1)
		bad := writeNumbers(t, dir, "bad.npy", "(2, 1)", 1, math.NaN())
		if status, out, errs := ask(t, "advise --tolerance 1 --device hopper --in e4m3,binary16 "+a+" "+b); status != 0 || !strings.Contains(out, "A reaches 1e+03, e4m3 ends at 448") {
			t.Errorf("status %d, %s\n%s", status, errs, out)
		}
		for files, want := range map[string]string{b + " " + a: "they do not fit", a + " " + bad: "[1, 0] = NaN, want a finite number"} {
			if status, _, errs := ask(t, "advise --tolerance 1 "+files); status != 1 || !strings.Contains(errs, want) {
				t.Errorf("status %d, %q, want %q", status, errs, want)
			}
		}
	})
	t.Run("prints_sources_and_what_is_unknown", func(t *testing.T) {
		_, out, _ := ask(t, question+"--device hopper,paper --in binary16")
		for _, want := range []string{"989.4", "unknown", "H100 SXM5: NVIDIA H100", "truncation", "paper-f32"} {
			if !strings.Contains(out, want) {
				t.Errorf("no %q in\n%s", want, out)
			}
		}
		if strings.Contains(out, "e4m3") || strings.Contains(out, "volta") {
			t.Errorf("others than asked for:\n%s", out)
		}
	})
	t.Run("quantises_by_the_recipe_of_a_device_or_by_another", func(t *testing.T) {
		const question = "advise --m 1024 --n 8 --k 4096 --tolerance 0.05 --dist U(0,1) --json --device blackwell-tcgen05-mxe2m1-binary32,blackwell-tcgen05-e4m3-binary32 "
		for flag, want := range map[string]map[string]any{
			"":                              {"blackwell-tcgen05-mxe2m1-binary32": "mxe2m1-floor false", "blackwell-tcgen05-e4m3-binary32": "- true"},
			"--recipe mxe2m1-even":          {"blackwell-tcgen05-mxe2m1-binary32": "mxe2m1-even true", "blackwell-tcgen05-e4m3-binary32": "mxe2m1-even false"},
			"--recipe mxe2m1-ceil,int8-row": {"blackwell-tcgen05-mxe2m1-binary32": "mxe2m1-ceil, int8-row false", "blackwell-tcgen05-e4m3-binary32": "mxe2m1-ceil, int8-row false"},
		} {
			status, out, errs := ask(t, question+flag)
			var advice []map[string]any
			if err := json.Unmarshal([]byte(out), &advice); status != 0 || err != nil || len(advice) != len(want) {
				t.Fatalf("%q: status %d, %v, %s", flag, status, err, errs)
			}
			for _, a := range advice {
				recipe := a["recipe"]
				if recipe == nil {
					recipe = "-"
				}
				if got := fmt.Sprint(recipe, " ", a["meets"]); got != want[a["device"].(string)] {
					t.Errorf("%q, %v: %s, want %s", flag, a["device"], got, want[a["device"].(string)])
				}
			}
		}
		dir := t.TempDir()
		a := writeNumbers(t, dir, "a.npy", "(2, 2)", 1, -1, 3, 1000)
		b := writeNumbers(t, dir, "b.npy", "(2, 1)", 1, 1)
		if status, out, errs := ask(t, "advise --tolerance 0.1 --device hopper --in e4m3 --recipe torchao-e4m3-row "+a+" "+b); status != 0 || !strings.Contains(out, "torchao-e4m3-row  yes") {
			t.Errorf("status %d, %s\n%s", status, errs, out)
		}
	})
	for line, want := range map[string]string{
		"advise --tolerance 1 --recipe nvfp5":                            `-recipe: no recipe "nvfp5", see roundoff quantise`,
		"advise --tolerance 1 --recipe mxe4m3-floor --represented=false": "-recipe goes without -represented",
		"advise":                                        "-tolerance 0, want a number above 0",
		"advise --tolerance -1":                         "want a number above 0",
		"advise --tolerance NaN":                        "want a number above 0",
		"advise --tolerance 1 --k 0":                    "0, want 1 to ",
		"advise --tolerance 1 x":                        "want no file, or two",
		"advise --tolerance 1 --k 8 x y":                "want no file, or two and none of -m, -n, -k and -dist",
		"advise --tolerance 1 x.npy y.npy":              "no such file",
		"advise --tolerance 1 --device pascal":          `no device "pascal", see roundoff devices`,
		"advise --tolerance 1 --in fp16":                `no format "fp16"`,
		"advise --tolerance 1 --out fp16":               `no format "fp16"`,
		"advise --tolerance 1 --device volta --in e4m3": "no device of volta takes e4m3",
		"advise --tolerance 1 --confidence 2":           `confidence "2", want a number between 0 and 1`,
		"advise --tolerance 1 --dist U(1,0)":            "want finite numbers, lo < hi",
		"advise --tolerance 1 --dist U(0,1),N(0,0)":     "want finite numbers",
	} {
		t.Run(line, func(t *testing.T) {
			if status, out, errs := ask(t, line); status == 0 || out != "" || !strings.Contains(errs, want) {
				t.Errorf("status %d, %q, want %q", status, errs, want)
			}
		})
	}
}

// roundoff bound refuses wrong arguments with a reason, and answers extreme
// ones.
func TestBoundOfBadInput(t *testing.T) {
	for line, want := range map[string]string{
		"bound --k 0":                                  "0, want 1 to ",
		"bound --confidence 1":                         `confidence "1", want a number between 0 and 1`,
		"bound --confidence 1-0":                       `confidence "1-0", want`,
		"bound --confidence 1-1e-99999999999999999999": "want a number between 0 and 1",
		"bound --confidence NaN":                       `confidence "NaN", want`,
		"bound --device pascal":                        `no device "pascal"`,
		"bound --device hopper --in e2m1":              `no device "hopper" for e2m1`,
		"bound --device hopper --stochastic":           "truncates, want -device ieee or paper with -stochastic",
		"bound --recipe nvfp5":                         `-recipe: no recipe "nvfp5", see roundoff quantise`,
		"bound --recipe mxe4m3-floor --in e4m3":        "-recipe goes without -run, -in and -represented",
		"bound --recipe nvfp4-torchao":                 `no device "hopper" for e2m1`,
		"bound --device hopper --order pairs":          "adds in its own order",
		"bound --dist U(NaN,1)":                        "want finite numbers",
		"bound --dist N(0,-1)":                         "deviation > 0",
		"bound --dist U(-1,1) --run --device hopper-mma-e4m3-binary32 --in e4m3 --k 8": "no emulation of single sums",
	} {
		t.Run(line, func(t *testing.T) {
			if status, out, errs := ask(t, line); status == 0 || out != "" || !strings.Contains(errs, want) {
				t.Errorf("status %d, %q, want %q", status, errs, want)
			}
		})
	}
	for line, want := range map[string]string{
		// nu = 2¹⁶: bounds that need nu < 1 say so, the others are finite.
		"bound --device paper --acc binary16 --out binary16 --k 134217728": "want nu < 1: long sums stop growing",
		"bound --device ieee --k 1000000000000 --dist U(-1,1)":             "there is no finite bound for so long a sum",
		"bound --device ieee --k 4096 --confidence 1-1e-400":               "1 - 1e-400",
		"bound --device ieee --k 1":                                        "always",
	} {
		t.Run(line, func(t *testing.T) {
			if status, out, errs := ask(t, line); status != 0 || !strings.Contains(out, want) || strings.Contains(out, "NaN") {
				t.Errorf("status %d, %s, want %q in\n%s", status, errs, want, out)
			}
		})
	}
}
