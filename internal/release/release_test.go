package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

var date = time.Date(2026, 3, 1, 12, 0, 0, 0, time.FixedZone("", 3600))

// built is what building for Linux and Windows might return.
var built = []program{
	{target{"linux", "arm64"}, []byte("elf"), &buildinfo.BuildInfo{Deps: []*debug.Module{{Path: "gonum.org/v1/gonum", Version: "v0.17.0"}}}},
	{target{"windows", "amd64"}, []byte("pe"), &buildinfo.BuildInfo{Deps: []*debug.Module{
		{Path: "gonum.org/v1/gonum", Version: "v0.17.0"}, {Path: "github.com/gofrs/uuid", Version: "v4.4.0+incompatible"}}}},
}

// inRoot lets the rest of a test run in the root of the module, and returns
// what the programs contain.
func inRoot(t *testing.T) []module {
	t.Chdir("../..")
	modules, err := contents("go1.26.8", built)
	if err != nil {
		t.Fatal(err)
	}
	return modules
}

func TestChoose(t *testing.T) {
	for list, want := range map[string]string{
		"":                          fmt.Sprint(targets),
		"windows/arm64,linux/amd64": "[windows/arm64 linux/amd64]",
	} {
		if got, err := choose(list); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%q: %v, %v, want %s", list, got, err, want)
		}
	}
	for _, list := range []string{"linux", "plan9/amd64", "linux/amd64,"} {
		if _, err := choose(list); err == nil || !strings.Contains(err.Error(), "-targets: ") {
			t.Errorf("%q: error %v", list, err)
		}
	}
}

func TestArchives(t *testing.T) {
	modules := inRoot(t)
	files, err := archives("r-v1", built, modules, date)
	if err != nil {
		t.Fatal(err)
	}
	again, err := archives("r-v1", built, modules, date)
	if err != nil || !bytes.Equal(sums(files), sums(again)) {
		t.Errorf("not the same twice, %v", err)
	}
	want := "r-v1/LICENSE -rw-r--r--\nr-v1/README.md -rw-r--r--\nr-v1/THIRD-PARTY-LICENSES -rw-r--r--\n"
	if got := listTar(t, files["r-v1-linux-arm64.tar.gz"]); got != want+"r-v1/roundoff -rwxr-xr-x\n" {
		t.Errorf("the tarball has\n%s", got)
	}
	if got := listZip(t, files["r-v1-windows-amd64.zip"]); got != want+"r-v1/roundoff.exe -rwxr-xr-x\n" {
		t.Errorf("the zip has\n%s", got)
	}
	if len(files) != len(built) {
		t.Errorf("%d archives", len(files))
	}
}

// listTar returns the names and modes in a .tar.gz.
func listTar(t *testing.T, data []byte) (list string) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		if !h.ModTime.Equal(date) {
			t.Errorf("%s is of %v", h.Name, h.ModTime)
		}
		list += fmt.Sprintln(h.Name, h.FileInfo().Mode())
	}
}

// listZip returns the names and modes in a .zip.
func listZip(t *testing.T, data []byte) (list string) {
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.File {
		if !f.Modified.Equal(date) {
			t.Errorf("%s is of %v", f.Name, f.Modified)
		}
		list += fmt.Sprintln(f.Name, f.Mode())
	}
	return list
}

func TestNotices(t *testing.T) {
	text, err := notices(inRoot(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"---- echarts 5.6.0: NOTICE\n", "---- echarts 5.6.0: LICENSE-d3\n", "---- std 1.26.8: LICENSE\n",
		"---- gonum.org/v1/gonum v0.17.0: LICENSE\n", "---- gonum.org/v1/gonum v0.17.0: THIRD_PARTY_LICENSES/",
		"---- github.com/gofrs/uuid v4.4.0+incompatible: LICENSE\n", "Copyright ©2013 The Gonum Authors",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is missing", want)
		}
	}
	if _, err := notices([]module{{name: "bare", folder: t.TempDir()}}); err == nil || !strings.Contains(err.Error(), "bare: no licence") {
		t.Errorf("error %v of what has no licence", err)
	}
}

func TestSBOM(t *testing.T) {
	data, err := sbom("v1.2.3", date, inRoot(t))
	if err != nil {
		t.Fatal(err)
	}
	var bom struct {
		BOMFormat  string
		Metadata   struct{ Timestamp string }
		Components []struct {
			Type, Name, Version, PURL string
			Hashes                    []struct{ Content string }
		}
		Dependencies []struct {
			Ref       string
			DependsOn []string
		}
	}
	if err := json.Unmarshal(data, &bom); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, c := range bom.Components {
		all = append(all, c.PURL)
	}
	want := []string{"pkg:npm/echarts@5.6.0", "pkg:golang/github.com/gofrs/uuid@v4.4.0%2Bincompatible",
		"pkg:golang/gonum.org/v1/gonum@v0.17.0", "pkg:golang/std@1.26.8"}
	if !slices.Equal(all, want) || !slices.Equal(bom.Dependencies[0].DependsOn, want) {
		t.Errorf("components %q, dependencies %q, want %q", all, bom.Dependencies, want)
	}
	if bom.BOMFormat != "CycloneDX" || bom.Metadata.Timestamp != "2026-03-01T11:00:00Z" || bom.Dependencies[0].Ref != "pkg:golang/github.com/roundofflab/roundoff@v1.2.3" {
		t.Errorf("%+v", bom)
	}
	readme, err := os.ReadFile("pkg/viz/echarts/README.md")
	if err != nil || !strings.Contains(string(readme), bom.Components[0].Hashes[0].Content) {
		t.Errorf("the sum of echarts is %v, %v", bom.Components[0].Hashes, err)
	}
}

