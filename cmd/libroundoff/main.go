//go:build cgo

package main

// #define ROUNDOFF_TYPES_ONLY
// #include <signal.h>
// #include <stdlib.h>
// #include <unistd.h>
// #include "roundoff.h"
//
// static int call(roundoff_box f, void *p, const roundoff_matrix *m[6]) {
// 	return f(p, m[0], m[1], m[2], m[3], m[4], m[5]);
// }
//
// static void leave(int s) { (void)s; _exit(2); }
//
// static inline void end_like_a_program(void) {
// 	signal(SIGABRT, leave);
// 	if (signal(SIGINT, SIG_DFL) == SIG_IGN) signal(SIGINT, SIG_IGN);
// }
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/roundofflab/roundoff/internal/abi"
	"github.com/roundofflab/roundoff/internal/examine/examiner"
)

func main() {
	fmt.Fprintln(os.Stderr, "libroundoff: a library, not a program: build it with -buildmode=c-shared")
	os.Exit(1)
}

// answer calls f, stores what it answers and returns its code.
func answer(to **C.char, f func() (string, error)) C.int {
	code, text := abi.Call(f)
	if to != nil {
		*to = C.CString(text)
	}
	return C.int(code)
}

// question returns the text of a question.
func question(q *C.char) string {
	if q == nil {
		return ""
	}
	return C.GoString(q)
}

// matrix returns a matrix of the caller, nil for NULL.
func matrix(m *C.roundoff_matrix) *abi.Matrix {
	if m == nil {
		return nil
	}
	z := &abi.Matrix{Data: m.data, Rows: int(m.rows), Columns: int(m.columns), RowStride: int(m.row_stride), ColumnStride: int(m.column_stride)}
	if m.format != nil {
		z.Format = C.GoString(m.format)
	}
	return z
}

// cancelled returns a function that reports whether the caller has set a flag.
func cancelled(flag *C.int32_t) func() bool {
	return func() bool { return flag != nil && atomic.LoadInt32((*int32)(unsafe.Pointer(flag))) != 0 }
}

// box returns the function of the caller, nil for NULL. What it is given is
// Go's memory, pinned while it runs.
func box(f C.roundoff_box, context unsafe.Pointer) abi.Box {
	if f == nil {
		return nil
	}
	return func(x, y, scaleX, scaleY, c, d *abi.Matrix) error {
		var given [6]*C.roundoff_matrix
		var pins runtime.Pinner
		defer pins.Unpin()
		for i, m := range []*abi.Matrix{x, y, scaleX, scaleY, c, d} {
			if m == nil {
				continue
			}
			format := C.CString(m.Format)
			defer C.free(unsafe.Pointer(format))
			given[i] = &C.roundoff_matrix{format: format, data: m.Data, rows: C.int64_t(m.Rows), columns: C.int64_t(m.Columns),
				row_stride: C.int64_t(m.RowStride), column_stride: C.int64_t(m.ColumnStride)}
			pins.Pin(given[i])
			pins.Pin(m.Data)
		}
		if code := C.call(f, context, &given[0]); code != 0 {
			return fmt.Errorf("box returned %d", code)
		}
		return nil
	}
}

//export roundoff_free
func roundoff_free(text *C.char) { C.free(unsafe.Pointer(text)) }

//export roundoff_version
func roundoff_version(to **C.char) C.int { return answer(to, abi.About) }

//export roundoff_devices
func roundoff_devices(to **C.char) C.int { return answer(to, abi.Devices) }

//export roundoff_formats
func roundoff_formats(to **C.char) C.int { return answer(to, abi.Formats) }

//export roundoff_threads
func roundoff_threads(q *C.char, to **C.char) C.int {
	return answer(to, func() (string, error) { return abi.Threads(question(q)) })
}

//export roundoff_gemm
func roundoff_gemm(q *C.char, a, b, c, d *C.roundoff_matrix, cancel *C.int32_t, to **C.char) C.int {
	return answer(to, func() (string, error) {
		return abi.GEMM(question(q), matrix(a), matrix(b), matrix(c), matrix(d), cancelled(cancel))
	})
}

