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

// rival is a running program that answers questions for its speed. It first
// prints a line about itself. The zero value has the speed 0.
type rival struct {
	about    string
	question io.WriteCloser
	answer   *bufio.Reader
	cmd      *exec.Cmd
}

func startRival(cmd *exec.Cmd) *rival {
	question, err := cmd.StdinPipe()
	check(err)
	answer, err := cmd.StdoutPipe()
	check(err)
	check(cmd.Start())
	r := &rival{question: question, answer: bufio.NewReader(answer), cmd: cmd}
	about, err := r.answer.ReadString('\n')
	check(err)
	r.about = strings.TrimSpace(about)
	return r
}

// byClock starts the program of OpenBLAS once more, to time by the clock.
func (r *rival) byClock() *rival {
	if r.cmd == nil {
		return &rival{}
	}
	return startRival(exec.Command(r.cmd.Path, "clock"))
}

// startOpenBLAS builds an sgemm of OpenBLAS in dir and starts it. It answers
// questions "m k n", with the speed of the median of some runs or of the
// fastest, and names the processor for which its routines are.
func startOpenBLAS(dir string, fastest bool) *rival {
	program := filepath.Join(dir, "sgemm")
	if _, err := output(exec.Command("cc", "-O2", "-o", program, "internal/bench/openblas/sgemm.c", "-lopenblas")); err != nil {
		log.Printf("no ratios, because OpenBLAS (libopenblas-dev) does not build: %v", err)
		return &rival{about: "no processor, since it does not build"}
	}
	if fastest {
		return startRival(exec.Command(program, "fastest"))
	}
	return startRival(exec.Command(program))
}

// startMMASim starts MMA-Sim in the given Python, which must have the package
// mmasim. It answers questions "device m k n" and names its version.
func startMMASim(python string) *rival {
	if python == "" {
		return &rival{}
	}
	return startRival(exec.Command(python, "-W", "ignore", "internal/bench/mmasim/speed.py"))
}

// speed returns the speed on one thread in MMAC/s (10⁶ multiply-accumulate
// operations per second). It returns 0 if the rival cannot be had, does not
// know the device, or the question is empty.
func (r *rival) speed(question string) float64 {
	if r.cmd == nil || question == "" {
		return 0
	}
	r.ask(question)
	return r.hear()
}

func (r *rival) ask(question string) {
	_, err := fmt.Fprintln(r.question, question)
	check(err)
}

func (r *rival) hear() (speed float64) {
	_, err := fmt.Fscan(r.answer, &speed)
	check(err)
	return speed
}

// atOnce returns the speed of two rivals that compute at the same time, by the
// clock, over that of the first one alone: what two threads can reach that
// share nothing but the machine. It returns 0 if they cannot be had.
func atOnce(r, other *rival, question string) float64 {
	alone := r.speed(question)
	if alone == 0 {
		return 0
	}
	r.ask(question)
	other.ask(question)
	both := r.hear() + other.hear()
	return 2 * both / (alone + r.speed(question))
}

func (r *rival) stop() {
	if r.cmd != nil {
		r.question.Close()
		check(r.cmd.Wait())
	}
}
