package infer

import (
	"bytes"
	"encoding/json"
	"go/parser"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// Every device of the catalogue, without its names, is what ReadJSON reads of
// what WriteJSON wrote. Its literal is a Go expression that names its formats.
func TestJSON_is_read_back(t *testing.T) {
	for _, d := range devices.All() {
		text, err := WriteJSON(d)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ReadJSON(text)
		d.Name, d.Architecture, d.Instruction = "", "", ""
		if err != nil || got != d {
			t.Errorf("%v: read %+v of %s, want %+v", err, got, text, d)
		}
		if _, err := parser.ParseExpr(Literal(d)); err != nil || !strings.Contains(Literal(d), "A: tcore.") {
			t.Errorf("%s is no literal: %v", Literal(d), err)
		}
	}
}

func TestReadJSON_tells_what_is_wrong(t *testing.T) {
	good, err := WriteJSON(devices.CDNA2F16())
	if err != nil {
		t.Fatal(err)
	}
	for want, text := range map[string]string{
		"infer: no record":     "{",
		`no core "Pairs"`:      strings.Replace(string(good), "Pairwise", "Pairs", 1),
		"infer: no Pairwise":   strings.Replace(string(good), `"Terms":4`, `"Terms":"four"`, 1),
		"does not compute in ": strings.Replace(string(good), `"Terms":4`, `"Terms":3`, 1),
	} {
		if _, err := ReadJSON([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
}

// The tree of every kind of core has each product once, in the order in which
// the core adds.
func TestTree(t *testing.T) {
	for want, d := range map[string]tcore.Device{
		"d1 = [c + p0 + p1]\nd2 = [d1 + p2]\n":            {Core: tcore.ExactSum{Terms: 2}},
		"d1 = (c + p0)\nd2 = (d1 + p1)\nd3 = (d2 + p2)\n": {Core: tcore.Chain{}},
		"d1 = ((c + p1) + p0)\nd2 = (d1 + p2)\n":          {Core: tcore.OddFirst{}},
		"d1 = (c + (p0 + p1))\nd2 = (d1 + p2)\n":          {Core: tcore.OddPairs{Terms: 2}},
		"d1 = ((c + (p0 + p1)) + p2)\n":                   {Core: tcore.OddPairs{Terms: 4}},
		"d1 = (c + [p0 + p1])\nd2 = (d1 + [p2])\n":        {Core: tcore.FusedPairs{Terms: 2}},
		"d1 = (c + ((p0 + p1) + p2))\n":                   {Core: tcore.Pairwise{Terms: 4}},
		"d1 = [c + [[p0 + p2] + [p1]]]\n":                 {Core: tcore.TwoStage{Terms: 4, Parts: 2}},
		"d1 = [c + [p0 + p1 + p2]]\n":                     {Core: tcore.TwoStage{Terms: 4, Parts: 1}},
		"d1 = ([[p0 + p1] + p2] + c)\n":                   {Core: tcore.Split{By: tcore.Fused{Terms: 2}}},
		"d1 = (c + ((p0 + p2) + p1))\n":                   {Core: tcore.EvenOdd{Terms: 4}},
	} {
		if got := Tree(d, 3); got != want {
			t.Errorf("%T: %q, want %q", d.Core, got, want)
		}
	}
}

// What is learned is told as a table and as JSON, of which the record can be
// read.
func TestLearned_is_told(t *testing.T) {
	l, err := Learn(t.Context(), Emulated(devices.CDNA2F16(), 4), 1)
	if err != nil {
		t.Fatal(err)
	}
	var table bytes.Buffer
	if err := l.Write(&table); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Pairwise", "10000 of 10000", "cdna2-mfma-binary16-binary32", "(c + ((p0 + p1) + (p2 + p3)))", "tcore.Device{"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("%s lacks %q", &table, want)
		}
	}
	var told struct {
		Explained bool
		Record    json.RawMessage
		Vectors   []Answer
	}
	text, err := json.Marshal(l)
	if err != nil || json.Unmarshal(text, &told) != nil || !told.Explained || len(told.Vectors) == 0 {
		t.Errorf("%v: %s", err, text)
	}
	if d, err := ReadJSON(told.Record); err != nil || d.Core != (tcore.Pairwise{Terms: 4}) {
		t.Errorf("%+v, %v", d, err)
	}
}

// A box that nothing explains is told with its counterexample.
func TestLearned_without_a_record_is_told(t *testing.T) {
	l, err := Learn(t.Context(), altered{Emulated(devices.VoltaF16(), 4), func(_ int, q Dot, d uint64) uint64 { return d ^ q.C&1 }}, 1)
	if err != nil {
		t.Fatal(err)
	}
	var table bytes.Buffer
	if err := l.Write(&table); err != nil || !strings.Contains(table.String(), "none of those tried") || !strings.Contains(table.String(), "closest record gives") {
		t.Errorf("%v: %s", err, &table)
	}
	if text, err := json.Marshal(l); err != nil || !strings.Contains(string(text), `"Against":{`) {
		t.Errorf("%v: %s", err, text)
	}
	if l.Catalogue() != nil || l.Parameters() != nil {
		t.Errorf("%v, %v, want none of a box without a record", l.Catalogue(), l.Parameters())
	}
}
