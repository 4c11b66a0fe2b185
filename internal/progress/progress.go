// Package progress reports which share of a long computation is done, while it
// runs. Experiments call it, and package nb draws the share as a bar.
package progress

import (
	"sync"
	"time"
)

// A Display shows one computation. Update is called with the share that is
// done, from 0 to 1, and End when the computation is over.
type Display interface {
	Update(share float64)
	End()
}

// Show, unless it is nil, returns the display of a computation that has run for
// [Patience].
var Show func() Display

// Patience is the time that a computation runs before it is shown. Interval is
// the time between updates.
const (
	Patience = 500 * time.Millisecond
	Interval = 200 * time.Millisecond
)

// A Task is a computation of a number of steps. A task that starts before
// another one has ended is a part of that task's next step.
type Task struct{ done, total float64 }

var (
	mu      sync.Mutex
	running []*Task // the innermost last
	stop    chan struct{}
	stopped sync.WaitGroup
)

// Start begins a computation of total steps, which may take different times.
func Start(total int) *Task {
	t := &Task{total: float64(max(total, 1))}
	mu.Lock()
	defer mu.Unlock()
	running = append(running, t)
	if len(running) == 1 && Show != nil {
		stop = make(chan struct{})
		show, stop := Show, stop
		stopped.Go(func() { watch(show, stop) })
	}
	return t
}

// Step reports that n more steps are done.
func (t *Task) Step(n int) {
	mu.Lock()
	t.done += float64(n)
	mu.Unlock()
}

// End reports that the computation is over. After it has returned, nothing of
// the computation is displayed.
func (t *Task) End() {
	mu.Lock()
	for i, r := range running {
		if r == t {
			running = append(running[:i:i], running[i+1:]...)
		}
	}
	last := stop
	if len(running) > 0 || last == nil {
		mu.Unlock()
		return
	}
	stop = nil
	close(last)
	mu.Unlock()
	stopped.Wait()
}

// Share returns the share of the running computations that is done, from 0 to
// 1.
func Share() float64 {
	mu.Lock()
	defer mu.Unlock()
	return current()
}

// current is Share for a caller that has locked mu.
func current() float64 {
	share := 0.0
	for i := len(running) - 1; i >= 0; i-- {
		t := running[i]
		share = min((t.done+share)/t.total, 1)
	}
	return share
}

// watch displays a computation that runs longer than Patience, until it is
// stopped.
func watch(show func() Display, stop <-chan struct{}) {
	wait := time.NewTimer(Patience)
	defer wait.Stop()
	select {
	case <-stop:
		return
	case <-wait.C:
	}
	d := show()
	defer d.End()
	again := time.NewTicker(Interval)
	defer again.Stop()
	for {
		share, over := during(stop)
		if over {
			return
		}
		d.Update(share)
		select {
		case <-stop:
			return
		case <-again.C:
		}
	}
}

// during returns the share that is done, or that the computation is over; then
// the share has no meaning.
func during(stop <-chan struct{}) (share float64, over bool) {
	mu.Lock()
	defer mu.Unlock()
	select {
	case <-stop:
		return 0, true
	default:
		return current(), false
	}
}
