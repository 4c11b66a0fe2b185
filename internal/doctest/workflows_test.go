package doctest

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

var (
	uses      = regexp.MustCompile(`(?m)^[ -]+uses: (.*)$`)
	pinned    = regexp.MustCompile(`^([\w-]+/[\w-]+)@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	goVersion = regexp.MustCompile(`go-version: '(.*)'\n|/go([\d.]+)\.linux-amd64`)
)

// Workflows take every action at one commit, which cannot move as a tag can.
// They and the README take the Go of the image.
func TestWorkflowsArePinned(t *testing.T) {
	image, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	pins, versions := map[string]string{}, 0
	for _, name := range tracked(t) {
		if !strings.HasPrefix(name, ".github/workflows/") && name != "README.md" {
			continue
		}
		text, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, use := range uses.FindAllStringSubmatch(string(text), -1) {
			action := pinned.FindStringSubmatch(use[1])
			if action == nil {
				t.Errorf("%s: %q names no commit and version", name, use[1])
				continue
			}
			if pin, ok := pins[action[1]]; ok && pin != use[1] {
				t.Errorf("%s: %q, elsewhere %q", name, use[1], pin)
			}
			pins[action[1]] = use[1]
		}
		for _, version := range goVersion.FindAllStringSubmatch(string(text), -1) {
			versions++
			if v := version[1] + version[2]; !strings.Contains(string(image), "GO_VERSION="+v+"\n") {
				t.Errorf("%s: Go %s is not that of the Dockerfile", name, v)
			}
		}
	}
	if versions < 2 || len(pins) == 0 {
		t.Errorf("found %d versions of Go and %d actions", versions, len(pins))
	}
}
