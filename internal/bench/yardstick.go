package main

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"os/exec"
	"path/filepath"
	"strings"
)

// yardstick is a running sgemm of OpenBLAS.
type yardstick struct {
	core     string // whose routines OpenBLAS uses
	question io.WriteCloser
	answer   *bufio.Reader
	cmd      *exec.Cmd
}

// startYardstick builds sgemm in dir and starts it. If it cannot be built, all
// speeds are 0.
func startYardstick(dir string) *yardstick {
	y := &yardstick{core: "no processor, since it does not build"}
	program := filepath.Join(dir, "sgemm")
	if _, err := output(exec.Command("cc", "-O2", "-o", program, "internal/bench/openblas/sgemm.c", "-lopenblas")); err != nil {
		log.Printf("no ratios, because OpenBLAS (libopenblas-dev) does not build: %v", err)
		return y
	}
	y.cmd = exec.Command(program)
	question, err := y.cmd.StdinPipe()
	check(err)
	answer, err := y.cmd.StdoutPipe()
	check(err)
	check(y.cmd.Start())
	y.question, y.answer = question, bufio.NewReader(answer)
	core, err := y.answer.ReadString('\n')
	check(err)
	y.core = strings.TrimSpace(core)
	return y
}

// speed returns the speed of a product of the given shape, "m k n", on one
// thread in MMAC/s (10⁶ multiply-accumulate operations per second), or 0 if
// there is no sgemm or no shape.
func (y *yardstick) speed(shape string) float64 {
	if y.cmd == nil || shape == "" {
		return 0
	}
	_, err := fmt.Fprintln(y.question, shape)
	check(err)
	var speed float64
	_, err = fmt.Fscan(y.answer, &speed)
	check(err)
	return speed
}

func (y *yardstick) stop() {
	if y.cmd != nil {
		y.question.Close()
		check(y.cmd.Wait())
	}
}
