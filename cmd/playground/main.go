//go:build !js

// Command playground writes the playground page: one HTML file with the program
// that answers its questions inside, so that it works without a server. It runs
// in the root of the repository:
//
//	go run ./cmd/playground -o out/site/playground.html
//
// With -answer it answers the questions on its standard input, one in each
// line, as the page does.
package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/base64"
	"flag"
	"fmt"
	"html"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/roundofflab/roundoff/internal/atomicfile"
	"github.com/roundofflab/roundoff/internal/licences"
	"github.com/roundofflab/roundoff/internal/playground"
)

//go:embed page.html
var page string

//go:embed page.css
var style string

//go:embed page.js
var script string

//go:embed worker.js
var worker string

func main() {
	log.SetFlags(0)
	log.SetPrefix("playground: ")
	out := flag.String("o", "playground.html", "write the page into this `file`")
	answer := flag.Bool("answer", false, "answer the questions on standard input, one in each line")
	flag.Parse()
	if *answer {
		in := bufio.NewScanner(os.Stdin)
		in.Buffer(nil, 1<<24)
		for in.Scan() {
			fmt.Printf("%s\n", playground.Answer(in.Bytes()))
		}
		if err := in.Err(); err != nil {
			log.Fatal(err)
		}
		return
	}
	text, err := build()
	if err == nil {
		if err = os.MkdirAll(filepath.Dir(*out), 0o755); err == nil {
			err = atomicfile.WriteFile(*out, text)
		}
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %.2f MB\n", *out, float64(len(text))/1e6)
}

// build returns the page with everything it needs.
func build() ([]byte, error) {
	program, err := compile()
	if err != nil {
		return nil, err
	}
	root, err := output("env", "GOROOT")
	if err != nil {
		return nil, err
	}
	glue, err := os.ReadFile(filepath.Join(root, "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return nil, err
	}
	notices, err := notices(root)
	if err != nil {
		return nil, err
	}
	packed, err := pack(program)
	return fill(string(glue), packed, string(notices)), err
}

// fill returns the page with a program, the script that starts it, and the
// licences of both.
func fill(glue, wasm, notices string) []byte {
	return []byte(strings.NewReplacer("{{style}}", style, "{{glue}}", glue, "{{worker}}", worker, "{{script}}", script,
		"{{wasm}}", wasm, "{{licences}}", html.EscapeString(strings.TrimSpace(notices))).Replace(page))
}

// compile returns this command, compiled for browsers.
func compile() ([]byte, error) {
	dir, err := os.MkdirTemp("", "playground")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "playground.wasm")
	if _, err := output("build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", program, "./cmd/playground"); err != nil {
		return nil, err
	}
	return os.ReadFile(program)
}

// notices returns the licences of all that the program and the script that
// starts it are made of; both have parts of Go, whose folder is root.
func notices(root string) ([]byte, error) {
	version, err := output("env", "GOVERSION")
	if err != nil {
		return nil, err
	}
	list, err := output("list", "-deps", "-f", "{{with .Module}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}", "./cmd/playground")
	if err != nil {
		return nil, err
	}
	modules := strings.Split(list, "\n")
	slices.Sort(modules)
	parts := []licences.Part{{Name: "Go", Version: strings.TrimPrefix(version, "go"), Folder: root}}
	for _, m := range slices.Compact(modules) {
		if fields := strings.Split(m, "\t"); len(fields) == 3 {
			parts = append(parts, licences.Part{Name: fields[0], Version: fields[1], Folder: fields[2]})
		}
	}
	return licences.Notices(parts)
}

// output returns what the command go prints when it works for browsers.
func output(args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	var said bytes.Buffer
	cmd.Stderr = &said
	text, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", args[0], err, said.Bytes())
	}
	return strings.TrimSpace(string(text)), nil
}

// pack returns data compressed, as text.
func pack(data []byte) (string, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	if _, err := w.Write(data); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
}
