package jupyter

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/roundofflab/roundoff/internal/notebook"
)

// A Result is what running one cell left behind.
type Result struct {
	Count   int                // execution count
	Outputs []*notebook.Output // in the order shown; a later cell may still update a display of this one
	Failed  bool               // the kernel says that the cell went wrong
	Reason  string             // and why, in a line or two

	clear bool // the next output replaces those before it
}

// Execute runs the code of one cell and returns what it showed, when the kernel
// has both answered and come to rest. When ctx ends, the cell is interrupted,
// and the error is the cause of ctx; the kernel lives on if the cell stops
// within seven seconds. The result is never nil: with an error it has what was
// shown until then.
func (k *Kernel) Execute(ctx context.Context, code string) (*Result, error) {
	r := new(Result)
	id, err := k.send(k.shell, "execute_request", map[string]any{
		"code": code, "silent": false, "store_history": true,
		"user_expressions": struct{}{}, "allow_stdin": false, "stop_on_error": true,
	})
	if err != nil {
		return r, err
	}
	var replied, idle bool
	var overdue <-chan time.Time
	done := ctx.Done()
	for !replied || !idle {
		select {
		case m := <-k.replies:
			if m.Parent.ID == id && m.Header.Type == "execute_reply" {
				replied = true
				err = r.reply(m.Content)
			}
		case m := <-k.published:
			if m.Parent.ID == id {
				idle = idle || m.idle()
				err = r.add(m, k.displays)
			}
		case <-done:
			done = nil
			overdue = time.After(interruptTime)
			err = k.interrupt()
		case <-overdue:
			err = fmt.Errorf("%w; the cell did not stop when interrupted", context.Cause(ctx))
			k.end(err)
		case <-k.alive.Done():
			err = context.Cause(k.alive)
		}
		if err != nil {
			return r, err
		}
	}
	if overdue != nil {
		return r, context.Cause(ctx)
	}
	return r, nil
}

// interrupt asks the kernel to stop what it is doing.
func (k *Kernel) interrupt() error {
	if k.spec.InterruptMode == "message" {
		_, err := k.send(k.control, "interrupt_request", struct{}{})
		return err
	}
	return interrupt(k.cmd)
}

// idle reports whether the message says that the kernel has come to rest.
func (m message) idle() bool {
	var c struct {
		State string `json:"execution_state"`
	}
	return m.Header.Type == "status" && json.Unmarshal(m.Content, &c) == nil && c.State == "idle"
}