func TestSums(t *testing.T) {
	const want = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a\n" +
		"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  b\n"
	if got := string(sums(map[string][]byte{"b": []byte("abc"), "a": nil})); got != want {
		t.Errorf("got\n%s", got)
	}
}

// A second release takes the place of the first, and of nothing else.
func TestWrite(t *testing.T) {
	out := filepath.Join(t.TempDir(), "release")
	release := func(names ...string) {
		files := map[string][]byte{}
		for _, name := range names {
			files[name] = []byte(name)
		}
		files["SHA256SUMS"] = sums(files)
		if err := write(out, files); err != nil {
			t.Fatal(err)
		}
	}
	release("roundoff-v1.zip", "roundoff-v1.tar.gz")
	if err := os.WriteFile(filepath.Join(out, "roundoff-letter.txt"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	release("roundoff-v2.zip")
	left, err := filepath.Glob(filepath.Join(out, "*"))
	for i := range left {
		left[i] = filepath.Base(left[i])
	}
	if want := []string{"SHA256SUMS", "roundoff-letter.txt", "roundoff-v2.zip"}; err != nil || !slices.Equal(left, want) {
		t.Errorf("the folder has %q, %v", left, err)
	}
}

// What the caller sets for other builds must not reach those of a release.
func TestEnvironment(t *testing.T) {
	for name, value := range map[string]string{"GOFLAGS": "-tags=x", "GOFIPS140": "latest", "GOEXPERIMENT": "greenteagc", "GOWORK": "/x/go.work"} {
		t.Setenv(name, value)
	}
	got, err := output("go", "env", "GOFLAGS", "GOFIPS140", "GOEXPERIMENT", "GOWORK", "GOWASM")
	if want := "-mod=readonly\noff\n\noff"; err != nil || got != want {
		t.Errorf("Go sees %q, %v", got, err)
	}
}

func TestIdentity(t *testing.T) {
	info := func(modified string) *buildinfo.BuildInfo {
		return &buildinfo.BuildInfo{Main: debug.Module{Version: "v1.2.3"},
			Settings: []debug.BuildSetting{{Key: "vcs.modified", Value: modified}, {Key: "vcs.time", Value: "2026-03-01T11:00:00Z"}}}
	}
	if version, when, err := identity(info("false")); version != "v1.2.3" || !when.Equal(date) || err != nil {
		t.Errorf("%q, %v, %v", version, when, err)
	}
	for _, modified := range []string{"true", ""} {
		if _, _, err := identity(info(modified)); err == nil {
			t.Errorf("no error where vcs.modified is %q", modified)
		}
	}
}

// A tag is what CITATION.cff says that it is; a commit without one is free.
func TestCheckCited(t *testing.T) {
	cited, err := os.ReadFile("../../CITATION.cff")
	if err != nil {
		t.Fatal(err)
	}
	own := regexp.MustCompile(`(?m)^version: (.*)$`).FindSubmatch(cited)
	if own == nil {
		t.Fatal("CITATION.cff has no version")
	}
	for _, version := range []string{"v" + string(own[1]), "v0.0.0-20261125160228-181020b7d6ab", "v1.2.4-0.20261125160228-181020b7d6ab"} {
		if err := checkCited(version, cited); err != nil {
			t.Errorf("%s: %v", version, err)
		}
	}
	for _, version := range []string{"v1.2.3", string(own[1]), ""} {
		if err := checkCited(version, cited); err == nil || !strings.Contains(err.Error(), "CITATION.cff") {
			t.Errorf("%q: %v", version, err)
		}
	}
	if checkCited("v1.2.3", nil) == nil {
		t.Error("no error where there is no version")
	}
}

// The page of the playground is no Go program whose modules could be read: it
// must contain none that the command does not.
func TestPlaygroundIsInTheList(t *testing.T) {
	modules := func(folder string, env ...string) []string {
		cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", folder)
		cmd.Env = append(os.Environ(), env...)
		text, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Fields(string(text))
	}
	command := modules("../../cmd/roundoff")
	page := modules("../../cmd/playground", "GOOS=js", "GOARCH=wasm")
	if len(page) == 0 {
		t.Fatal("the playground is made of nothing")
	}
	for _, m := range page {
		if m != "github.com/roundofflab/roundoff" && !slices.Contains(command, m) {
			t.Errorf("the playground contains %s", m)
		}
	}
}
