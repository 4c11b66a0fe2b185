package gpu

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unsafe"

	"github.com/roundofflab/roundoff/internal/cuda"
)

// StreamMAC computes d = fl(fl(ab) + c) in binary32 on the GPU, element by
// element, as [tcore.StreamMAC] does on the processor. It runs one pass over
// the arrays to warm up and then the given number of passes, and returns the
// shortest time of these: on the device's clock, without the transfers. One
// operation moves 16 bytes of device memory.
//
// When ctx is done it stops before the next pass. It panics if the lengths
// differ, are 0 or exceed 2³¹-1, if passes is below 1, or if the GPU was not
// opened.
func (g *GPU) StreamMAC(ctx context.Context, d, a, b, c []float32, passes int) (time.Duration, error) {
	checkStream("StreamMAC", len(d), len(a), len(b), len(c), passes)
	return g.run(ctx, stream{"mac", len(d), bytesOf(d), bytesOf(a), bytesOf(b), bytesOf(c)}, passes)
}

// StreamFMA computes d = fl(ab + c) in binary32 on the GPU, as
// [tcore.StreamFMA] does on the processor. Otherwise it is like
// [GPU.StreamMAC].
func (g *GPU) StreamFMA(ctx context.Context, d, a, b, c []float32, passes int) (time.Duration, error) {
	checkStream("StreamFMA", len(d), len(a), len(b), len(c), passes)
	return g.run(ctx, stream{"fma", len(d), bytesOf(d), bytesOf(a), bytesOf(b), bytesOf(c)}, passes)
}

// StreamMPFMA computes d = fl(ab + c) in binary32 on the GPU, for a and b given
// as codes of binary16, as [tcore.StreamMPFMA] does on the processor. One
// operation moves 12 bytes. Otherwise it is like [GPU.StreamMAC].
func (g *GPU) StreamMPFMA(ctx context.Context, d []float32, a, b []uint16, c []float32, passes int) (time.Duration, error) {
	checkStream("StreamMPFMA", len(d), len(a), len(b), len(c), passes)
	return g.run(ctx, stream{"mpfma", len(d), bytesOf(d), bytesOf(a), bytesOf(b), bytesOf(c)}, passes)
}

// checkStream panics unless the lengths of the operands are equal and from 1 to
// 2³¹-1, since a kernel counts in 32 bits, and passes is at least 1.
func checkStream(call string, d, a, b, c, passes int) {
	if a != d || b != d || c != d || d < 1 || d > math.MaxInt32 {
		panic(fmt.Sprintf("gpu: %s: d, a, b, c have %d, %d, %d, %d elements, want as many in each, at least 1 and less than 2^31",
			call, d, a, b, c))
	}
	if passes < 1 {
		panic(fmt.Sprintf("gpu: %s: passes = %d, want passes >= 1", call, passes))
	}
}

// bytesOf returns the memory of x as bytes, without a copy.
func bytesOf[T float32 | uint16](x []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(x[0])))
}

// A stream is a kernel, given by its name, with operands of n elements each.
type stream struct {
	kernel     string
	n          int
	d, a, b, c []byte
}

