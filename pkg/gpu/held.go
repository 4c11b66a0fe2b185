package gpu

import (
	"errors"
	"time"

	"github.com/roundofflab/roundoff/internal/cuda"
)

// held lists the resources that a computation has allocated on the device;
// release frees them, also after an error. All methods run inside Device.Do.
type held struct {
	device *cuda.Device
	free   []func() error
}

// release frees all resources, in the reverse order of their allocation.
func (h *held) release() (err error) {
	for i := len(h.free) - 1; i >= 0; i-- {
		err = errors.Join(err, h.free[i]())
	}
	h.free = nil
	return err
}

// hold returns x and err. Unless there is an error, release will call free(x).
func hold[T any](h *held, x T, err error, free func(T) error) (T, error) {
	if err == nil {
		h.free = append(h.free, func() error { return free(x) })
	}
	return x, err
}

// memory allocates n bytes of the device.
func (h *held) memory(n int) (cuda.Ptr, error) {
	p, err := h.device.Alloc(n)
	return hold(h, p, err, h.device.Free)
}

// pinned allocates n bytes of the host.
func (h *held) pinned(n int) ([]byte, error) {
	b, err := h.device.HostAlloc(n)
	return hold(h, b, err, h.device.HostFree)
}

// queue makes a stream.
func (h *held) queue() (cuda.Stream, error) {
	s, err := h.device.NewStream()
	return hold(h, s, err, cuda.Stream.Destroy)
}

// event makes an event.
func (h *held) event() (cuda.Event, error) {
	e, err := h.device.NewEvent()
	return hold(h, e, err, cuda.Event.Destroy)
}

// module loads PTX text.
func (h *held) module(ptx string) (cuda.Module, error) {
	m, err := h.device.LoadModule([]byte(ptx))
	return hold(h, m, err, cuda.Module.Unload)
}

// blank fills the memory of a result with bytes 0xff, which are NaNs in every
// format. An element that the device does not write is then a NaN, and not
// mistaken for the result of an earlier computation.
func blank(b []byte) {
	b[0] = 0xff
	for n := 1; n < len(b); n *= 2 {
		copy(b[n:], b[:n])
	}
}

// blank fills n bytes of the device in the same way, in parts of at most the
// size of the stage.
func (h *held) blank(to cuda.Ptr, n int, stage []byte, s cuda.Stream) error {
	blank(stage)
	for n > 0 {
		part := stage[:min(len(stage), n)]
		if err := errors.Join(h.device.ToDevice(to, part, s), s.Sync()); err != nil {
			return err
		}
		to, n = to+cuda.Ptr(len(part)), n-len(part)
	}
	return nil
}

// clock measures the time between two points of a stream.
type clock struct {
	stream      cuda.Stream
	start, stop cuda.Event
}

// newClock makes a stream and two events.
func (h *held) newClock() (c clock, err error) {
	if c.stream, err = h.queue(); err != nil {
		return c, err
	}
	if c.start, err = h.event(); err != nil {
		return c, err
	}
	c.stop, err = h.event()
	return c, err
}

// time waits for the operations that work enqueues in the stream and returns
// their time on the device.
func (c clock) time(work func() error) (time.Duration, error) {
	if err := c.start.Record(c.stream); err != nil {
		return 0, err
	}
	if err := work(); err != nil {
		return 0, err
	}
	if err := errors.Join(c.stop.Record(c.stream), c.stream.Sync()); err != nil {
		return 0, err
	}
	return c.stop.Since(c.start)
}
