// Release builds what a release publishes: the command roundoff for each
// system, the playground, a list of everything that is inside (SBOM), and the
// checksums of all that. The same commit and the same Go give the same bytes.
//
//	go run ./internal/release [-o out/release]
package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/roundofflab/roundoff/internal/atomicfile"
)

// A target is a system that the command is built for.
type target struct{ system, architecture string }

func (t target) String() string { return t.system + "/" + t.architecture }

var targets = []target{
	{"linux", "amd64"}, {"linux", "arm64"},
	{"darwin", "amd64"}, {"darwin", "arm64"},
	{"windows", "amd64"}, {"windows", "arm64"},
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("release: ")
	out := flag.String("o", "out/release", "write into this `folder`, in place of the release that is there")
	only := flag.String("targets", "", "build for these alone, `list` such as linux/amd64,windows/arm64: to try it")
	flag.Parse()
	chosen, err := choose(*only)
	if err == nil {
		err = release(*out, chosen)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// choose returns the targets of a list, or all if there is none.
func choose(list string) (chosen []target, err error) {
	if list == "" {
		return targets, nil
	}
	for name := range strings.SplitSeq(list, ",") {
		system, architecture, _ := strings.Cut(name, "/")
		t := target{system, architecture}
		if !slices.Contains(targets, t) {
			return nil, fmt.Errorf("-targets: %q is none of %v", name, targets)
		}
		chosen = append(chosen, t)
	}
	return chosen, nil
}

// release fills the folder out.
func release(out string, targets []target) error {
	programs, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(programs)
	built := make([]program, len(targets))
	for i, t := range targets {
		if built[i], err = build(programs, t); err != nil {
			return err
		}
	}
	of := built[0].info
	version, date, err := identity(of)
	if err != nil {
		return err
	}
	cited, err := os.ReadFile("CITATION.cff")
	if err == nil {
		err = checkCited(version, cited)
	}
	if err != nil {
		return err
	}
	modules, err := contents(of.GoVersion, built)
	if err != nil {
		return err
	}
	files, err := archives("roundoff-"+version, built, modules, date)
	if err != nil {
		return err
	}
	if files["roundoff-"+version+"-playground.html"], err = playground(programs); err != nil {
		return err
	}
	if files["roundoff-"+version+".cdx.json"], err = sbom(version, date, modules); err != nil {
		return err
	}
	files["SHA256SUMS"] = sums(files)
	return write(out, files)
}

// environment returns the environment of all that Go does for a release: that
// of the caller, without what would give other bytes.
func environment() []string {
	return append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off", "GOEXPERIMENT=", "GOFIPS140=off", "GOWASM=")
}

// A program is the command built for a target.
type program struct {
	target
	data []byte
	info *buildinfo.BuildInfo
}

// build builds the command for a target into a folder. Without cgo it runs on
// any Linux, and finds no GPU there.
func build(folder string, t target) (program, error) {
	path := filepath.Join(folder, t.system+"-"+t.architecture)
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o", path, "./cmd/roundoff")
	cmd.Env = append(environment(), "CGO_ENABLED=0", "GOAMD64=v1", "GOARM64=v8.0", "GOOS="+t.system, "GOARCH="+t.architecture)
	if text, err := cmd.CombinedOutput(); err != nil {
		return program{}, fmt.Errorf("building for %v: %w\n%s", t, err, text)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return program{}, err
	}
	info, err := buildinfo.ReadFile(path)
	return program{t, data, info}, err
}

// identity returns the version of a program, a tag or what Go calls a commit
// without one, and the time of the commit. There is none where files have been
// changed since the commit, or where Go found no repository.
func identity(info *buildinfo.BuildInfo) (version string, date time.Time, err error) {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if settings["vcs.modified"] != "false" {
		return "", date, errors.New("a release is built in a clone with nothing to commit; git status says what there is")
	}
	date, err = time.Parse(time.RFC3339, settings["vcs.time"])
	return info.Main.Version, date, err
}

// pseudo matches what Go calls a commit that has no tag.
var pseudo = regexp.MustCompile(`[.-]\d{14}-[0-9a-f]{12}$`)

// checkCited returns an error if a tag is not the version that the content of
// CITATION.cff says.
func checkCited(version string, cited []byte) error {
	if pseudo.MatchString(version) {
		return nil
	}
	match := regexp.MustCompile(`(?m)^version: (\S+)$`).FindSubmatch(cited)
	if match == nil || "v"+string(match[1]) != version {
		return fmt.Errorf("the tag is %s, and CITATION.cff has no line \"version: %s\", from which make citation writes the other files", version, strings.TrimPrefix(version, "v"))
	}
	return nil
}

// playground returns the page of that name.
func playground(folder string) ([]byte, error) {
	path := filepath.Join(folder, "playground.html")
	cmd := exec.Command("go", "run", "./cmd/playground", "-o", path)
	cmd.Env = environment()
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building the playground: %w\n%s", err, text)
	}
	return os.ReadFile(path)
}

// sums returns the SHA-256 of every file as sha256sum prints them.
func sums(files map[string][]byte) []byte {
	var b bytes.Buffer
	for _, name := range sorted(files) {
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(files[name]), name)
	}
	return b.Bytes()
}

// write writes the files into a folder in place of the release that is there.
func write(out string, files map[string][]byte) error {
	if err := errors.Join(remove(out), os.MkdirAll(out, 0o755)); err != nil {
		return err
	}
	for _, name := range sorted(files) {
		if err := atomicfile.WriteFile(filepath.Join(out, name), files[name]); err != nil {
			return err
		}
		fmt.Printf("%6d kB  %s\n", (len(files[name])+999)/1000, filepath.Join(out, name))
	}
	return nil
}

// remove removes the release in a folder, if there is one: the files that its
// sums name. The sums are written first, so that they name all of them.
func remove(out string) error {
	text, err := os.ReadFile(filepath.Join(out, "SHA256SUMS"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		_, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if gone := os.Remove(filepath.Join(out, filepath.Base(name))); !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return err
}
