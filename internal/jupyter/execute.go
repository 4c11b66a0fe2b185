package jupyter

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/roundofflab/roundoff/internal/notebook"
)

// A Result contains the outcome of one cell.
type Result struct {
	Count   int                // execution count
	Outputs []*notebook.Output // in the order shown; a later cell may still update a display of this cell
	Failed  bool               // the kernel reported that the cell failed
	Reason  string             // the reason that the kernel reported

	clear bool                   // the next output replaces those before it
	seen  func(*notebook.Output) // is called with each output when it begins, unless it is nil
}

// Execute runs the code of one cell and returns its outputs, once the kernel
// has replied and is idle. When ctx ends, Execute interrupts the cell and
// returns the cause of ctx as error; the kernel stays usable if the cell stops
// within seven seconds. The result is never nil: with an error it contains the
// outputs up to then.
func (k *Kernel) Execute(ctx context.Context, code string) (*Result, error) {
	return k.Watch(ctx, code, nil)
}

// Watch is Execute, and calls seen, if it is not nil, with each output when it
// begins.
func (k *Kernel) Watch(ctx context.Context, code string, seen func(*notebook.Output)) (*Result, error) {
	r := &Result{seen: seen}
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

// interrupt asks the kernel to interrupt the running cell.
func (k *Kernel) interrupt() error {
	if k.spec.InterruptMode == "message" {
		_, err := k.send(k.control, "interrupt_request", struct{}{})
		return err
	}
	return interrupt(k.cmd)
}

// idle reports whether the message announces that the kernel is idle.
func (m message) idle() bool {
	var c struct {
		State string `json:"execution_state"`
	}
	return m.Header.Type == "status" && json.Unmarshal(m.Content, &c) == nil && c.State == "idle"
}