//export roundoff_dot
func roundoff_dot(q *C.char, x, y, scaleX, scaleY, c, d *C.roundoff_matrix, cancel *C.int32_t, to **C.char) C.int {
	return answer(to, func() (string, error) {
		return abi.Dot(question(q), matrix(x), matrix(y), matrix(scaleX), matrix(scaleY), matrix(c), matrix(d), cancelled(cancel))
	})
}

//export roundoff_trace
func roundoff_trace(q *C.char, a, b *C.roundoff_matrix, to **C.char) C.int {
	return answer(to, func() (string, error) { return abi.Trace(question(q), matrix(a), matrix(b)) })
}

//export roundoff_round
func roundoff_round(q *C.char, x, d *C.roundoff_matrix, to **C.char) C.int {
	return answer(to, func() (string, error) { return abi.Round(question(q), matrix(x), matrix(d)) })
}

//export roundoff_quantise
func roundoff_quantise(q *C.char, x, codes, scales, values *C.roundoff_matrix, to **C.char) C.int {
	return answer(to, func() (string, error) {
		return abi.Quantise(question(q), matrix(x), matrix(codes), matrix(scales), matrix(values))
	})
}

//export roundoff_exact
func roundoff_exact(q *C.char, a, b, d, sizes *C.roundoff_matrix, cancel *C.int32_t, to **C.char) C.int {
	return answer(to, func() (string, error) {
		return abi.Exact(question(q), matrix(a), matrix(b), matrix(d), matrix(sizes), cancelled(cancel))
	})
}

//export roundoff_bound
func roundoff_bound(q *C.char, a, b *C.roundoff_matrix, to **C.char) C.int {
	return answer(to, func() (string, error) { return abi.Bound(question(q), matrix(a), matrix(b)) })
}

//export roundoff_advise
func roundoff_advise(q *C.char, a, b *C.roundoff_matrix, to **C.char) C.int {
	return answer(to, func() (string, error) { return abi.Advise(question(q), matrix(a), matrix(b)) })
}

//export roundoff_predict
func roundoff_predict(q *C.char, a, b *C.roundoff_matrix, to **C.char) C.int {
	return answer(to, func() (string, error) { return abi.Predict(question(q), matrix(a), matrix(b)) })
}

//export roundoff_tolerance
func roundoff_tolerance(q *C.char, a, b, scaleA, scaleB, got, want, limits *C.roundoff_matrix, to **C.char) C.int {
	return answer(to, func() (string, error) {
		return abi.Tolerance(question(q), matrix(a), matrix(b), matrix(scaleA), matrix(scaleB), matrix(got), matrix(want), matrix(limits))
	})
}

//export roundoff_audit
func roundoff_audit(q *C.char, a, b *C.roundoff_matrix, cancel *C.int32_t, to **C.char) C.int {
	return answer(to, func() (string, error) { return abi.Audit(question(q), matrix(a), matrix(b), cancelled(cancel)) })
}

//export roundoff_sweep
func roundoff_sweep(q *C.char, cancel *C.int32_t, to **C.char) C.int {
	return answer(to, func() (string, error) { return abi.Sweep(question(q), cancelled(cancel)) })
}

//export roundoff_join
func roundoff_join(q *C.char, to **C.char) C.int {
	return answer(to, func() (string, error) { return abi.Join(question(q)) })
}

//export roundoff_infer
func roundoff_infer(q *C.char, f C.roundoff_box, context unsafe.Pointer, cancel *C.int32_t, to **C.char) C.int {
	return answer(to, func() (string, error) { return abi.Infer(question(q), box(f, context), cancelled(cancel)) })
}

// roundoff_examine has the process end as a program of Go does. A library would
// abort after a panic, in whatever goroutine, and leave a core, and a caller
// such as Python would keep SIGINT to itself.
//
//export roundoff_examine
func roundoff_examine(cell *C.char) {
	C.end_like_a_program()
	if cell := question(cell); cell != "" {
		os.Exit(examiner.Check(cell))
	}
	os.Exit(examiner.Tools())
}
