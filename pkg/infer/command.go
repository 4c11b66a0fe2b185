package infer

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Command returns a box that is a program, called with arguments. The program
// is run once for each batch of questions. It reads a line for each dot product
// until its input ends: the codes of x, of y, of the scales of x and of y if
// there are any, and of c, in hexadecimal without a prefix, separated by
// spaces. For each it writes one line, the code of the result in hexadecimal.
//
// Dots returns an error that says what the program did if it does not start,
// fails, takes longer than limit for a batch, writes a line that is no code, or
// too few or too many. Command panics if there is no program or no time.
func Command(s Shape, limit time.Duration, program ...string) Box {
	if len(program) == 0 || limit <= 0 {
		panic(fmt.Sprintf("infer: Command: program %q and limit %v, want a program and time", program, limit))
	}
	return command{s, limit, program}
}

type command struct {
	shape   Shape
	limit   time.Duration
	program []string
}

func (b command) Shape() Shape { return b.shape }

func (b command) Dots(ctx context.Context, questions []Dot) ([]uint64, error) {
	timed, cancel := context.WithTimeout(ctx, b.limit)
	defer cancel()
	run := exec.CommandContext(timed, b.program[0], b.program[1:]...)
	run.WaitDelay = time.Second
	var in bytes.Buffer
	for _, q := range questions {
		in.WriteString(q.line())
	}
	out, said := &limited{most: 32 * (len(questions) + 1)}, &limited{most: 300}
	run.Stdin, run.Stdout, run.Stderr = &in, out, said
	err := run.Run()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case timed.Err() != nil:
		return nil, fmt.Errorf("infer: %s took longer than %v for %d dot products", b.program[0], b.limit, len(questions))
	case out.over:
		return nil, fmt.Errorf("infer: %s wrote more than %d bytes for %d dot products, want a line of a code for each", b.program[0], out.most, len(questions))
	case errors.Is(err, exec.ErrNotFound) || run.Process == nil:
		return nil, fmt.Errorf("infer: %w", err)
	case run.ProcessState == nil || !run.ProcessState.Success():
		return nil, fmt.Errorf("infer: %s failed, %w: %s", b.program[0], err, bytes.TrimSpace(said.text))
	}
	return b.codes(out.text, len(questions))
}

// line returns the question as the program reads it.
func (q Dot) line() string {
	var words []string
	for _, codes := range [][]uint64{q.X, q.Y, q.ScaleX, q.ScaleY, {q.C}} {
		for _, c := range codes {
			words = append(words, strconv.FormatUint(c, 16))
		}
	}
	return strings.Join(words, " ") + "\n"
}

// codes returns the n codes that the program wrote.
func (b command) codes(out []byte, n int) ([]uint64, error) {
	d := make([]uint64, 0, n)
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		word := strings.TrimPrefix(strings.TrimSpace(lines.Text()), "0x")
		code, err := strconv.ParseUint(word, 16, b.shape.C.Bits())
		if err != nil {
			return nil, fmt.Errorf("infer: line %d of %s is %.40q, want a code of %s in hexadecimal", len(d)+1, b.program[0], lines.Text(), b.shape.C.Name)
		}
		d = append(d, code)
	}
	if len(d) != n {
		return nil, fmt.Errorf("infer: %s wrote %d lines for %d dot products", b.program[0], len(d), n)
	}
	return d, nil
}

// limited is a buffer that refuses what is more than it may hold.
type limited struct {
	text []byte
	most int
	over bool
}

func (l *limited) Write(b []byte) (int, error) {
	if len(l.text)+len(b) > l.most {
		l.over = true
		return 0, errors.New("too much")
	}
	l.text = append(l.text, b...)
	return len(b), nil
}
