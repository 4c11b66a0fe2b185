package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/cpu"
	"github.com/roundofflab/roundoff/pkg/infer"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// inferRun runs roundoff infer and returns its status and outputs.
func inferRun(t *testing.T, line string) (status int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	status = run(t.Context(), append([]string{"infer"}, strings.Fields(line)...), &out, &err)
	return status, out.String(), err.String()
}

// An emulated device is found without its record, in words and as JSON.
func TestInfer(t *testing.T) {
	const device = "cdna3-mfma-binary16-binary32"
	status, stdout, stderr := inferRun(t, "--device "+device)
	if status != 0 || !strings.Contains(stdout, "TwoStage") || !strings.Contains(stdout, device) {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
	var told struct {
		Record    json.RawMessage
		Catalogue []string
	}
	status, stdout, stderr = inferRun(t, "--json --seed 2 --device "+device)
	if err := json.Unmarshal([]byte(stdout), &told); status != 0 || err != nil || len(told.Catalogue) != 1 || told.Catalogue[0] != device {
		t.Errorf("status %d, %v, %s%s", status, err, stdout, stderr)
	}
	if d, err := infer.ReadJSON(told.Record); err != nil || d.Core != (tcore.TwoStage{Terms: 8, Parts: 1}) {
		t.Errorf("%+v, %v", d, err)
	}
}

// The instructions of this processor are found by asking them.
func TestInferSilicon(t *testing.T) {
	list := cpu.Instructions()
	if len(list) == 0 {
		t.Skip("this processor has none of the instructions, or may not use them")
	}
	for _, d := range list {
		if status, stdout, stderr := inferRun(t, "--silicon "+d.Name); status != 0 || !strings.Contains(stdout, "same answers         "+d.Name) {
			t.Errorf("status %d, %s%s", status, stdout, stderr)
		}
	}
}

// A program that answers 0 to everything computes no sum, and the command fails
// with what contradicts the closest record.
func TestInferCommand(t *testing.T) {
	var out, err bytes.Buffer
	status := run(t.Context(), []string{"infer", "-k", "2", "-command", "sed s/.*/0/"}, &out, &err)
	if status != 1 || !strings.Contains(out.String(), "closest record gives") || !strings.Contains(err.String(), "none gives all answers") {
		t.Errorf("status %d, %s%s", status, &out, &err)
	}
}

// Wrong arguments are told as elsewhere.
func TestInferMisused(t *testing.T) {
	for line, want := range map[string]string{
		"":                              "want one of -command, -library, -silicon and -device",
		"--device volta --silicon x":    "want one of -command, -library, -silicon and -device",
		"--device none":                 `no device "none", roundoff devices lists them`,
		"--silicon hopper":              `no device "hopper" here`,
		"--command true --in binary17":  `-in "binary17", want a format such as binary16`,
		"--command true --out e8":       `-out "e8", want a format`,
		"--command true --timeout 0s":   "want a program and time",
		"--command true --k 0":          "infer: K = 0, want 1 to 256",
		"--command true --out e4m3":     "infer: results in e4m3, want a signed format with infinities and NaN",
		"--command true --in e4m3,e8m0": "want signed formats",
		"--command true":                "infer: true wrote 0 lines for 1500 dot products",
		"--command /no/such/program":    "no such file",
		"--command false":               "infer: false failed, exit status 1",
		"more":                          `unexpected "more"`,
	} {
		if status, _, stderr := inferRun(t, line); status == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %q, want %q", line, status, stderr, want)
		}
	}
}
