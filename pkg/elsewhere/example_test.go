package elsewhere_test

import (
	"fmt"
	"log"
	"os"

	"github.com/roundofflab/roundoff/pkg/elsewhere"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// Would the claims hold on a Hopper that keeps as many bits as Blackwell? The
// computation takes about five seconds.
func ExampleEmulation_Claims() {
	e := elsewhere.Catalogued()
	e.Hopper = devices.BlackwellE4M3()
	claims, err := e.Claims()
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range claims {
		fmt.Printf("%-18s %s\n", c.ID, c.Outcome)
	}
}

func ExampleCatalogued() {
	e := elsewhere.Catalogued()
	fmt.Println(e.Hopper.Name, e.HopperMMA.Name, e.Promote)
	fmt.Println(e.MXFP4.Name, e.MXFP4Up.Name)
	// Output:
	// hopper-wgmma-e4m3-binary32 hopper-mma-e4m3-binary32 128
	// mxe2m1-floor mxfp4-nvidia
}

func ExampleNumber_String() {
	fmt.Println(elsewhere.Number{Of: "without promotion, times as large", Value: 122.14})
	// Output:
	// without promotion, times as large: 122
}

// short is a claim as Claims returns it.
var short = []elsewhere.Claim{{
	ID: "addend-bits", Says: "C loses 10 bits", Source: "Zhang et al. 2024", Data: "A = B = 0",
	Numbers: []elsewhere.Number{{Of: "low bits lost", Value: 10}}, Outcome: elsewhere.Holds, Verdict: "wgmma", File: "pkg/elsewhere/accumulator.go",
}}

func ExampleTable() {
	fmt.Println(elsewhere.Table("elsewhere", short).Finding())
	// Output:
	// Of 1 published claims 1 hold on the emulator, 0 more on a condition that was not stated, 0 as far as they were tried; 0 differ.
}

func ExampleMarkdown() {
	fmt.Print(elsewhere.Markdown(short))
	// Output:
	// | What was said | Where | Tried on | The emulator gives | Verdict | `id`, file |
	// |---|---|---|---|---|---|
	// | C loses 10 bits | Zhang et al. 2024 | A = B = 0 | low bits lost: 10 | holds: wgmma | `addend-bits` [accumulator.go](../pkg/elsewhere/accumulator.go) |
}

func ExampleWrite() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	fmt.Println(elsewhere.Write(dir, short))
	files, err := os.ReadDir(dir)
	fmt.Println(files[0].Name(), err)
	// Output:
	// <nil>
	// claims-elsewhere.json <nil>
}
