package doctest

import (
	"path/filepath"
	"slices"
	"testing"
)

// Every exported function and method has an example that the package's
// documentation shows.
func TestEverythingHasAnExample(t *testing.T) {
	for _, dir := range []string{
		"roundoff", "truncation", "tcore", "library", "bound", "tolerance", "trial", "sweep", "rare", "viz", "viz/nb", "paper", "study", "elsewhere", "gpu", "probe", "course",
	} {
		t.Run(dir, func(t *testing.T) {
			missing, err := Missing(filepath.Join("../../pkg", dir))
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range missing {
				t.Errorf("%s has no example", name)
			}
		})
	}
}

func TestMissing(t *testing.T) {
	got, err := Missing("testdata/some")
	if want := []string{"Bare", "Thing.Grow"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("missing %v, %v, want %v", got, err, want)
	}
	if _, err := Missing("testdata/none"); err == nil {
		t.Error("no error where there is no package")
	}
}
