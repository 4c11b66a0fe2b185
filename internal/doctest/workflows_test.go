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
	goVersion = regexp.MustCompile(`(?m)go-version: '(.*)'$`)
)

// Workflows take every action at one commit, which cannot move as a tag can,
// and the Go of the image.
func TestWorkflowsArePinned(t *testing.T) {
	image, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	pins, workflows := map[string]string{}, 0
	for _, name := range tracked(t) {
		if !strings.HasPrefix(name, ".github/workflows/") {
			continue
		}
		workflows++
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
			if !strings.Contains(string(image), "GO_VERSION="+version[1]+"\n") {
				t.Errorf("%s: Go %s is not that of the Dockerfile", name, version[1])
			}
		}
	}
	if workflows == 0 || len(pins) == 0 {
		t.Errorf("%d workflows use %d actions", workflows, len(pins))
	}
}
