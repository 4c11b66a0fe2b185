//go:build !js

package main

import (
	"os/exec"
	"strings"
	"testing"
)

// The page says under which licences its parts are, Go and gonum above all,
// which ask for that.
func TestLicences(t *testing.T) {
	t.Chdir("../..")
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	text, err := notices(strings.TrimSpace(string(root)))
	if err != nil {
		t.Fatal(err)
	}
	page := string(fill("glue", "wasm", string(text)+"<script>"))
	_, shown, _ := strings.Cut(page, "<summary>Licences</summary>")
	shown, _, ok := strings.Cut(shown, "</details>")
	if !ok || strings.Contains(shown, "<script>") || strings.Contains(page, "{{") {
		t.Errorf("the page shows %q", shown)
	}
	for _, want := range []string{"---- Go 1.", "The Go Authors", "---- gonum.org/v1/gonum v", "The Gonum Authors", "---- github.com/roundofflab/roundoff: LICENSE"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is missing", want)
		}
	}
}