// run copies the operands to the device, times the passes, and copies the
// results back.
func (g *GPU) run(ctx context.Context, s stream, passes int) (best time.Duration, err error) {
	err = g.opened("Stream" + strings.ToUpper(s.kernel)).Do(func() (err error) {
		h := held{device: g.device}
		defer func() { err = errors.Join(err, h.release()) }()
		best, err = s.run(ctx, &h, passes)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("gpu: %s of %d elements: %w", s.kernel, s.n, err)
	}
	return best, nil
}

func (s stream) run(ctx context.Context, h *held, passes int) (best time.Duration, err error) {
	module, err := h.module(s.ptx())
	if err != nil {
		return 0, err
	}
	kernel, err := module.Function(s.kernel)
	if err != nil {
		return 0, err
	}
	c, err := h.newClock()
	if err != nil {
		return 0, err
	}
	const most = 16 << 20
	stage, err := h.pinned(min(most, len(s.d)))
	if err != nil {
		return 0, err
	}
	var at [4]cuda.Ptr
	for i, operand := range [][]byte{s.d, s.a, s.b, s.c} {
		if at[i], err = h.memory(len(operand)); err != nil {
			return 0, err
		}
		if i == 0 {
			err = h.blank(at[i], len(operand), stage, c.stream)
		} else {
			err = h.upload(at[i], operand, stage, c.stream)
		}
		if err != nil {
			return 0, err
		}
	}

	const threads = 256 // of a block; each thread computes one element
	grid, block := [3]int{(s.n + threads - 1) / threads, 1, 1}, [3]int{threads, 1, 1}
	for pass := range passes + 1 {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		took, err := c.time(func() error {
			return h.device.Launch(kernel, grid, block, 0, c.stream, at[0], at[1], at[2], at[3], uint32(s.n))
		})
		if err != nil {
			return 0, err
		}
		if pass == 1 || pass > 1 && took < best {
			best = took
		}
	}
	return best, h.download(s.d, at[0], stage, c.stream)
}

// upload copies to the device, in parts of at most the size of the stage.
func (h *held) upload(to cuda.Ptr, from, stage []byte, s cuda.Stream) error {
	for len(from) > 0 {
		part := stage[:copy(stage, from)]
		if err := errors.Join(h.device.ToDevice(to, part, s), s.Sync()); err != nil {
			return err
		}
		to, from = to+cuda.Ptr(len(part)), from[len(part):]
	}
	return nil
}

// download copies from the device, in parts of at most the size of the stage.
func (h *held) download(to []byte, from cuda.Ptr, stage []byte, s cuda.Stream) error {
	for len(to) > 0 {
		part := stage[:min(len(stage), len(to))]
		blank(part)
		if err := errors.Join(h.device.ToHost(part, from, s), s.Sync()); err != nil {
			return err
		}
		to, from = to[copy(to, part):], from+cuda.Ptr(len(part))
	}
	return nil
}

// ptx returns the kernel as PTX text. Every arithmetic instruction specifies
// its rounding, which keeps the driver's compiler from fusing a multiplication
// with an addition (PTX ISA, mul and add in floating point).
func (s stream) ptx() string {
	load := "ld.global.f32 %x, [%a];\n\tld.global.f32 %y, [%b];"
	size, sum := "4", "fma.rn.f32 %z, %x, %y, %z;"
	switch s.kernel {
	case "mac":
		sum = "mul.rn.f32 %x, %x, %y;\n\tadd.rn.f32 %z, %x, %z;"
	case "mpfma":
		size = "2"
		load = "ld.global.b16 %h, [%a];\n\tcvt.f32.f16 %x, %h;\n\tld.global.b16 %h, [%b];\n\tcvt.f32.f16 %y, %h;"
	}
	return strings.NewReplacer("KERNEL", s.kernel, "SIZE", size, "LOAD", load, "SUM", sum).Replace(streamPTX)
}

// streamPTX is the text of a kernel in which thread i computes element i, if i
// < n.
const streamPTX = `.version 6.0
.target sm_70
.address_size 64

.visible .entry KERNEL(.param .u64 pd, .param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u32 pn)
{
	.reg .u32 %i, %n, %block, %thread;
	.reg .u64 %d, %a, %b, %c;
	.reg .b16 %h;
	.reg .f32 %x, %y, %z;
	.reg .pred %beyond;

	mov.u32 %i, %ctaid.x;
	mov.u32 %block, %ntid.x;
	mov.u32 %thread, %tid.x;
	mad.lo.u32 %i, %i, %block, %thread;
	ld.param.u32 %n, [pn];
	setp.ge.u32 %beyond, %i, %n;
	@%beyond ret;

	ld.param.u64 %d, [pd];
	cvta.to.global.u64 %d, %d;
	mad.wide.u32 %d, %i, 4, %d;
	ld.param.u64 %a, [pa];
	cvta.to.global.u64 %a, %a;
	mad.wide.u32 %a, %i, SIZE, %a;
	ld.param.u64 %b, [pb];
	cvta.to.global.u64 %b, %b;
	mad.wide.u32 %b, %i, SIZE, %b;
	ld.param.u64 %c, [pc];
	cvta.to.global.u64 %c, %c;
	mad.wide.u32 %c, %i, 4, %c;

	LOAD
	ld.global.f32 %z, [%c];
	SUM
	st.global.f32 [%d], %z;
	ret;
}
`
