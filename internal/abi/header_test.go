package abi

import (
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write the header anew")

const headerFile = "../../cmd/libroundoff/roundoff.h"

// The header that is committed is the one that the table makes.
func TestHeader(t *testing.T) {
	if *update {
		if err := os.WriteFile(headerFile, []byte(Header()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(headerFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != Header() {
		t.Error("roundoff.h is not what go generate ./cmd/libroundoff writes")
	}
}
