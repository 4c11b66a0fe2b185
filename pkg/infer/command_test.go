package infer

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"bufio"
	"strconv"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// TestMain runs the program of the tests where INFER_BOX names one.
func TestMain(m *testing.M) {
	if how := os.Getenv("INFER_BOX"); how != "" {
		program(how)
		return
	}
	os.Exit(m.Run())
}

// program is a program that computes as CDNA3 does, or misbehaves.
func program(how string) {
	d := devices.CDNA3BF16()
	line := 0
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); line++ {
		var codes []uint64
		for _, w := range strings.Fields(lines.Text()) {
			code, err := strconv.ParseUint(w, 16, 64)
			if err != nil {
				panic(err)
			}
			codes = append(codes, code)
		}
		switch {
		case how == "hangs" && line == 3:
			time.Sleep(time.Minute)
		case how == "garbage" && line == 2:
			fmt.Println("what?")
			continue
		case how == "wide" && line == 2:
			fmt.Println("123456789")
			continue
		case how == "dies" && line == 5:
			fmt.Fprintln(os.Stderr, "out of luck")
			os.Exit(7)
		case how == "short" && line == 9:
			return
		case how == "talks":
			fmt.Println(strings.Repeat("0", 10_000))
		case how == "moody":
			codes[16] ^= uint64(os.Getpid())
		}
		fmt.Printf("%x\n", d.DotCodes(codes[:8], codes[8:16], codes[16]))
	}
}

func programBox(t *testing.T, how string, limit time.Duration) Box {
	t.Helper()
	t.Setenv("INFER_BOX", how)
	return Command(ShapeOf(devices.CDNA3BF16(), 8), limit, os.Args[0])
}

// A program is learned as a device is.
func TestCommand(t *testing.T) {
	l, err := Learn(t.Context(), programBox(t, "works", time.Minute), 1)
	if err != nil || l.Record.Core != (tcore.TwoStage{Terms: 8, Parts: 1}) {
		t.Errorf("%v, %+v, want the core of CDNA3", err, l.Record)
	}
}

// What a bad program did is in the error.
func TestCommand_tells_what_is_wrong(t *testing.T) {
	for how, want := range map[string]string{
		"hangs":   "took longer than 200ms for 1500 dot products",
		"garbage": `line 3 of `,
		"wide":    `is "123456789", want a code of binary32 in hexadecimal`,
		"dies":    "exit status 7: out of luck",
		"short":   "wrote 9 lines for 1500 dot products",
		"talks":   "wrote more than 48032 bytes for 1500 dot products",
		"moody":   "the box changes its answers",
	} {
		limit := time.Minute
		if how == "hangs" {
			limit = 200 * time.Millisecond
		}
		if _, err := Learn(t.Context(), programBox(t, how, limit), 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", how, err, want)
		}
	}
	if _, err := Learn(t.Context(), Command(ShapeOf(devices.CDNA3BF16(), 8), time.Second, "./no-such-program"), 1); err == nil ||
		!strings.Contains(err.Error(), "no-such-program") {
		t.Errorf("error %v, want one that names the program", err)
	}
}

func TestCommand_panics_without_a_program(t *testing.T) {
	for want, f := range map[string]func(){
		"infer: Command: program [] and limit 1s":      func() { Command(Shape{}, time.Second) },
		"infer: Command: program [\"x\"] and limit 0s": func() { Command(Shape{}, 0, "x") },
		"infer: Emulated: 0 products":                  func() { Emulated(devices.HopperF16(), 0) },
		"infer: Tree: k = 0":                           func() { Tree(devices.HopperF16(), 0) },
	} {
		func() {
			defer func() {
				if said := fmt.Sprint(recover()); !strings.Contains(said, want) {
					t.Errorf("panics with %q, want %q", said, want)
				}
			}()
			f()
		}()
	}
}
