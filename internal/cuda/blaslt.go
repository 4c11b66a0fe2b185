//go:build cgo && linux

package cuda

/*
#include "api.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"unsafe"
)

// descriptors describe a product to cuBLASLt.
type descriptors struct {
	desc   unsafe.Pointer
	layout [3]unsafe.Pointer // A, B and D, which is also C
}

// newDescriptors returns the descriptors of p. After an error all of them are
// freed.
func newDescriptors(p Product) (d descriptors, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, d.destroy())
		}
	}()
	code := C.call_cublasLtMatmulDescCreate(&d.desc, C.int(p.Compute), C.int(p.Compute.Scale()))
	if err := made(blasResult(code, "cublasLtMatmulDescCreate", "%v", p), d.desc, "cublasLtMatmulDescCreate"); err != nil {
		return d, err
	}
	const transA, transB, fastAccumulation = 3, 4, 25
	if err := d.set(transA, operation(p.TransA), p); err != nil {
		return d, err
	}
	if err := d.set(transB, operation(p.TransB), p); err != nil {
		return d, err
	}
	if p.Fast {
		fast := int8(1)
		code := C.call_cublasLtMatmulDescSetAttribute(d.desc, fastAccumulation, unsafe.Pointer(&fast), 1)
		if err := blasResult(code, "cublasLtMatmulDescSetAttribute", "FAST_ACCUM of %v", p); err != nil {
			return d, err
		}
	}
	for i, l := range p.layouts() {
		code := C.call_cublasLtMatrixLayoutCreate(&d.layout[i], C.int(l[0]), C.uint64_t(l[1]), C.uint64_t(l[2]), C.int64_t(l[3]))
		err := blasResult(code, "cublasLtMatrixLayoutCreate", "%d × %d, ld %d", l[1], l[2], l[3])
		if err := made(err, d.layout[i], "cublasLtMatrixLayoutCreate"); err != nil {
			return d, err
		}
		if !p.byRows()[i] {
			continue
		}
		const order = 1
		byRows := C.int32_t(1)
		code = C.call_cublasLtMatrixLayoutSetAttribute(d.layout[i], order, unsafe.Pointer(&byRows), 4)
		if err := blasResult(code, "cublasLtMatrixLayoutSetAttribute", "ORDER_ROW of %d × %d, ld %d", l[1], l[2], l[3]); err != nil {
			return d, err
		}
	}
	return d, nil
}

func (d descriptors) set(attribute, value C.int, p Product) error {
	code := C.call_cublasLtMatmulDescSetAttribute(d.desc, attribute, unsafe.Pointer(&value), 4)
	return blasResult(code, "cublasLtMatmulDescSetAttribute", "attribute %d of %v", attribute, p)
}

func (d descriptors) destroy() (err error) {
	for _, l := range d.layout {
		if l != nil {
			err = errors.Join(err, blasResult(C.call_cublasLtMatrixLayoutDestroy(l), "cublasLtMatrixLayoutDestroy", ""))
		}
	}
	if d.desc != nil {
		err = errors.Join(err, blasResult(C.call_cublasLtMatmulDescDestroy(d.desc), "cublasLtMatmulDescDestroy", ""))
	}
	return err
}

// Algorithms returns at most n algorithms for the product whose workspace is at
// most the given number of bytes, in the library's order: the one that it
// estimates to be fastest first. The list may be empty.
func (b *BLAS) Algorithms(p Product, workspace, n int) (list []Algorithm, err error) {
	d, err := newDescriptors(p)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.destroy()) }()

	var preference unsafe.Pointer
	code := C.call_cublasLtMatmulPreferenceCreate(&preference)
	err = blasResult(code, "cublasLtMatmulPreferenceCreate", "")
	if err := made(err, preference, "cublasLtMatmulPreferenceCreate"); err != nil {
		return nil, err
	}
	defer func() {
		code := C.call_cublasLtMatmulPreferenceDestroy(preference)
		err = errors.Join(err, blasResult(code, "cublasLtMatmulPreferenceDestroy", ""))
	}()
	const maxWorkspace = 1
	bytes := C.size_t(workspace)
	code = C.call_cublasLtMatmulPreferenceSetAttribute(preference, maxWorkspace, unsafe.Pointer(&bytes), C.size_t(unsafe.Sizeof(bytes)))
	if err := blasResult(code, "cublasLtMatmulPreferenceSetAttribute", "workspace of %d bytes", workspace); err != nil {
		return nil, err
	}

	results := make([]C.lt_result, n)
	var got C.int
	code = C.call_cublasLtMatmulAlgoGetHeuristic(b.lt, d.desc, d.layout[0], d.layout[1], d.layout[2], d.layout[2],
		preference, C.int(n), &results[0], &got)
	if err := blasResult(code, "cublasLtMatmulAlgoGetHeuristic", "%v", p); err != nil {
		return nil, err
	}
	if got < 0 || int(got) > n {
		return nil, fmt.Errorf("cublasLtMatmulAlgoGetHeuristic gave %d algorithms, asked for %d", got, n)
	}
	for i := range results[:got] {
		if results[i].state != 0 {
			continue
		}
		a, err := describe(&results[i])
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, nil
}

// Numbers of the attributes of an algorithm.
const (
	algoSplitK    = 2
	algoReduction = 3
)

// describe reads the attributes of an algorithm. Versions before 12 do not have
// the last two attributes, which stay 0 and are not counted in Fields.
func describe(r *C.lt_result) (Algorithm, error) {
	a := Algorithm{Workspace: int(r.workspace), Waves: float64(r.waves)}
	a.opaque = *(*[8]uint64)(unsafe.Pointer(&r.algo))
	for attribute, v := range []*int{&a.ID, &a.Tile, &a.SplitK, &a.Reduction, &a.Swizzle, &a.Custom, &a.Stages,
		&a.InnerShape, &a.ClusterShape} {
		var value C.uint32_t
		var size, written C.size_t = 4, 0
		const innerShape, invalidValue = 7, 7
		if attribute >= innerShape {
			size = 2
		}
		code := C.call_cublasLtMatmulAlgoConfigGetAttribute(&r.algo, C.int(attribute), unsafe.Pointer(&value), size, &written)
		if attribute >= innerShape && code == invalidValue {
			continue
		}
		if err := blasResult(code, "cublasLtMatmulAlgoConfigGetAttribute", "attribute %d", attribute); err != nil {
			return a, err
		}
		*v = int(value)
		a.Fields++
	}
	return a, nil
}

// Split returns the algorithm with K split into n parts, whose sums are added
// in the type of Compute. It returns an error if the library does not support
// this.
func (b *BLAS) Split(p Product, a Algorithm, n int) (_ Algorithm, err error) {
	const inComputeType = 2
	algo := *(*C.lt_algo)(unsafe.Pointer(&a.opaque))
	parts, reduction := C.uint32_t(n), C.uint32_t(0)
	if n > 1 {
		reduction = inComputeType
	}
	for attribute, v := range map[C.int]*C.uint32_t{algoSplitK: &parts, algoReduction: &reduction} {
		code := C.call_cublasLtMatmulAlgoConfigSetAttribute(&algo, attribute, unsafe.Pointer(v), 4)
		if err := blasResult(code, "cublasLtMatmulAlgoConfigSetAttribute", "split K %d of %v", n, p); err != nil {
			return a, err
		}
	}
	*(*C.lt_algo)(unsafe.Pointer(&a.opaque)) = algo
	return b.Check(p, a)
}

// Check returns the algorithm with the workspace that it needs for the product,
// or an error if it cannot compute the product.
func (b *BLAS) Check(p Product, a Algorithm) (_ Algorithm, err error) {
	d, err := newDescriptors(p)
	if err != nil {
		return a, err
	}
	defer func() { err = errors.Join(err, d.destroy()) }()
	var r C.lt_result
	algo := *(*C.lt_algo)(unsafe.Pointer(&a.opaque))
	code := C.call_cublasLtMatmulAlgoCheck(b.lt, d.desc, d.layout[0], d.layout[1], d.layout[2], d.layout[2], &algo, &r)
	if err := blasResult(code, "cublasLtMatmulAlgoCheck", "%v, split K %d", p, a.SplitK); err != nil {
		return a, err
	}
	r.algo = algo
	return describe(&r)
}

// Matmul enqueues the product in a stream: z = alpha op(x) op(y) + beta z,
// computed by the algorithm.
func (b *BLAS) Matmul(p Product, x, y, z Ptr, a Algorithm, workspace Ptr, size int, s Stream) (err error) {
	d, err := newDescriptors(p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.destroy()) }()
	algo := *(*C.lt_algo)(unsafe.Pointer(&a.opaque))
	alpha, beta := p.Alpha, p.Beta
	code := C.call_cublasLtMatmul(b.lt, d.desc, unsafe.Pointer(&alpha), pointer(x), d.layout[0], pointer(y), d.layout[1],
		unsafe.Pointer(&beta), pointer(z), d.layout[2], pointer(z), d.layout[2], &algo, pointer(workspace), C.size_t(size), s.p)
	return blasResult(code, "cublasLtMatmul", "%v", p)
}
