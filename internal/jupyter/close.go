package jupyter

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/go-zeromq/zmq4"
)

// wait waits until the process has ended and records the reason.
func (k *Kernel) wait() {
	err := k.cmd.Wait()
	if err == nil {
		err = errors.New("exit status 0")
	}
	k.end(fmt.Errorf("jupyter: the kernel ended: %w\n%s", err, k.log.String()))
	close(k.exited)
}

// Close ends the kernel and all processes that it started: it sends a shutdown
// request, then a signal to terminate, then kills them. It removes the kernel's
// temporary files. Closing a second time does nothing.
func (k *Kernel) Close() error {
	if k.alive.Err() == nil && k.control != nil {
		k.send(k.control, "shutdown_request", map[string]bool{"restart": false})
		k.gone(shutdownTime)
	}
	var err error
	if !k.gone(0) {
		terminate(k.cmd)
		k.gone(terminateTime)
	}
	err = kill(k.cmd) // also processes that a kernel left when it ended
	<-k.exited
	k.end(errors.New("jupyter: the kernel is closed"))
	for _, s := range []zmq4.Socket{k.shell, k.control, k.iopub} {
		if s != nil {
			s.Close()
		}
	}
	return errors.Join(err, os.RemoveAll(k.scratch))
}

// gone reports whether the process ends within d.
func (k *Kernel) gone(d time.Duration) bool {
	if d <= 0 {
		select {
		case <-k.exited:
			return true
		default:
			return false
		}
	}
	select {
	case <-k.exited:
		return true
	case <-time.After(d):
		return false
	}
}

// A tail stores the last bytes that are written to it.
type tail struct {
	mu sync.Mutex
	b  []byte
}

const tailSize = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	if n := len(t.b) - tailSize; n > 0 {
		t.b = append(t.b[:0], t.b[n:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.b))
}
