package reproduce

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/roundofflab/roundoff/internal/jupyter"
	"github.com/roundofflab/roundoff/internal/notebook"
)

// running is a notebook that runs.
type running struct {
	*kernels
	kernel   *jupyter.Kernel
	notebook string
	done, of int       // cells
	since    time.Time // the last cell was done, or the program began
}

// program runs a program, with no other beside it if it is a cell that is to
// run alone. Each of its cells has the time limit. It returns a *CellError for
// a cell, and a *programError if one of several cells failed, unless it was
// interrupted.
func (r *running) program(ctx context.Context, p program) error {
	if p.cells[0].Alone() {
		r.machine.Lock()
		defer r.machine.Unlock()
	} else {
		r.machine.RLock()
		defer r.machine.RUnlock()
	}
	start := r.done
	r.since = time.Now()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	limit := time.AfterFunc(r.Timeout, func() { cancel(fmt.Errorf("not done after %v", r.Timeout)) })
	defer limit.Stop()
	several := len(p.cells) > 1
	result, err := r.kernel.Watch(ctx, p.source(), func(o *notebook.Output) {
		if i := r.done - start; several && i < len(p.cells) && marks(o, i) {
			r.tell("ok", p.cells[i])
			limit.Reset(r.Timeout)
		}
	})
	interrupted := errors.Is(err, context.Canceled)
	if interrupted {
		err = errors.New("interrupted")
	}
	if err == nil {
		err = failure(result)
	}
	if e := p.divide(result.Outputs); err == nil {
		err = e
	}
	if several && err != nil && !interrupted {
		return &programError{err}
	}
	for i, c := range p.cells {
		c.Count = start + i + 1
	}
	if err == nil {
		if !several {
			r.tell("ok", p.cells[0])
		}
		return nil
	}
	c := p.cells[min(r.done-start, len(p.cells)-1)]
	r.tell("FAILED", c)
	return &CellError{Notebook: r.notebook, Cell: r.done, Of: r.of, Source: c.Source, Said: said(result.Outputs), Reason: err}
}

// tell writes the line of the log of the next cell, which is done.
func (r *running) tell(state string, c *notebook.Cell) {
	r.done++
	now := time.Now()
	fmt.Fprintf(r.Log, "%s [%d/%d] %s %.1f s  %s\n", r.notebook, r.done, r.of, state, now.Sub(r.since).Seconds(), firstLine(c.Source))
	r.since = now
}
