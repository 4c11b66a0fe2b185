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
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/roundofflab/roundoff/internal/atomicfile"
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
	dir, err := os.MkdirTemp("", "playground")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "playground.wasm")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", program, "./cmd/playground")
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, text)
	}
	wasm, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	glue, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return nil, err
	}
	packed, err := pack(wasm)
	if err != nil {
		return nil, err
	}
	return []byte(strings.NewReplacer("{{style}}", style, "{{glue}}", string(glue), "{{worker}}", worker, "{{script}}", script, "{{wasm}}", packed).Replace(page)), nil
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
