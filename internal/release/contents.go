package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/roundofflab/roundoff/internal/licences"
)

// A module is something of others that the programs contain. Its folder has the
// source and the licence.
type module struct {
	name, version string
	purl          string // package URL, as lists of contents name packages
	sha256        string // of the file, if it is one
	folder        string
}

// contents returns what the programs contain: Go's library, modules, and the
// drawing program of charts, in order of their names.
func contents(goVersion string, built []program) ([]module, error) {
	root, err := output("go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	charts, err := echarts("pkg/viz/echarts")
	if err != nil {
		return nil, err
	}
	number := strings.TrimPrefix(goVersion, "go")
	all := []module{charts, {name: "std", version: number, purl: "pkg:golang/std@" + number, folder: root}}
	seen := map[string]bool{}
	for _, p := range built {
		for _, d := range p.info.Deps {
			if !seen[d.Path] {
				seen[d.Path] = true
				m, err := required(d)
				if err != nil {
					return nil, err
				}
				all = append(all, m)
			}
		}
	}
	slices.SortFunc(all, func(a, b module) int { return cmp.Compare(a.name, b.name) })
	return all, nil
}

// required returns the module that a program records as built in.
func required(d *debug.Module) (module, error) {
	if d.Replace != nil {
		return module{}, fmt.Errorf("%s is replaced", d.Path)
	}
	folder, err := output("go", "list", "-m", "-f", "{{.Dir}}", d.Path)
	purl := "pkg:golang/" + strings.ToLower(d.Path) + "@" + strings.ReplaceAll(d.Version, "+", "%2B")
	return module{name: d.Path, version: d.Version, purl: purl, folder: folder}, err
}

var npmVersion = regexp.MustCompile(`npm package echarts (\S+), (\S+)`)

// echarts returns the script that draws charts, by what the README of its
// folder says.
func echarts(folder string) (module, error) {
	readme, err := os.ReadFile(filepath.Join(folder, "README.md"))
	if err != nil {
		return module{}, err
	}
	match := npmVersion.FindSubmatch(readme)
	if match == nil {
		return module{}, fmt.Errorf("%s/README.md names no npm package", folder)
	}
	script, err := os.ReadFile(filepath.Join(folder, filepath.Base(string(match[2]))))
	version := string(match[1])
	return module{"echarts", version, "pkg:npm/echarts@" + version, fmt.Sprintf("%x", sha256.Sum256(script)), folder}, err
}

// output returns what a command prints, without the end of the line.
func output(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Env = environment()
	text, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(text)), nil
}

// notices returns the licences of all modules.
func notices(modules []module) ([]byte, error) {
	var parts []licences.Part
	for _, m := range modules {
		parts = append(parts, licences.Part{Name: m.name, Version: m.version, Folder: m.folder})
	}
	text, err := licences.Notices(parts)
	return append([]byte("What this program contains of others, and under which licences.\n"), text...), err
}

// sbom returns a bill of materials (CycloneDX 1.6, JSON) of the release.
func sbom(version string, date time.Time, modules []module) ([]byte, error) {
	type object map[string]any
	component := func(kind string, m module) object {
		o := object{"type": kind, "bom-ref": m.purl, "name": m.name, "version": m.version, "purl": m.purl}
		if m.sha256 != "" {
			o["hashes"] = []object{{"alg": "SHA-256", "content": m.sha256}}
		}
		return o
	}
	const path = "github.com/roundofflab/roundoff"
	self := component("application", module{name: path, version: version, purl: "pkg:golang/" + path + "@" + version})
	self["licenses"] = []object{{"license": object{"id": "BSD-3-Clause"}}}
	var inside []object
	var names []string
	for _, m := range modules {
		inside, names = append(inside, component("library", m)), append(names, m.purl)
	}
	data, err := json.MarshalIndent(object{
		"$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json", "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"metadata":     object{"timestamp": date.UTC().Format(time.RFC3339), "component": self},
		"components":   inside,
		"dependencies": []object{{"ref": self["bom-ref"], "dependsOn": names}},
	}, "", " ")
	return append(data, '\n'), err
}
